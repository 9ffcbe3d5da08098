"""What Dynamo captures otherwise than Python does, and what the break of the program put right by chance."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import enum
import functools
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from graphmend._mending.compile import compile as mended_compile

pytestmark = pytest.mark.filterwarnings("ignore")

INPUTS = [(x, n) for n, x in enumerate([1.0, 1.0, 4.0, 1.0, 5.0, 2.0, 2.0, 6.0], start=3)]
# A program of a tensor and a number, and what is looked at behind each call.
Made = tuple[Callable[[Any, int], Any], Callable[[], Any]]


def seen(make: Callable[[], Made], compiler: Callable[[Any], Any]) -> list[Any]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    program, behind = make()
    compiled = compiler(program)
    shown: list[Any] = []
    for x, n in INPUTS:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            result = compiled(torch.tensor([x, 2.0]), n)
        shown.append(copy.deepcopy((repr(result), said.getvalue(), behind())))
    return shown


# Powers of negative numbers


def sign_of_a_counter() -> Made:
    class Model(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        step = 0
        sign = 0

        def forward(self, x: Any, n: int) -> Any:
            self.step += 1
            print("step", self.step)
            self.sign = (-1) ** self.step
            return x * 2

    model = Model()
    return model, lambda: (model.step, model.sign)


def signs_of_numbers() -> Made:
    def program(x: Any, n: int) -> Any:
        y = x * 2
        print("n", n)
        return (
            y,
            (-1) ** n,
            (-2.0) ** n,
            (-0.0) ** n,
            (-2) ** (n - 5),
            pow(-3, n),
            sum((-1) ** (i + n) for i in range(3)),
        )

    return program, lambda: None


def signs_of_fractions_and_tensors() -> Made:
    def program(x: Any, n: int) -> Any:
        y = x * 2
        print("n", n)
        return y, (-2.0) ** (n / 4), (-3) ** torch.arange(4)

    return program, lambda: None


def a_sign_behind_a_break() -> Made:
    def program(x: Any, n: int) -> Any:
        y = (x * 2).sum().to(torch.int64)
        k = y.item()
        return y, (-2) ** k

    return program, lambda: None


# Which of two equal numbers it is


def a_number_and_itself() -> Made:
    def program(x: Any, n: int) -> Any:
        y = x * 2
        print("n", n)
        share = n / 4
        return y, share is share, share is not share, n is n, n + 1 is None

    return program, lambda: None


def the_best_by_its_name() -> Made:
    def program(x: Any, n: int) -> Any:
        y = x * 2
        print("n", n)
        scores = {"a": n / 4, "b": 0.1}
        top = max(scores.values())
        return y, [name for name, score in scores.items() if score is top]

    return program, lambda: None


# Texts of objects


class Meter:
    def __init__(self) -> None:
        self.n = 0
        self.total = 0

    def update(self, count: int) -> None:
        self.n += 1
        self.total += count

    def __str__(self) -> str:
        return f"{self.total}/{self.n}"


class Shown(Meter):
    __str__ = object.__str__

    def __repr__(self) -> str:
        return f"Shown({self.n})"


class Formatted(Meter):
    def __format__(self, spec: str) -> str:
        return f"{spec}:{self.total:{spec or '3'}}"


@dataclasses.dataclass
class Counts:
    n: int = 0
    total: int = 0


class Box(dict):  # type: ignore[type-arg]
    pass


def texts_of(kind: Callable[[], Any]) -> Callable[[], Made]:
    def make() -> Made:
        meter, lines = kind(), []

        def program(x: Any, n: int) -> Any:
            meter.n += 1
            meter.total += n
            if x.sum() > 4:
                print("large")
            lines.append(f"seen {meter}")
            if "2" in f"{meter}":
                x = x + 100
            return x * 2, {f"{meter}": n}, str(meter) + "!"

        return program, lambda: lines

    return make


def texts_that_are_made_by_format() -> Made:
    meter = Meter()

    def program(x: Any, n: int) -> Any:
        meter.update(n)
        print("sum", x.sum())
        return x * 2, "seen {}".format(meter), "{0.n} of {m.total:>4}".format(meter, m=meter)  # noqa: UP032

    return program, lambda: None


def texts_of_what_is_made_inside() -> Made:
    def program(x: Any, n: int) -> Any:
        meter = Meter()
        meter.update(x.shape[0])
        box = Box(a=meter.n)
        print("sum", x.sum())
        return x * 2, f"{meter}", f"{box}"

    return program, lambda: None


# What a class has


class Act:
    @staticmethod
    def turn(x: Any) -> Any:
        return x.relu()

    @property
    def gain(self) -> float:
        return 1.0

    def run(self, x: Any) -> Any:
        return self.turn(x) * self.gain


class Louder(Act):
    def run(self, x: Any) -> Any:
        return super().run(x) * 2


@contextlib.contextmanager
def exchanged(kind: type, name: str, value: Any) -> Iterator[None]:
    before = vars(kind)[name]
    setattr(kind, name, value)
    try:
        yield
    finally:
        setattr(kind, name, before)


def a_property_for_a_while() -> Made:
    act = Act()

    def program(x: Any, n: int) -> Any:
        y = x * act.gain
        with exchanged(Act, "gain", property(lambda _: 9.0)):
            print("sum", x.sum())
            y = y + x * act.gain
        return y + x * act.gain

    return program, lambda: None


def methods_for_a_while(kind: type) -> Callable[[], Made]:
    def make() -> Made:
        act = kind()

        def program(x: Any, n: int) -> Any:
            before = Act.turn
            Act.turn = staticmethod(torch.neg)  # type: ignore[method-assign]
            print("sum", x.sum())
            y = act.run(x)
            Act.turn = staticmethod(before)  # type: ignore[method-assign]
            return y

        return program, lambda: None

    return make


def a_method_for_good() -> Made:
    class Own:
        def go(self, x: Any) -> Any:
            return x * 1

    class Kid(Own):
        def go(self, x: Any) -> Any:
            return super().go(x) + 1

    def other(self: Any, x: Any) -> Any:
        return x + 100

    own, kid = Own(), Kid()

    def program(x: Any, n: int) -> Any:
        Own.go = other  # type: ignore[method-assign]
        if x.sum() > 4:
            print("large")
        return own.go(x) + kid.go(x)

    return program, lambda: None


def special_methods_for_a_while() -> Made:
    class Own:
        n = 3

        def __len__(self) -> int:
            return self.n

        def __str__(self) -> str:
            return "own"

        def __call__(self, x: Any) -> Any:
            return x * 2

    own = Own()

    def program(x: Any, n: int) -> Any:
        with exchanged(Own, "__len__", lambda self: n), exchanged(Own, "__str__", lambda self: "other"):
            with exchanged(Own, "__call__", lambda self, x: x + 1):
                print("sum", x.sum())
                x = own(x) + len(own)
            text = f"{own}"
        return x + len(own), text, str(own)

    return program, lambda: None


def what_can_be_called() -> Made:
    class Own:
        pass

    own: Any = Own()

    def called(self: Any, x: Any) -> Any:
        return x + 1

    def program(x: Any, n: int) -> Any:
        Own.__call__ = called  # type: ignore[method-assign]
        print("sum", x.sum())
        return own(x) if callable(own) else x

    return program, lambda: None


def decorated(method: Callable[[Any], str]) -> Callable[[Any], str]:
    @functools.wraps(method)
    def shouting(self: Any) -> str:
        return method(self).upper()

    return shouting


class Loud(Meter):
    __str__ = object.__str__

    @decorated
    def __repr__(self) -> str:
        return f"loud {self.n}"


PROGRAMS: dict[str, Callable[[], Made]] = {
    "sign-of-a-counter": sign_of_a_counter,
    "signs-of-numbers": signs_of_numbers,
    "signs-of-fractions-and-tensors": signs_of_fractions_and_tensors,
    "a-sign-behind-a-break": a_sign_behind_a_break,
    "a-number-and-itself": a_number_and_itself,
    "the-best-by-its-name": the_best_by_its_name,
    "text-by-str": texts_of(Meter),
    "text-by-repr": texts_of(Shown),
    "text-by-format": texts_of(Formatted),
    "text-by-a-decorated-repr": texts_of(Loud),
    "text-of-a-dataclass": texts_of(Counts),
    "texts-by-str.format": texts_that_are_made_by_format,
    "texts-of-what-is-made-inside": texts_of_what_is_made_inside,
    "a-property-for-a-while": a_property_for_a_while,
    "methods-for-a-while": methods_for_a_while(Act),
    "methods-of-a-base-for-a-while": methods_for_a_while(Louder),
    "a-method-for-good": a_method_for_good,
    "special-methods-for-a-while": special_methods_for_a_while,
    "what-can-be-called": what_can_be_called,
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_is_as_in_eager(name: str, backend: str) -> None:
    expected = seen(PROGRAMS[name], lambda program: program)
    assert seen(PROGRAMS[name], lambda program: mended_compile(program, backend=backend)) == expected


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_the_groups_of_an_optimizer_have_what_the_program_has_given_them(kind: Any) -> None:
    def trained(compiler: Callable[[Any], Any]) -> tuple[list[Any], list[float]]:
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 3)
        optimizer = kind(model.parameters(), lr=0.1)

        def update(limit: float) -> None:
            norm = model.weight.grad.norm()
            if norm > limit:
                print("large gradient")
            for group in optimizer.param_groups:
                group["lr"] = 0.05 if norm > limit else 0.1
            optimizer.step()

        compiled, groups, sums = compiler(update), [], []
        for size in (0.1, 5.0, 5.0, 0.1, 5.0, 0.1):
            optimizer.zero_grad()
            (model(torch.ones(2, 3)) * size).pow(2).mean().backward()
            with contextlib.redirect_stdout(io.StringIO()):
                compiled(5.0)
            groups.append([{key: group[key] for key in group if key != "params"} for group in optimizer.param_groups])
            sums.append(model.weight.sum().item())
        return groups, sums

    groups, sums = trained(lambda update: update)
    mended_groups, mended_sums = trained(lambda update: mended_compile(update, backend="eager"))
    assert mended_groups == groups
    assert mended_sums == pytest.approx(sums, rel=1e-3)


class Stage(enum.Enum):
    FIRST = 1
    LAST = 2


def test_texts_of_what_cannot_change_need_no_break() -> None:
    def program(x: Any) -> Any:
        print("mean", x.mean().item())
        name = "stage {}".format(Stage.LAST)  # noqa: UP032
        return x * len(name), name

    mended = mended_compile(program, backend="eager")
    assert repr(mended(torch.ones(2))) == repr(program(torch.ones(2)))
    assert not mended.report.left


# Views of what is changed


@pytest.mark.parametrize("has_gradients", [True, False])
def test_a_view_of_an_input_that_is_changed_stays_one(has_gradients: bool) -> None:
    def program(x: Any) -> Any:
        print("mean", x.mean().item())
        x.mul_(0.5)
        return x.chunk(2, 1)[0]

    # By itself, AOTAutograd makes another tensor of it where there are gradients.
    mended = mended_compile(program, backend="eager")
    for k in range(3):
        x = torch.full((2, 4), float(k), requires_grad=has_gradients) * 2
        part = mended(x)
        assert part.data_ptr() == x.data_ptr()
        x.detach().add_(1)
        assert part.tolist() == [[k + 1.0] * 2] * 2


def test_what_was_made_without_gradients_is_shown_before_it_is_changed_with_them() -> None:
    weight = torch.ones(3, requires_grad=True)

    def program(x: Any) -> Any:
        y = x if x.sum() > 3 else x * 3
        with torch.no_grad():
            y = y * 2
            print("first", y[0])
        y.copy_(y + weight)
        return y

    mended = mended_compile(program, backend="eager")
    for k in (1.0, 2.0, 0.5):
        x = torch.full((3,), k)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            result = mended(x)
        with contextlib.redirect_stdout(io.StringIO()) as expected:
            assert program(x).tolist() == result.tolist()
        assert said.getvalue() == expected.getvalue()
    assert not [entry for entry in mended.report.left if "fault of its own" in entry.reason]
