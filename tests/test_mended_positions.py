"""Mended code stands where the user's does, also where CPython makes one thing of two."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from oracle import pythons

import graphmend

# By CPython 3.13: what came before it has an assert raise elsewhere.
PROGRAM = """
from graphmend._mending.mended_file import compile_module, compile_text, mend_text

class NotTracing:
    asks = staticmethod(lambda site: False)

def raised_at(module):
    space = {"__graphmend__": NotTracing}
    exec(module, space)
    try:
        space["f"](1.0)
    except AssertionError as error:
        innermost = error.__traceback__.tb_next
    return list(innermost.tb_frame.f_code.co_positions())[innermost.tb_lasti // 2]

for test in ["not x in (2, 1.0)", "not x is not None", "not 1.0 not in ()", "not x < 2", "x in ()"]:
    source = f"def f(x):\\n    assert {test}\\n".encode()
    mended = mend_text(source, "f.py", [2], [], [])
    assert mended.mends, test
    expected = raised_at(compile_text(source, "f.py", 0))
    seen = raised_at(compile_module(source, mended, "f.py", 0))
    assert seen == expected, (test, seen, expected)
"""


def test_an_assert_raises_where_its_test_stands(oracle: pythons.Python, library: str) -> None:
    package = str(Path(graphmend.__file__).parent.parent)
    environment = {**os.environ, "GRAPHMEND_LIBRARY": library, "PYTHONPATH": package}
    done = subprocess.run(
        [oracle.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
