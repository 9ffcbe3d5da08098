"""Tests of branches mean what Python means by them, and what their sides give is joined to what the program has."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import reasons, same_program

from graphmend._mending.backend import MendedBackend
from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def exceeds(x: Any, y: Any) -> Any:
    if x.item() > y:
        raise ValueError("larger")
    if y == float(x):
        raise KeyError("the same")
    return x + 1


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.float16, torch.int64])
@pytest.mark.parametrize("other", [torch.float64, torch.float32, torch.float16, torch.int64])
def test_a_number_is_compared_in_the_precision_of_the_tensor(kind: Any, other: Any) -> None:
    pairs = [(0.1, 0.1), (0.30000000001, 0.3), (2.0, 2.0), (16777217.0, 16777216.0), (-1.0, 5.0)]
    calls = [
        (torch.tensor(one, dtype=torch.float64).to(kind), torch.tensor(two, dtype=torch.float64).to(other))
        for one, two in pairs
    ]
    same_program(exceeds, calls, __file__, speculate=False, fullgraph=True)


def joined_again(x: Any) -> Any:
    for _ in range(3):
        if x.max() > 4.0:
            x = x + x
    return x


def test_what_was_joined_twice_may_be_what_came_in() -> None:
    compiled = mended_compile(joined_again, backend="eager", speculate=False)
    for value in (1.0, 5.0, 1.0):
        x = torch.full((2,), value)
        assert (compiled(x) is x) == (value < 4.0)


@pytest.mark.parametrize("drop", [torch.nn.Dropout(0.5).eval(), torch.nn.Dropout(0.0), torch.nn.Dropout2d().eval()])
def test_what_was_joined_and_passed_on_may_be_what_came_in(drop: Any) -> None:
    def passed_on(x: Any) -> Any:
        y = x if x.max() > 4.0 else x.clamp(min=-1.0)
        return drop(y)

    compiled = mended_compile(passed_on, backend="eager")
    for value in (1.0, 5.0, 1.0, 5.0):
        x = torch.full((2, 2, 2), value)
        assert (compiled(x) is x) == (value > 4.0)


class Keeps(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.last = torch.zeros(2)

    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            x = x + x
            self.last = x
        else:
            x = x * 0.25
            self.last = x
        return x.view(-1)


class KeepsOnOneSide(Keeps):
    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            x = x + x
            self.last = x + 1
        else:
            x = x * 0.25
            self.last = x
        return x.view(-1)


@pytest.mark.parametrize("model", [Keeps(), KeepsOnOneSide()])
def test_names_for_one_tensor_are_joined_to_one(model: Keeps) -> None:
    compiled = mended_compile(model, backend="eager", speculate=False)
    for value in (1.0, -1.0, 1.0):
        result = compiled(torch.full((2,), value))
        assert (result.data_ptr() == model.last.data_ptr()) == (value < 0 or type(model) is Keeps)
    assert reasons(compiled) == (set() if type(model) is Keeps else {"two results may be one tensor"})


def is_good(x: Any) -> Any:
    if torch.isnan(x).any().item() is not False:
        raise ValueError("not good")
    return x + 1


def too_many(x: Any) -> Any:
    if (x > 0).sum().item() > 0.29 * x.numel():
        raise ValueError("too many")
    return x + 1


def below(x: Any) -> Any:
    if not x.to(torch.uint8).max().item() > -1:
        raise ValueError("below")
    return x + 1


def names_two(x: Any) -> Any:
    if x.sum() > 3:  # noqa: SIM108
        pair = (x + 1, x * 2)
    else:
        pair = (x - 1, x * 3)
    return pair[0] + pair[1]


@pytest.mark.parametrize("program", [is_good, too_many, below, names_two])
@pytest.mark.parametrize("speculate", [True, False])
def test_tests_mean_what_python_means(program: Callable[..., Any], speculate: bool) -> None:
    values = torch.zeros(100)
    calls = []
    for count in (1, 29, 30, 0):
        x = values.clone()
        x[:count] = 1.0
        calls.append((x,))
    calls.append((torch.full((100,), float("nan")),))
    same_program(program, calls, __file__, frames=False, speculate=speculate)


class Box:
    def item(self, at: int) -> int:
        return at * 2

    def equal(self, other: Any, strict: bool = False) -> bool:
        return strict


def asks_a_box(x: Any) -> Any:
    box = Box()
    if box.item(1) > 3 or not box.equal(3, strict=True) or x.sum() > 100:
        raise ValueError("box")
    return x + 1


def test_methods_of_the_same_names_are_called_as_they_are() -> None:
    same_program(asks_a_box, [(torch.ones(2),), (torch.full((2,), 90.0),)], __file__, frames=False)


def called(x: Any, on: bool) -> Any:
    if torch.isinf(x).any():
        x = torch.clamp(x, max=100.0)
    return x + 1


def called_among_others(x: Any, on: bool) -> Any:
    if on and (torch.isinf(x).any() or torch.isnan(x).any()):
        x = torch.clamp(x, max=100.0)
    return x + 1


def chosen(x: Any, on: bool) -> Any:
    return (x * 2 if on and not torch.isinf(x).any() else x + 1) - 1


@pytest.mark.parametrize("program", [called, called_among_others, chosen])
def test_what_can_be_selected_is_not_predicted(program: Callable[..., Any]) -> None:
    calls = [(torch.tensor([1.0, value]), True) for value in (2.0, float("inf"), float("nan"), 2.0, float("inf"))]
    compiled = same_program(program, calls, __file__)
    (entry,) = compiled.report.mended
    assert entry.mend == "select" and compiled.report.misses == 0 and compiled.report.graphs == 1


def shows_its_history(x: Any) -> Any:
    y = x * 2
    if y.max() > 1.0:
        y = torch.relu(y)
    print(y)
    return y + 1


def shows_what_gives_it_back(x: Any) -> Any:
    y = x * 2
    if y.max() > 1.0:
        y = torch.relu(y)
    print(y.float(), torch.nn.functional.dropout(y, 0.5, False))
    return y + 1


@pytest.mark.parametrize("program", [shows_its_history, shows_what_gives_it_back])
def test_what_is_printed_says_by_what_it_was_made(program: Callable[..., Any]) -> None:
    calls = [(torch.full((2,), value, requires_grad=True),) for value in (0.2, 2.0, 0.2, 2.0)]
    same_program(program, calls, __file__, fullgraph=True)


def shows_what_came_in(x: Any) -> Any:
    print(x.float(), x.contiguous(), torch.nn.functional.dropout(x, 0.5, False))
    return x + 1


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_gives_back_an_input_is_shown_as_that(backend: str) -> None:
    expected, printed = io.StringIO(), io.StringIO()
    compiled = mended_compile(shows_what_came_in, backend=backend, fullgraph=True)
    x = torch.ones(2, requires_grad=True) * 2
    with redirect_stdout(expected):
        shows_what_came_in(x)
    with redirect_stdout(printed):
        compiled(x)
    assert printed.getvalue() == expected.getvalue() and "MulBackward0" in printed.getvalue()


def changed_by_place(z: Any) -> Any:
    torch.nn.functional.hardtanh(z, 0.0, 0.4, True)


def changed_in_a_list(z: Any) -> Any:
    torch._foreach_mul_([z], 3.0)


def changed_by_its_operator(z: Any) -> Any:
    z.__imul__(3.0)


LIBRARY = torch.library.Library("graphmend_test_branches", "DEF")
LIBRARY.define("scale(Tensor(a!) x, float factor) -> ()")


@torch.library.impl(LIBRARY, "scale", "CompositeExplicitAutograd")  # type: ignore[untyped-decorator,unused-ignore]
def scale(x: Any, factor: float) -> None:
    x.mul_(factor)


torch.library.register_fake("graphmend_test_branches::scale", lambda x, factor: None, lib=LIBRARY)


def changed_by_an_operator_of_the_users(z: Any) -> Any:
    torch.ops.graphmend_test_branches.scale(z, 3.0)


def changed_by_name(z: Any) -> Any:
    torch.ops.graphmend_test_branches.scale.default(x=z, factor=3.0)


@pytest.mark.parametrize(
    "change",
    [
        changed_by_place,
        changed_in_a_list,
        changed_by_its_operator,
        changed_by_an_operator_of_the_users,
        changed_by_name,
    ],
)
def test_what_is_changed_after_the_branch_is_what_was_before_it(change: Callable[..., Any]) -> None:
    def program(x: Any) -> Any:
        y = x - 1
        z = y if x.sum() > 3 else y + 1
        change(z)
        return y * 1

    calls = [(torch.full((2, 2), value),) for value in (0.5, 2.0, 0.5, 2.0)]
    same_program(program, calls, __file__, speculate=False)


def test_results_that_nothing_came_of_have_no_gradient() -> None:
    def program(x: Any) -> Any:
        y, z = x * 2, x * 3
        return (y.clamp(max=1.0) if x.sum() > 3 else z + 1), y, z

    compiled = mended_compile(program, backend="eager", speculate=False)
    for value in (0.5, 2.0):
        result, *others = compiled(torch.full((2,), value, requires_grad=True))
        found = torch.autograd.grad(result.sum(), others, allow_unused=True)
        assert [each is None for each in found] == [value < 1.0, value > 1.0]


def infinite_before_the_branch(w: Any, v: Any) -> Any:
    x = w * 1
    y = torch.sqrt(x)
    return y * 2 if x.sum() > 5 else x * 3


def not_a_number_before_the_branch(w: Any, v: Any) -> Any:
    x = w * 1
    y = torch.log(w - 1)
    if torch.isnan(y).any():
        y = x.clamp(min=0.5)
    return y


def only_for_one_side(w: Any, v: Any) -> Any:
    y, z = w * 2, v * 3
    return y if w.sum() > 5 else z


def changed_before_the_branch(w: Any, v: Any) -> Any:
    y = torch.relu(w * 1)
    z = v * 1 + w
    y[0] = 1.5
    if w.sum() > 5:
        z = z + y
    return z * 2


def from_the_same(w: Any, v: Any) -> Any:
    y = torch.sqrt(w + v)
    return y.clamp(max=1.0) if y.sum() > 3 else (y * 2).flip(0)


def asked_for_its_shape(w: Any, v: Any) -> Any:
    y = w * 1
    return y + v if w.sum() > 5 else y.view_as(v)


def divided_by_nothing(w: Any, v: Any) -> Any:
    y, n = w * 1, 0
    return y / n if w.sum() > 5 else y + 1


def too_large_for_its_precision(w: Any, v: Any) -> Any:
    y = w * 1
    return y * 1e300 if w.sum() > 5 else y + 1


def too_large_an_alpha(w: Any, v: Any) -> Any:
    y = w * 1
    z = torch.add(y, y, alpha=math.inf)
    return z if w.sum() > 5 else y + 1


def one_of_two_results(w: Any, v: Any) -> Any:
    values, vectors = torch.linalg.eigh(torch.eye(3) * w.sum())
    return values + 1 if w.sum() < 5 else vectors.sum(0)


def gradients(program: Callable[..., Any], values: list[float]) -> tuple[Any, ...]:
    w = torch.tensor(values, requires_grad=True)
    v = torch.ones(3, requires_grad=True)
    result = program(w, v)
    try:
        result.sum().backward()
    except RuntimeError as error:
        return (str(result.detach()), type(error).__name__)
    return tuple(str(each) for each in (result.detach(), w.grad, v.grad))


@pytest.mark.parametrize("speculate", [True, False])
@pytest.mark.parametrize(
    "program",
    [
        infinite_before_the_branch,
        not_a_number_before_the_branch,
        only_for_one_side,
        changed_before_the_branch,
        asked_for_its_shape,
        divided_by_nothing,
        too_large_for_its_precision,
        too_large_an_alpha,
        one_of_two_results,
        from_the_same,
    ],
)
def test_gradients_are_those_of_the_side_that_was_meant(program: Callable[..., Any], speculate: bool) -> None:
    compiled = mended_compile(program, backend="eager", speculate=speculate)
    for values in ([0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [0.0, 1.0, 2.0], [3.0, 4.0, 5.0]):
        assert gradients(compiled, values) == gradients(program, values)
    kinds = {entry.mend for entry in compiled.report.mended}
    assert kinds == ({"select"} if program is from_the_same else {"speculate"} if speculate else set())


def with_no_number(w: Any, v: Any) -> Any:
    """Where the second side is not meant, it has an element that is not a number."""
    noise = (w - 3) / (w - 3)
    return w * 2 if w.sum() < 5 else w + noise.detach()


def with_infinite_values(w: Any, v: Any) -> Any:
    large = (w.detach() - w.detach()).reciprocal()
    return w + large if w.sum() > 50 else -w


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("program", [with_no_number, with_infinite_values])
def test_what_is_not_a_number_on_the_other_side_does_not_reach_the_gradient(
    program: Callable[..., Any], backend: str
) -> None:
    """Both sides are computed: the sum with what is not a number has a gradient of one, which zero leaves zero."""
    compiled = mended_compile(program, backend=backend, speculate=False)
    for values in ([3.0, 0.0, 1.0], [3.0, 4.0, 5.0], [0.0, 1.0, 2.0]):
        assert gradients(compiled, values) == gradients(program, values)
    assert {entry.mend for entry in compiled.report.mended} == {"select"} and not compiled.report.left


def test_what_is_changed_before_the_backward_is_no_concern_of_the_other_side() -> None:
    def program(h: Any) -> Any:
        return h.clamp(max=1.0) if h.sum() > 3 else h + 1

    compiled = mended_compile(program, backend="eager", speculate=False)
    x = torch.ones(2, requires_grad=True)
    h = x * 1
    result = compiled(h)
    with torch.no_grad():
        h.mul_(3.0)
    result.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1.0, 1.0]


def guarded_by_whole_numbers(x: Any) -> Any:
    if int((x > 0).sum()) >= 4:
        raise KeyError(f"many: {int((x > 0).sum())}")
    if int((x > 2).sum()) > 2 or 1 < int(x.argmax()) < 3:
        raise ValueError("large")
    return x * 2


def guarded_by_numbers_cut_off(x: Any) -> Any:
    if int(x.max()) == 2:
        raise ValueError("two")
    return x * 2


WHOLE = [[1.0, 0.0, 0.5], [3.0, 3.0, 3.0], [1.0, 2.0, 3.0], [2.5, 0.0, 0.0], [float("nan"), 0.0, 0.0], [1.0, 0.0, 0.5]]


@pytest.mark.parametrize("speculate", [True, False])
@pytest.mark.parametrize("program", [guarded_by_whole_numbers, guarded_by_numbers_cut_off])
def test_guards_of_whole_numbers(program: Callable[..., Any], speculate: bool) -> None:
    calls = [(torch.tensor(values),) for values in WHOLE]
    is_whole = program is guarded_by_whole_numbers
    compiled = same_program(program, calls, __file__, frames=is_whole, speculate=speculate)
    assert not compiled.report.left or not is_whole


def breaks_in_its_test(x: Any) -> Any:
    x.clamp_(-3.0, 3.0)
    return x.clone() if torch.allclose(x, (x + x if (x != 4.0).any() else x), atol=1.0) else x.clamp(min=-1.0)


def test_a_break_that_stays_inside_of_a_test() -> None:
    compiled = mended_compile(breaks_in_its_test, backend="eager")
    for value in (0.5, 4.0, 2.0):
        x, y = ((torch.full((2,), value, requires_grad=True) * 1.0) for _ in range(2))
        assert torch.equal(compiled(x), breaks_in_its_test(y))


def keeps_a_count(x: Any, count: Any, offset: Any) -> Any:
    count.add_(1)
    x = x * 2 if x.sum() > 3 else x + 1
    return x + count + offset


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_branches_beside_inputs_that_are_parts_of_one_memory(backend: str) -> None:
    compiled = mended_compile(keeps_a_count, backend=backend, speculate=False, fullgraph=True)
    for value in range(3):
        x, ours, theirs = torch.full((4,), float(value)), torch.zeros(2, 4), torch.zeros(2, 4)
        assert torch.equal(compiled(x, *ours), keeps_a_count(x, *theirs)) and torch.equal(ours, theirs)


def many_tests(x: Any, k: int) -> Any:
    if torch.isnan(x).any():
        raise ValueError("nan")
    if x.sum() > 100:
        raise ValueError("large")
    if x.sum() > 4:
        x = x * 2
    y = x + 1
    if y.min() < -50:
        raise ValueError("small")
    if k > 3:
        y = y + k
    if y.max() > 3:
        y = y - 1
    return y


def test_a_function_is_not_traced_for_each_of_its_tests() -> None:
    rounds = 0
    begin = MendedBackend.begin_frame

    def counted(self: MendedBackend, code: Any, *args: Any) -> None:
        nonlocal rounds
        rounds += code is many_tests.__code__
        begin(self, code, *args)

    calls = [(torch.full((3,), value), k) for value, k in ((1.0, 1), (2.0, 1), (50.0, 1), (-60.0, 1), (1.0, 5))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MendedBackend, "begin_frame", counted)
        compiled = mended_compile(many_tests, backend="eager")
        compiled(torch.ones(3), 1)
    # The first that breaks takes its like with it.
    assert rounds == 2
    entries = sorted((entry.line, entry.mend) for entry in compiled.report.mended)
    first = many_tests.__code__.co_firstlineno
    assert entries == [
        (first + at, mend) for at, mend in ((1, "check"), (3, "check"), (5, "select"), (8, "check"), (12, "select"))
    ]
    assert {entry.gb_type for entry in compiled.report.mended} == {"Data-dependent branching"}
    assert f"mended with line {first + 1}, before it could break" in compiled.report.mended[-1].message
    same_program(many_tests, calls, __file__)
