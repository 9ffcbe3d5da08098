"""Context managers around what is mended: of torch, of Python, of the program's own. In: a Writer. Out: lines."""

from __future__ import annotations

from . import effects, guards, trying
from . import expressions as e
from . import statements as s
from .writer import Choice, Writer

HEADER = """

class Step:
    def __enter__(self):
        print("step begins")
        return self

    def __exit__(self, kind, error, trace):
        STATE["seen"].append(kind and kind.__name__)
        return kind is GivenError


@contextlib.contextmanager
def stepping():
    STATE["calls"] += 1
    try:
        yield 2.0
    finally:
        print("stepped", STATE["calls"])
"""

_CONTEXTS = {
    "no_grad": "torch.no_grad()",
    "enable_grad": "torch.enable_grad()",
    "device": 'torch.device("cpu")',
    "autocast": 'torch.autocast("cpu", dtype=torch.bfloat16)',
    "redirected": "contextlib.redirect_stdout(sys.stderr)",
    "step": "Step()",
    "stepping": "stepping()",
    "none": "contextlib.nullcontext()",
}


def _rest(w: Writer) -> None:
    choices: list[Choice] = [(3, effects.effect), (2, s.simple), (2, s.branch), (2, guards.guard)]
    choices += [(1, trying.fallible_call), (0.7, context), (0.5, guards.assertion)]
    for _ in range(w.random.choice([1, 2, 2])):
        w.pick(choices)


def context(w: Writer) -> None:
    """One around branches, guards and what talks; sometimes in a branch on a tensor itself."""
    bound: list[dict[str, str]] = []
    if w.chance(0.2):
        w.use("with.branch")
        with w.block(f"if {e.test(w)}:"), w.branch(bound):
            context(w)
        return
    if w.chance(0.1):
        w.use("with.default_dtype")
        name = w.fresh("d")
        w.line(f"{name} = torch.get_default_dtype()\ntorch.set_default_dtype(torch.float64)")
        with w.block("try:"), w.branch(bound):
            w.line(f"{e.full_name(w)} = {e.random_full(w)} + torch.ones(1)")
            _rest(w)
        with w.block("finally:"):
            w.line(f"torch.set_default_dtype({name})")
        return
    form = w.choose(sorted(_CONTEXTS))
    w.use(f"with.{form}")
    with w.block(f"with {_CONTEXTS[form]}:"), w.branch(bound):
        _rest(w)
