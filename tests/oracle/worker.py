"""One process that asks both CPython and graphmend. In: chunks of calls on stdin. Out: one answer per call on stdout.

Runs inside any CPython from 3.8 on. A crash or a hang kills this process only: see pool.py.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

# The folder of the package must be on the path first.
from oracle import tasks  # noqa: E402
from oracle.wire import END, read_message, write_message  # noqa: E402

_MEMORY_LIMIT = 8 << 30


def main() -> None:
    """Answers until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever prints by accident must not damage the answers.
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Trees have no cycles; collecting while they are built costs a third of the time.
    gc.disable()
    if len(sys.argv) > 1:
        tasks.load_native(sys.argv[1])
    while True:
        chunk = read_message(sys.stdin.buffer)
        if chunk is END:
            return
        name, calls = chunk
        module, function = name.split(".")
        task = getattr(importlib.import_module("oracle." + module), function)
        for arguments in calls:
            try:
                answer: object = task(*arguments)
            except Exception as error:
                answer = RuntimeError(f"{name}: {type(error).__name__}: {error}")
            write_message(answers, answer)
        gc.collect()


if __name__ == "__main__":
    main()
