"""Messages between the harnesses and their workers. In and out: plain values, over a pipe, in CPython 3.8 and later."""

from __future__ import annotations

import pickle
import struct
from typing import Any, BinaryIO

# What read_message gives at the end of the stream; None is a legal message.
END = object()


def _read_all(stream: BinaryIO, size: int) -> bytes:
    # An unbuffered pipe gives what it has; a message needs all its bytes.
    parts = []
    while size > 0:
        part = stream.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_message(stream: BinaryIO) -> Any:
    """The next message, or END."""
    header = _read_all(stream, 4)
    if len(header) < 4:
        return END
    size = struct.unpack("<I", header)[0]
    data = _read_all(stream, size)
    return pickle.loads(data) if len(data) == size else END


def write_message(stream: BinaryIO, message: Any) -> None:
    """Writes one message and flushes it."""
    data = memoryview(struct.pack("<I", len(pickled := pickle.dumps(message, protocol=4))) + pickled)
    while data:
        data = data[stream.write(data) or 0 :]
    stream.flush()
