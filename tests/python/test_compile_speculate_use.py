"""Predicted values in use: settings, reports, several models, copies, threads; and what is computed to predict them."""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import io
import json
import struct
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import numbers, reasons
from compiled_calls import same_program as same_program_as

from graphmend._mending import frame_breaks, speculate
from graphmend._mending.compile import compile as graphmend_compile
from graphmend._reporting.report import report_from_dict, save

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

mended_compile = functools.partial(graphmend_compile, speculate=True)
same_program = functools.partial(same_program_as, speculate=True)


@pytest.fixture(autouse=True)
def _no_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are predicted also where a symbol would do, so that programs can be short."""
    monkeypatch.setattr(frame_breaks, "capture_for", lambda place: None)
    monkeypatch.setattr(frame_breaks, "is_read", lambda place: False)


def known_ahead(why: str) -> set[str]:
    return {f"its value is not known ahead: {why}"}


def scaled_once(x: Any) -> Any:
    return x * x.max().item()


def scaled_twice(x: Any) -> Any:
    y = x * x.max().item()
    return y + x.min().item()


def test_speculation_that_is_off() -> None:
    compiled = same_program(scaled_twice, numbers(1, 2, 1), __file__, speculate=False)
    assert reasons(compiled) == {"no mend for this kind of statement", "it stands behind a break that is left"}
    assert compiled.report.misses == 0
    assert speculate.sites == {}


def test_speculation_that_is_only_reported() -> None:
    compiled = same_program(scaled_twice, numbers(4, 2), __file__, speculate="report")
    assert reasons(compiled) == {"speculation would predict 4.0 here", "speculation would predict -1.0 here"}
    assert compiled.report.misses == 0


@pytest.mark.parametrize("value", ["yes", 2])
def test_a_wrong_setting(value: Any) -> None:
    with pytest.raises(ValueError, match="speculate is True, False or 'report'"):
        mended_compile(scaled_twice, speculate=value)


def test_the_report_shows_how_often_predictions_were_right() -> None:
    def scaled(x: Any) -> Any:
        return x * x.max().item()

    compiled = same_program(scaled, numbers(1, 1, 1, 2, 2), __file__)
    (entry,) = compiled.report.mended
    assert str(entry).endswith("mended: speculate (3 of 5 right)")
    assert "the original ran in 2 of 5 calls" in str(compiled.report)


def test_models_of_one_class_have_their_own_predictions() -> None:
    class Scaled(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def forward(self, x: Any) -> Any:
            return x * x.max().item()

    models = [mended_compile(Scaled(), backend="eager") for _ in range(2)]
    for _ in range(8):
        for i, model in enumerate(models):
            assert torch.equal(model(torch.full((2,), i + 2.0)), torch.full((2,), (i + 2.0) ** 2))
    assert [(model.report.misses, model.report.left) for model in models] == [(0, []), (0, [])]
    assert [model.report.graphs for model in models] == [1, 1]


def test_a_copy_of_a_compiled_model() -> None:
    class Counting(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x: Any) -> Any:
            self.total += x.max().item()
            return x * self.total

    model = Counting()
    compiled = mended_compile(copy.deepcopy(model), backend="eager")
    for call in (model, compiled):
        call(torch.ones(3))
    twin = copy.deepcopy(compiled)
    for value in (1.0, 3.0, 3.0, 1.0):
        x = torch.full((3,), value)
        assert torch.equal(model(x), twin(x))
    assert torch.equal(model.total, twin.total)
    assert torch.equal(compiled.total, torch.ones(3))
    assert twin.report.whole


def test_threads() -> None:
    def scaled(x: Any) -> Any:
        y = x.sin() * x.max().item()
        return y if y.sum() > 3 else y[:1]

    shared = mended_compile(scaled, backend="eager")
    found: list[str] = []

    def work(start: int) -> None:
        own = mended_compile(scaled, backend="eager")
        for i in range(12):
            x = torch.full((3,), float(start + i // 4))
            for call in (own, shared):
                if not torch.equal(call(x.clone()), scaled(x)):
                    found.append(f"{start} {i}")

    threads = [threading.Thread(target=work, args=(start,)) for start in (1, 2, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == []
    assert shared.report.calls > 0


# To predict a value, nothing of the program runs and nothing is changed.


class Normalised(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, norm: Any) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Any) -> Any:
        y = self.norm(x)
        return y * y.detach().max().item()


@pytest.mark.parametrize("name", ["BatchNorm1d", "InstanceNorm1d"])
@pytest.mark.parametrize("train", [True, False])
def test_statistics_are_counted_once(name: str, train: bool) -> None:
    norm = getattr(torch.nn, name)(3, track_running_stats=True)
    calls = [(torch.arange(12.0).reshape(1, 3, 4) * i,) for i in (1, 1, 2)]
    assert same_program(Normalised(norm).train(train), calls, __file__).report.whole


def test_random_numbers_are_drawn_once() -> None:
    def noisy(x: Any) -> Any:
        y = torch.nn.functional.dropout(x, 0.5) + torch.rand(3)
        return y * y.max().item()

    same_program(noisy, numbers(1, 1, 2), __file__)


def test_a_branch_on_a_random_number() -> None:
    def dropped(x: Any, p: float) -> Any:
        for _ in range(4):
            if torch.rand(()) < p:
                continue
            x = x * 2 + torch.nn.functional.dropout(x, 0.5)
        return x

    calls = [(torch.ones(3), p) for p in (0.0, 0.0, 0.5, 0.5, 0.0, 0.5, 1.0)]
    compiled = same_program(dropped, calls, __file__)
    assert {entry.mend for entry in compiled.report.mended} == {"speculate"}


def test_a_generator_of_the_users_is_not_drawn_from() -> None:
    generator = torch.Generator()

    def dropped(x: Any) -> Any:
        return [x] * int(torch.rand((), generator=generator) * 3)

    compiled = mended_compile(dropped, backend="eager")
    seen = []
    for call in (compiled, dropped):
        generator.manual_seed(3)
        seen.append([len(call(torch.ones(2))) for _ in range(5)])
    assert seen[0] == seen[1]


def test_an_input_that_was_changed() -> None:
    def push(x: Any) -> Any:
        x.add_(1)
        return x * x.max().item()

    compiled = same_program(push, numbers(1, 1, 2), __file__)
    assert compiled.report.whole and compiled.report.misses == 1


class Counting(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("step", torch.zeros((), dtype=torch.long))
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x: Any) -> Any:
        before = self.seen.sum()
        self.step += 1
        self.seen.add_(x)
        if self.step > 2:
            print("warm")
            x = x * 2
        return x * [1, 2, 3][int(before) % 3], [x] * int(self.seen.max() % 4)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_buffers_that_are_changed_and_read(backend: str) -> None:
    compiled = same_program(
        Counting(), [(torch.full((3,), float(i // 3)),) for i in range(9)], __file__, backend=backend
    )
    assert compiled.report.whole and 0 < compiled.report.misses < 9


def test_inputs_that_share_memory_and_are_changed() -> None:
    def moved(x: Any) -> Any:
        first, last = x[:2], x[1:]
        y = last.max()
        first.add_(1)
        return [y] * int(last.max() + y)

    base = torch.arange(3.0)
    compiled = same_program(lambda x: moved(x), [(base.clone(),), (base.clone(),), (base + 1,)], __file__)
    assert compiled.report.whole


def test_what_was_made_on_the_way_may_be_changed() -> None:
    def push(x: Any) -> Any:
        y = x * 2
        y[0] += 1
        y.mul_(2)
        return x * y.max().item()

    compiled = same_program(push, numbers(1, 1, 2), __file__)
    assert compiled.report.whole


@torch.library.custom_op("graphmend_tests::talk", mutates_args=())  # type: ignore[misc,untyped-decorator,unused-ignore]
def talk(x: torch.Tensor) -> torch.Tensor:
    print("talk")
    return x * 2


@talk.register_fake  # type: ignore[misc,untyped-decorator,unused-ignore]
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def test_operators_of_others_run_once() -> None:
    def talked(x: Any) -> Any:
        y = talk(x)
        return y * y.max().item()

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        compiled = mended_compile(talked, backend="eager")
        compiled(torch.ones(3))
    assert shown.getvalue() == "talk\n"
    assert reasons(compiled) == known_ahead("it hangs on an operator that is not torch's own")


def test_nothing_is_kept_alive() -> None:
    def scaled(x: Any) -> Any:
        y = x * 2
        return x * y.max().item()

    compiled = mended_compile(scaled, backend="eager")
    x = torch.ones(3)
    kept = weakref.ref(x)
    compiled(x)
    del x
    gc.collect()
    assert kept() is None
    assert compiled.report.whole


# What only looks like a tensor's value.


class Other:
    def nonzero(self) -> int:
        return 5

    def item(self) -> int:
        return 6

    def repeat(self, value: Any) -> str:
        return type(value).__name__


def test_what_was_learnt_goes_with_what_was_compiled() -> None:
    compiled = mended_compile(scaled_once, backend="eager")
    for value in (1.0, 2.0, 1.0):
        compiled(torch.tensor([value]))
    assert speculate.sites and vars(speculate.PREDICTIONS)
    torch._dynamo.reset()
    assert not speculate.sites and not vars(speculate.PREDICTIONS)
    assert compiled(torch.tensor([3.0])).item() == 9.0


def test_what_is_forgotten_while_a_call_runs() -> None:
    compiled = mended_compile(scaled_once, backend="eager")
    compiled(torch.tensor([1.0]))
    speculate.sites.clear()
    assert compiled(torch.tensor([1.0])).item() == 1.0
    assert compiled(torch.tensor([2.0])).item() == 4.0


def test_methods_of_others() -> None:
    def mixed(x: Any, other: Any, n: Any) -> Any:
        return x * other.nonzero() + other.item() + x.max().item(), other.repeat(n)

    same_program(mixed, [(*x, Other(), torch.tensor([2])) for x in numbers(1, 2)], __file__, frames=False)


def test_names_that_are_no_builtins() -> None:
    def mixed(x: Any, int: Any, range: Any) -> Any:  # noqa: A002
        return int(x.max()), range(x.argmax()), x * x.max().item()

    def double(x: Any) -> Any:
        return x * 2

    compiled = mended_compile(mixed, backend="eager")
    for (x,) in numbers(1, 1, 2):
        for seen, expected in zip(compiled(x, double, double), mixed(x, double, double), strict=True):
            assert torch.equal(seen, expected)


def test_a_tensor_among_sizes() -> None:
    def tiled(x: Any, n: Any) -> Any:
        return torch.tile(x, (n.item(),)), torch.roll(x, n.item()), x.repeat(n)

    calls = [(torch.tensor([5]), torch.tensor(n)) for n in (3, 3, 2)]
    same_program(tiled, calls, __file__)


def test_text_in_f_strings() -> None:
    def shown(x: Any) -> Any:
        return x + 1, f'"{x.max().item()}"', f"{x.max().item()=}"

    same_program(shown, numbers(1, 1, 2), __file__)


@pytest.mark.parametrize("how", ["automatic", "dynamic", "mark_dynamic"])
def test_sizes_that_change_while_values_are_predicted(how: str) -> None:
    def repeated(x: Any, n: Any) -> Any:
        return torch.stack([x.sin()] * int(n.max())).sum(0) + x.shape[0]

    compiled = mended_compile(repeated, backend="eager", dynamic=True if how == "dynamic" else None)
    for size in range(3, 12):
        # A size that has changed, and a value that is another now and then.
        x, n = torch.arange(2.0 * size).reshape(size, 2), torch.tensor([1, 3 if size == 6 else 2])
        if how == "mark_dynamic":
            torch._dynamo.mark_dynamic(x, 0)
        assert torch.equal(compiled(x, n), repeated(x, n))
    assert compiled.report.whole and compiled.report.misses == 1
    # The first size has a graph of its own, where nobody has said that sizes change.
    assert compiled.report.graphs == (2 if how == "automatic" else 1)


def test_a_model_that_is_moved() -> None:
    class Scaled(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            y = self.linear(x.to(self.linear.weight.dtype)).detach()
            return y * y.max().item(), ["small", "large"][int(y.abs().max() > 0.5)]

    original = Scaled()
    moved = copy.deepcopy(original)
    compiled = mended_compile(moved, backend="eager")
    for dtype in (torch.float32, torch.float64, torch.float32, torch.bfloat16):
        original.to(dtype)
        compiled.to(dtype)
        for x in (torch.ones(3), torch.ones(3), torch.full((3,), 4.0)):
            (seen, name), (expected, other) = compiled(x), original(x)
            assert torch.equal(seen, expected) and seen.dtype == dtype and name == other


def test_each_model_has_its_own_hit_rate(tmp_path: Path) -> None:
    class Picked(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        def forward(self, x: Any) -> Any:
            return x * [1, 2, 3][int(x.max())]

    one, other = (mended_compile(Picked(), backend="eager") for _ in range(2))
    for value in (1, 1, 1):
        one(torch.tensor([0.0, value]))
    for value in (1, 2, 1, 2):
        other(torch.tensor([0.0, value]))
    reports = [one.report, other.report]
    rates = [report.mended[0].hits for report in reports]
    assert rates == [(3, 3), (2, 4)]
    assert "your own code runs (2 of 4 right)" in other.report.explain()
    save(tmp_path / "report.json", reports)
    kept = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["reports"]
    assert [each["mended"][0]["predictions"] for each in kept] == [[3, 3], [2, 4]]
    # Its predictions are gone with it.
    del one
    gc.collect()
    assert [report.mended[0].hits for report in reports] == rates
    assert [report_from_dict(each).mended[0].hits for each in kept] == rates


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_a_nan_has_bits(dtype: Any, backend: str) -> None:
    def scaled(x: Any) -> Any:
        return x[1:] * x[0].item()

    ordinary = torch.tensor([float("nan"), 1.0], dtype=dtype)
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    other = torch.stack([torch.tensor(-1, dtype=bits), torch.ones(1, dtype=dtype).view(bits)[0]]).view(dtype)
    compiled = mended_compile(scaled, backend=backend)
    for x in (ordinary, ordinary, other, ordinary, other, other, other, other, other, other, other, ordinary):
        expected, seen = scaled(x), compiled(x)
        # Which of the bits survive a product is the processor's affair.
        assert torch.equal(torch.signbit(expected), torch.signbit(seen))


@pytest.mark.parametrize("value", [0.5, -0.0, 0.0, float("inf"), float("-inf"), float("nan"), 1e-320])
def test_floats_as_texts(value: float) -> None:
    (again,) = speculate.decode(speculate.encode(value))
    assert struct.pack("d", again) == struct.pack("d", value)


def test_other_nans_are_other_texts() -> None:
    other = struct.unpack("d", b"\xff" * 8)[0]
    assert speculate.encode(other) != speculate.encode(float("nan")) and speculate.decode(speculate.encode([other, 1]))
