"""Ask src/source. In: requests. Out: the answers of source_probe.cpp, compiled where it is not given."""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, Iterable

from oracle.places import REPOSITORY


def build_probe(folder: Path) -> Path:
    """Compile the probe into the folder, with $CXX or c++."""
    sources = sorted((REPOSITORY / "src" / "source").glob("*.cpp"))
    units = [str(path) for path in sources if not path.name.endswith("_test.cpp")]
    units.append(str(Path(__file__).with_suffix(".cpp")))
    target = folder / "source_probe"
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", f"-I{REPOSITORY / 'src'}", *units, "-o", str(target)]
    subprocess.run(command, check=True)
    return target


def _write_all(pipe: IO[bytes], requests: Iterable[bytes]) -> None:
    with pipe:
        for request in requests:
            pipe.write(struct.pack("<I", len(request)) + request)


def ask(probe: Path, requests: list[bytes]) -> list[bytes]:
    """The answer to each request."""
    process = subprocess.Popen([str(probe)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    # Both pipes fill up when one side only writes.
    writer = threading.Thread(target=_write_all, args=(process.stdin, requests))
    writer.start()
    answers = []
    for _ in requests:
        (length,) = struct.unpack("<I", process.stdout.read(4))
        answers.append(process.stdout.read(length))
    writer.join()
    process.stdout.close()
    if process.wait() != 0:
        raise RuntimeError(f"{probe} ended with {process.returncode}")
    return answers


def probe_from(given: str | None) -> Path:
    """The probe given, or a new one in a temporary folder."""
    return Path(given) if given else build_probe(Path(tempfile.mkdtemp(prefix="graphmend-probe-")))
