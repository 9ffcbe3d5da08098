#!/usr/bin/env python3
"""Looks into wheels before they leave. In: wheel files. Out: one line per wheel, or what is wrong with it.

A wheel must hold the package, the library and the command; both must be for the architecture of its tag, need no
newer glibc than its tag says, and bring their C++ run time with them.
"""

from __future__ import annotations

import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

# e_machine of the ELF header.
MACHINES = {62: "x86_64", 183: "aarch64"}
TAG = re.compile(r"-py3-none-(?:many)?linux_(?:(?P<major>\d+)_(?P<minor>\d+)_)?(?P<arch>\w+)\.whl$")
MUST_HOLD = ("graphmend/__init__.py", "graphmend/py.typed", "graphmend/libgraphmend.so", "/scripts/graphmend")


def problems(wheel: Path) -> Iterator[str]:
    tag = TAG.search(wheel.name)
    if not tag:
        yield "the tag is not py3-none-<linux platform>"
        return
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for wanted in MUST_HOLD:
            if not any(name == wanted or name.endswith(wanted) for name in names):
                yield f"{wanted} is missing"
        for name in names:
            data = archive.read(name)
            if data.startswith(b"\x7fELF"):
                limit = (int(tag["major"]), int(tag["minor"])) if tag["major"] else None
                yield from (f"{name}: {problem}" for problem in binary_problems(data, tag["arch"], limit))


def binary_problems(data: bytes, arch: str, limit: tuple[int, int] | None) -> Iterator[str]:
    machine = MACHINES.get(struct.unpack_from("<H", data, 18)[0], "another machine")
    if machine != arch:
        yield f"is for {machine}"
    # Names of the versions needed stand in the string table as they are.
    versions = {(int(major), int(minor)) for major, minor in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", data)}
    if limit and versions and max(versions) > limit:
        yield "needs glibc {}.{}".format(*max(versions))
    for library in re.findall(rb"\0(lib(?:stdc\+\+|gcc_s|c\+\+)\.so[.0-9]*)\0", data):
        yield f"needs {library.decode()}, which the user's machine may not have"


def main() -> int:
    status = 0
    for argument in sys.argv[1:]:
        found = list(problems(Path(argument)))
        print(f"{argument}: {'; '.join(found) if found else 'good'}")
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
