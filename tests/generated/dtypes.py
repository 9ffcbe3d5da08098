"""Whole numbers that are changed in place, and types that NumPy has or has not. In: a Writer. Out: lines."""

from __future__ import annotations

from . import expressions as e
from .writer import Writer

# What NumPy refuses raises in Python.
_KINDS = [
    "bfloat16()",
    "detach().bfloat16()",
    "detach().half()",
    "detach().double()",
    "detach().long()",
    "detach().cfloat().conj()",
    "detach().gt(0)",
    "clone()",
    "t()",
]


def dtypes(w: Writer) -> None:
    w.pick([(2, _changed), (1, _numpy)])


def _changed(w: Writer) -> None:
    w.use("wanted.dtype_changed")
    counts = w.names("counts")
    name = w.choose(counts) if counts else w.fresh("whole")
    if not counts:
        w.line(f"{name} = {e.full_name(w)}.detach().nan_to_num().clamp(-4, 4).long()")
    for _ in range(w.random.randint(1, 2)):
        w.line(f"{name} {w.choose(['<<= 1', '>>= 1', '|= 1', '&= 6', '^= 1', '//= 2', '%= 3', '*= 2'])}")
    w.line(f"{name}.clamp_(-4, 4)")
    shown = w.choose([f"{name}.sum().item()", f"{name}.max()", f"{name}.tolist()", f"int({name}[0].sum()) > 2"])
    w.line(w.choose([f'print("whole", {shown})', f'STATE["seen"].append({shown})']))


def _numpy(w: Writer) -> None:
    w.use("wanted.dtype_numpy")
    array = f"{e.full_name(w)}.{w.choose(_KINDS)}.numpy()"
    taken = w.choose([f"{array}.max().item()", f"float({array}.real.max())", f"{array}.tolist()[0]", f"{array}.shape"])
    if w.chance(0.7):
        with w.block("try:"):
            w.line(f'print("array", {taken})')
        with w.block("except (TypeError, RuntimeError) as error:"):
            w.line('print("no array", type(error).__name__)')
    else:
        w.line(f'STATE["seen"].append({taken})')
