"""Which files are mended: all, or, when the setting `packages` names some, those and the user's own."""

import functools
import os
import sysconfig
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from graphmend import _config

OUTSIDE = "outside of the packages to mend"

_INSTALLED = ("site-packages", "dist-packages")


def is_mended(file: str, space: Mapping[str, Any]) -> bool:
    """Whether code of this file may be mended; `space` are its globals."""
    packages = _config.current().packages
    if not packages or is_users(file):
        return True
    name = space.get("__name__")
    return isinstance(name, str) and any(name == package or name.startswith(f"{package}.") for package in packages)


@functools.cache
def is_users(file: str) -> bool:
    """Whether a file is neither installed nor part of Python. What has no file (a notebook's cell) is the user's."""
    return not (_is_installed(file) or file.startswith("<frozen") or is_standard(file))


@functools.cache
def is_standard(file: str) -> bool:
    """Whether a file is part of Python itself."""
    own = os.path.realpath(file)
    return not _is_installed(file) and any(own.startswith(folder + os.sep) for folder in _standard_library())


def _is_installed(file: str) -> bool:
    return any(part in _INSTALLED for part in PurePath(file).parts)


@functools.cache
def _standard_library() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({os.path.realpath(paths[name]) for name in ("stdlib", "platstdlib")})
