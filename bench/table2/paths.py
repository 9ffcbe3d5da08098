"""Paths as they are shown: from the package's folder on, so that they are the same on every machine."""

from pathlib import Path


def short(path: str) -> str:
    parts = Path(path).parts
    return str(Path(*parts[parts.index("site-packages") + 1 :])) if "site-packages" in parts else Path(path).name
