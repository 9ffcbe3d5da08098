"""What Python computes of numbers read from tensors: as symbols, to the last digit, and raising where Python raises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_calls import same_program  # noqa: E402

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

BACKENDS = ["eager", "aot_eager", "inductor"]
# When a graph of aot_eager raises, torch prints that by itself, and the program goes on in eager.
THAT_ARE_QUIET = ["eager", "inductor"]
ORDINARY = (0.5, 3.7, 0.1, 0.25)
ODD = (0.5, 0.0, -0.0, -4.0, math.nan, math.inf, -math.inf, 1e300, 1e-320)


def calls(*values: float) -> list[Any]:
    return [(torch.arange(1.0, 4.0), torch.tensor(each, dtype=torch.float64)) for each in values]


def sums_that_combine(x: Any, t: Any) -> Any:
    k = t.item()
    return x * (k * k + 1 / k), (k + 1) - k, k - 3 * k, k * 3 - x[0].item(), k * k > k


def functions_of_math(x: Any, t: Any) -> Any:
    k = t.item()
    return x, math.log(k), math.exp(-k), math.sin(k), math.atan2(k, 2), math.hypot(k, 1.5), math.isnan(k), math.log2(k)


def powers(x: Any, t: Any) -> Any:
    k = t.item()
    return x * k**2, k**-1, 2**k, pow(k, 3), k**0.5


def quotients(x: Any, t: Any) -> Any:
    k = t.item()
    return x * 2, k // 0.3, k % 0.3, 7 // k, round(k, 1), k.is_integer()


def ordinary_uses(x: Any, t: Any) -> Any:
    """Each has Python's double, not the tensors' float."""
    k = t.item()
    filled = torch.full((2,), k, dtype=torch.float64)
    return k * 2, filled, x.double().masked_fill(x > 1, k), torch.where(x > 1, k, 2.0).double() + filled[0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", [sums_that_combine, functions_of_math, powers, quotients, ordinary_uses])
def test_ordinary_numbers_need_no_prediction(program: Callable[..., Any], backend: str) -> None:
    compiled = same_program(program, calls(*ORDINARY), __file__, backend=backend, fullgraph=True)
    assert (compiled.report.graphs, compiled.report.misses) == (1, 0)
    assert {entry.mend for entry in compiled.report.mended} == {"capture"}


def divided(x: Any, t: Any) -> Any:
    return x * 2, 1 / t.item()


def divided_in_vain(x: Any, t: Any) -> Any:
    1 / t.item()
    return x * 2


def whole(x: Any, t: Any) -> Any:
    return x * 2, int(t.item())


def whole_in_vain(x: Any, t: Any) -> Any:
    int(t)
    return x * 2


def rounded(x: Any, t: Any) -> Any:
    k = t.item()
    return x * 2, math.floor(k), math.ceil(k), round(k)


def squared(x: Any, t: Any) -> Any:
    return x * 2, t.item() ** 2


def root(x: Any, t: Any) -> Any:
    return x * 2, math.sqrt(t.item())


def logarithm_or_zero(x: Any, t: Any) -> Any:
    try:
        return x * 2, math.log(t.item())
    except ValueError as error:
        return x * 3, str(error)


@pytest.mark.parametrize("backend", THAT_ARE_QUIET)
@pytest.mark.parametrize(
    "program", [divided, divided_in_vain, whole, whole_in_vain, rounded, squared, root, logarithm_or_zero]
)
def test_odd_numbers_raise_as_in_python(program: Callable[..., Any], backend: str) -> None:
    compiled = same_program(program, calls(*ODD), __file__, backend=backend)
    assert compiled.report.graphs == 1


@pytest.mark.parametrize("program", [sums_that_combine, functions_of_math, powers, quotients])
def test_odd_numbers(program: Callable[..., Any]) -> None:
    same_program(program, calls(*ODD), __file__)


def of_whole_numbers(x: Any, t: Any) -> Any:
    n = int(t)
    return x * 2, n / 3, 7 // n, 7 % n, math.sqrt(n), n**2, n + 0.5


@pytest.mark.parametrize("backend", THAT_ARE_QUIET)
def test_functions_of_whole_numbers(backend: str) -> None:
    numbers = [torch.tensor(n) for n in (1, 2, -7, 0, 2**53 + 1, 5)]
    same_program(of_whole_numbers, [(torch.ones(3), n) for n in numbers], __file__, backend=backend)


def of_whole_parts(x: Any, t: Any) -> Any:
    n = int(t.item())
    total = 0
    for _ in range(2):
        total += n
    return x * 2, round(n, 1), n**2, n // 2, n % 2, n / 2, total, n - total  # noqa: RUF057


@pytest.mark.parametrize("backend", THAT_ARE_QUIET)
def test_functions_of_whole_parts(backend: str) -> None:
    same_program(of_whole_parts, calls(3.7, 2.2, 5.0, -1.5, 0.1), __file__, backend=backend)


def rounded_to_a_fraction(x: Any, t: Any) -> Any:
    try:
        return x, round(int(t.item()), 2.0)  # type: ignore[call-overload]
    except TypeError as error:
        return x, str(error)


def test_what_python_does_not_round() -> None:
    same_program(rounded_to_a_fraction, calls(3.7, 2.2, 5.0), __file__)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_inductor_computes_with_doubles(dtype: Any) -> None:
    def used(x: Any, t: Any) -> Any:
        k = t.item()
        return x * k, x + k, torch.where(x > 1, x * k, k), x.clamp(max=k), x / k, x.masked_fill(x > 1, k)

    given = [(torch.arange(1.0, 9.0).to(dtype), torch.tensor(k, dtype=torch.float64)) for k in (0.1, 0.7, 3.0)]
    same_program(used, given, __file__, backend="inductor")
