"""What only talks, and is no global of its file: it is looked at when the statement is traced."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from compiled_calls import numbers, reasons, same_program

import graphmend
from graphmend._mending.compile import compile as mended_compile

pytestmark = pytest.mark.filterwarnings("ignore")

CALLS = numbers(1.0, 2.0, 3.0)


class Counter:
    """Called like a logger, and does more than talk."""

    def __init__(self) -> None:
        self.count = 0

    def info(self, text: str) -> None:
        self.count += len(text)


class Talking(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, how: str, log: Any = None) -> None:
        super().__init__()
        self.how = how
        self.log = log or logging.getLogger("talking")
        self.__private = logging.getLogger("private")

    @graphmend.effect
    def tell(self, *values: Any) -> None:
        print("told by", self.how, *values)

    def forward(self, x: Any) -> Any:
        if self.how == "field":
            self.log.warning("sum %s", x.sum())
        elif self.how == "formatted":
            self.log.critical(f"{x.sum().item():{6}.{2}}")
        elif self.how == "private":
            self.__private.error("sum %s", x.sum().item())
        elif self.how == "local":
            log = self.log
            log.info("sum %s", x.sum(), stacklevel=1)
        elif self.how == "stream":
            out = sys.stdout
            out.write(f"sum {x.sum()}\n")
        elif self.how == "import":
            import warnings

            warnings.warn(f"sum {x.sum()}", UserWarning, stacklevel=2)
        else:
            self.tell(x.sum(), "twice")
        return x * 2


@pytest.mark.parametrize("how", ["field", "formatted", "private", "local", "stream", "declared"])
def test_what_it_is_called_on_travels(how: str) -> None:
    compiled = same_program(Talking(how), CALLS, __file__, fullgraph=True)
    assert not compiled.report.left


def test_an_adapter_travels() -> None:
    model = Talking("field", logging.LoggerAdapter(logging.getLogger("below"), {"who": "it"}))
    same_program(model, CALLS, __file__, fullgraph=True)


def test_a_module_that_is_imported_in_the_function() -> None:
    compiled = mended_compile(Talking("import"), backend="eager", fullgraph=True)
    for value in (1.0, 2.0):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            compiled(torch.tensor([value]))
        assert [str(each.message) for each in seen] == [f"sum {value}"]


def test_each_model_talks_through_its_own() -> None:
    seen: list[tuple[str, str]] = []

    class Records(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append((record.name, record.getMessage()))

    handler = Records()
    models = {name: Talking("field", logging.getLogger(name)) for name in ("one", "other")}
    compiled = {name: mended_compile(model, backend="eager", fullgraph=True) for name, model in models.items()}
    logging.getLogger().addHandler(handler)
    try:
        for name in ("one", "other", "one"):
            compiled[name](torch.ones(2))
        models["one"].log = logging.getLogger("third")
        compiled["one"](torch.ones(2))
    finally:
        logging.getLogger().removeHandler(handler)
    assert [name for name, _ in seen] == ["one", "other", "one", "third"]


def test_a_level_that_is_off() -> None:
    log = logging.getLogger("quiet")
    log.setLevel(logging.ERROR)
    compiled = same_program(Talking("field", log), CALLS, __file__, fullgraph=True)
    assert compiled.report.mended


class Counting(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.log = Counter()

    def forward(self, x: Any) -> Any:
        self.log.info(f"sum {x.sum()}")
        return x * self.log.count


def divides_in_vain(x: torch.Tensor) -> torch.Tensor:
    logging.getLogger("talking").debug("%s", 1 / (x[0].item() - 2))
    return x + 1


def reads_too_many(x: torch.Tensor) -> torch.Tensor:
    logging.getLogger("talking").debug("%s", x.item())
    return x + 1


def shows_as_whole(x: torch.Tensor) -> torch.Tensor:
    logging.getLogger("talking").debug(f"{x[0].item():d}")
    return x + 1


@pytest.mark.parametrize("function", [divides_in_vain, reads_too_many, shows_as_whole])
def test_what_raises_at_a_level_that_is_off(function: Callable[..., Any]) -> None:
    """Python evaluates a call's arguments before the logger can say that it wants none."""
    same_program(function, CALLS, __file__, fullgraph=True)


@pytest.mark.parametrize("speculate", [True, False])
def test_what_does_more_than_talk_stays(speculate: bool) -> None:
    compiled = same_program(Counting(), CALLS, __file__, speculate=speculate)
    assert all(entry.mend != "postpone" for entry in compiled.report.mended)


def hidden(print: Callable[..., Any], logger: Any) -> Callable[[Any], Any]:  # noqa: A002
    def run(x: Any) -> Any:
        print("not the one that is built in", x.sum())
        logger.info(f"sum {x.sum()}")
        return x * 2

    return run


def test_a_local_of_a_known_name_is_what_it_is() -> None:
    said: list[Any] = []
    counter = Counter()
    compiled = mended_compile(hidden(lambda *values: said.append(len(values)), counter), backend="eager")
    compiled(torch.ones(2))
    compiled(torch.ones(2))
    assert said == [2, 2]
    assert counter.count == 2 * len("sum 2.0")
    assert not any("print" in reason for reason in reasons(compiled))


class Counted(logging.LoggerAdapter):  # type: ignore[type-arg,unused-ignore]
    """Does more than log: it counts."""

    def process(self, msg: Any, kwargs: Any) -> Any:
        self.count = getattr(self, "count", 0) + 1
        return super().process(msg, kwargs)


class Steps(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, log: Any) -> None:
        super().__init__()
        self.log = log
        self.step = 0

    def forward(self, x: Any) -> Any:
        self.step += 1
        self.log.extra["step"] = self.step
        self.log.warning("sum %s", x.sum())
        return x * getattr(self.log, "count", 2)


@pytest.mark.parametrize("kind", [logging.LoggerAdapter, Counted])
def test_an_adapter_that_changes_on_the_way(kind: Any) -> None:
    seen: list[Any] = []

    class Records(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record.step)  # type: ignore[attr-defined]

    log = logging.getLogger("steps")
    handler = Records()
    log.addHandler(handler)
    try:
        model = Steps(kind(log, {}))
        compiled = mended_compile(model, backend="eager")
        results = [compiled(torch.ones(1)).item() for _ in range(3)]
    finally:
        log.removeHandler(handler)
    assert seen == [1, 2, 3]
    assert results == ([2, 2, 2] if kind is logging.LoggerAdapter else [1, 2, 3])


def handles(x: Any) -> Any:
    try:
        int("x")
    except ValueError:
        logging.getLogger().exception("sum %s", x.sum())
    return x * 2


def test_the_exception_that_is_handled_is_told_of() -> None:
    seen: list[Any] = []

    class Records(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record.exc_info and record.exc_info[0])

    handler = Records()
    logging.getLogger().addHandler(handler)
    try:
        compiled = mended_compile(handles, backend="eager")
        compiled(torch.ones(1))
        compiled(torch.ones(1))
    finally:
        logging.getLogger().removeHandler(handler)
    assert seen == [ValueError, ValueError]


class Reporting:
    """Tells of what it sees leave its block."""

    def __enter__(self) -> Reporting:
        return self

    def __exit__(self, *left: Any) -> bool:
        logging.getLogger("reporting").error("left", exc_info=True)
        return True


def report(x: Any) -> None:
    logging.getLogger("reporting").exception("bad %s", x.sum())


def handled_by_a_caller(x: Any) -> Any:
    try:
        raise ValueError("known")
    except ValueError:
        report(x)
    return x + 1


def handled_by_a_block(x: Any) -> Any:
    with Reporting():
        raise ValueError("known")
    return x + 1


@pytest.mark.parametrize("function", [handled_by_a_caller, handled_by_a_block])
def test_the_exception_that_a_caller_handles_is_told_of(function: Any, caplog: pytest.LogCaptureFixture) -> None:
    compiled = mended_compile(function, backend="eager")
    for _ in range(2):
        compiled(torch.ones(1))
    seen = [record.exc_info for record in caplog.records if record.name == "reporting"]
    assert [told and told[0] for told in seen] == [ValueError, ValueError]


def test_a_class_that_no_name_leads_to() -> None:
    class Own(UserWarning):
        pass

    def shows(x: Any, mask: Any = None) -> Any:
        print(type(x), type(mask), [type(each) for each in (1, "a", None)], Own)
        return x + 1

    assert same_program(shows, CALLS, __file__).report.mended


def test_each_function_shows_its_own_class() -> None:
    def make(kind: type) -> Callable[..., Any]:
        def shows(x: Any) -> Any:
            warnings.warn("seen", kind, stacklevel=1)
            return x + 1

        return shows

    compiled = [mended_compile(make(type("Own", (UserWarning,), {})), backend="eager") for _ in range(2)]
    kinds = []
    for each in compiled * 2:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            each(torch.ones(1))
        kinds += [warning.category for warning in seen if warning.category.__name__ == "Own"]
    assert len(kinds) == 4 and kinds[:2] == kinds[2:] and kinds[0] is not kinds[1]


def test_what_is_computed_to_be_shown_is_computed_as_where_it_stands() -> None:
    weight = torch.nn.Parameter(torch.ones(3))

    def shows(x: Any) -> Any:
        print(weight[x.argmax().item()])
        with torch.no_grad():
            print(weight[x.argmax().item()], weight * x.sum().item())
            with torch.enable_grad():
                print(weight * x.sum().item())
        return x * weight

    assert not same_program(shows, CALLS, __file__).report.left
    with torch.no_grad():
        assert not same_program(shows, CALLS, __file__).report.left


class Named(torch.Tensor):  # type: ignore[misc,unused-ignore]
    def __repr__(self) -> str:
        return f"Named {tuple(self.shape)}"


def test_tensors_of_other_classes_are_shown_as_theirs() -> None:
    frozen = torch.nn.Parameter(torch.ones(2), requires_grad=False)

    def shows(x: Any) -> Any:
        print(frozen)
        frozen.mul_(0.5)
        print(x, x * 2)
        x.mul_(2)
        return x.sum()

    for kind in (torch.Tensor, Named):
        printed = []
        for call in (shows, mended_compile(shows, backend="eager")):
            frozen.data.fill_(1.0)
            with contextlib.redirect_stdout(io.StringIO()) as seen:
                for _ in range(3):
                    call(torch.ones(3).as_subclass(kind))
            printed.append(seen.getvalue())
        assert printed[0] == printed[1]


def test_how_tensors_are_printed_changes_on_the_way() -> None:
    def shows(x: Any) -> Any:
        torch.set_printoptions(precision=2)
        print(x / 3)
        torch.set_printoptions(profile="default")
        print(x / 3)
        return x + 1

    same_program(shows, CALLS, __file__)


def test_what_is_told_twice_is_one_object() -> None:
    items = [1]
    table = {"items": items}

    def tells(x: Any) -> Any:
        logging.getLogger("twice").warning("%s %s %s %s", items, [items, x], table, table)
        return x * 2

    told: list[Any] = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.args)  # type: ignore[method-assign]
    logger = logging.getLogger("twice")
    logger.addHandler(handler)
    try:
        mended_compile(tells, backend="eager", fullgraph=True)(torch.ones(2))
    finally:
        logger.removeHandler(handler)
    ((one, listed, first, second),) = told
    assert one == [1] and listed[0] is one and first is second and first["items"] is one


class Fills(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.table: dict[str, int] = {}

    def forward(self, x: Any) -> Any:
        print(self.table, len(self.table))
        self.table[f"call {len(self.table)}"] = 1
        return x * 2


def test_a_dict_that_fills_up_is_shown_as_it_is() -> None:
    printed = []
    for call in (Fills(), mended_compile(Fills(), backend="eager")):
        with contextlib.redirect_stdout(io.StringIO()) as seen:
            for _ in range(4):
                call(torch.ones(2))
        printed.append(seen.getvalue())
    assert printed[0] == printed[1]


def changes_while_it_shows(x: Any) -> Any:
    y = x + 1
    print(y.tolist(), y.add_(1).tolist())
    print(str(y), y.add_(1))
    print(f"{y.sum().item()} {y.add_(1).sum()}")
    print(float(y.view(-1)[0]), y.add_(1).sum())
    return y


def changes_a_list_while_it_shows(x: Any) -> Any:
    seen = [1]
    print(str(seen), seen.append(3), x.sum().item())  # type: ignore[func-returns-value]
    return x * 2


@pytest.mark.parametrize("program", [changes_while_it_shows, changes_a_list_while_it_shows])
def test_what_is_shown_is_read_before_a_later_argument_changes_it(program: Callable[..., Any]) -> None:
    same_program(program, CALLS, __file__)


BUFFER = io.StringIO()


def writes_elsewhere(x: Any) -> Any:
    before = sys.stdout
    sys.stdout = BUFFER
    print("elsewhere", x.sum())
    sys.stdout = before
    print("here", x.sum())
    return x + 1


def test_a_function_that_changes_where_texts_go() -> None:
    def told(run: Callable[..., Any]) -> tuple[str, str]:
        BUFFER.seek(0)
        BUFFER.truncate()
        with contextlib.redirect_stdout(io.StringIO()) as here:
            for _ in range(3):
                run(torch.ones(2))
        return BUFFER.getvalue(), here.getvalue()

    assert told(mended_compile(writes_elsewhere, backend="eager")) == told(writes_elsewhere)


def shows_parts(x: Any, name: str) -> Any:
    print(f"{name, 2} {float(x.detach().numpy()[0, 0])}", x.numpy()[1, 1:].tolist(), (name, x.shape)[1])
    return x + 1


def test_a_tuple_without_parentheses_is_one_value() -> None:
    compiled = same_program(shows_parts, [(torch.ones(2, 3), "a"), (torch.zeros(2, 3), "b")], __file__, fullgraph=True)
    assert compiled.report.whole
