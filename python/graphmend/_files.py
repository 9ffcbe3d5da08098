"""Files that are written whole or not at all."""

import secrets
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Puts the text in the place of what the file has; on any trouble that stays."""
    # A name of its own for each writer: two processes may write at once.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
