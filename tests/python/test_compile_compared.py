"""What Python makes of comparisons, of memberships and of arrays: values that it needs of tensors."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import same_program

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

CALLS = [(torch.tensor(row),) for row in ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 0.0], [-0.0, 0.0, 9.0])]
CALLS += [(torch.tensor([float("nan"), 2.0, 1.0]),), *CALLS]


def chained(x: Any) -> Any:
    return x + 1, 0 < x[0] < 2


def chained_on(x: Any) -> Any:
    ok = 0 < x[0] < x[1] <= 5 != x[2]
    return x + 1, ok


def chained_with_calls(x: Any) -> Any:
    met = []

    def met_at(place: int) -> Any:
        met.append(place)
        return x[place]

    ok = 1 < met_at(0) < met_at(1) < met_at(2)
    return x * 2, ok, met


def kept(x: Any) -> Any:
    return x * (2 if 2.0 in x else 3), 1 in x, x[0] not in x[1:], True in x


def refused(x: Any) -> Any:
    if 9 in x:
        raise ValueError("there is a nine")
    if x[0] in x[1:] and 2.5 not in x:
        return x - 1
    return x + 1


def among_others(x: Any) -> Any:
    names = {"a": 1, "b": 2}
    picked = "a" in names and 3 not in x
    return x + (1 if picked else 2), "c" in names, 1.0 in x.tolist()


def agreeing(x: Any) -> Any:
    same, close = x.equal(x.flip(0)), x.allclose(x.flip(0), atol=2.5)
    return x + (1 if same else 2), same, close, x.allclose(x, equal_nan=True)


def made_complex(x: Any) -> Any:
    z = complex(x[1])
    return x * z.real, z, complex(x[2]).imag


def of_arrays(x: Any) -> Any:
    a = x.numpy()
    return x * a[1].item(), a.tolist(), float(a[2]), bool(a[2] > 1), int(a[1])


PROGRAMS = [chained, chained_on, kept, refused, among_others, agreeing, made_complex, of_arrays]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_the_value_is_known(program: Any, backend: str) -> None:
    compiled = same_program(program, CALLS, __file__, frames=False, backend=backend, fullgraph=True)
    assert compiled.report.whole


def test_each_operand_is_evaluated_as_often_as_python_does() -> None:
    compiled = same_program(chained_with_calls, CALLS, __file__, frames=False)
    assert compiled.report.whole


class Set:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.asked = 0

    def __contains__(self, item: object) -> bool:
        self.asked += 1
        return self.asked % 2 == 0

    def equal(self, other: Any) -> Any:
        return self.x + other


def of_the_program(x: Any) -> Any:
    own = Set(x)
    made = own.equal(1)
    first = 2.0 in own
    return made * x[0].item(), first, 2.0 in own, own.asked, bool(2.0 in x)


def test_what_the_program_has_written_is_its_own() -> None:
    same_program(of_the_program, CALLS, __file__, frames=False)
