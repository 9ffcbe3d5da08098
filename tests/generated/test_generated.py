"""Generated programs, as tests: a small campaign, the reducer, the planted bugs, and what the generator covers."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

import torch
import torch._logging._internal

from generated import subject as subjects
from generated.campaign import Request, run_campaign
from generated.compare import Difference, Rules, compare_values
from generated.forms import generate
from generated.known_differences import KNOWN, Explained
from generated.known_program import Program
from generated.observe import Event, Observation
from generated.planted import PLANTED, find
from generated.planted_product import PRODUCT, ProductBug
from generated.planted_speculation import SPECULATION
from generated.reduce import candidates, reduce_program
from generated.values import Describer
from generated.workers import Crash, Died, run_tasks

PROGRAMS = int(os.environ.get("GRAPHMEND_PROGRAMS", "300"))
AOT_PROGRAMS = int(os.environ.get("GRAPHMEND_AOT_PROGRAMS", "12"))
INDUCTOR_PROGRAMS = int(os.environ.get("GRAPHMEND_INDUCTOR_PROGRAMS", "20"))
JOBS = os.cpu_count() or 1
SIMULATED = Request("simulated", jobs=JOBS)
MENDED = Request("graphmend", jobs=JOBS)
SPECULATED = dataclasses.replace(MENDED, speculate=True)
SPECULATED_PROGRAMS = int(os.environ.get("GRAPHMEND_SPECULATED_PROGRAMS", "16"))

needs_product = pytest.mark.skipif("graphmend" not in subjects.available(), reason="graphmend is not built")


@pytest.fixture(autouse=True)
def _torch_tells_again() -> Iterator[None]:
    """A campaign silences torch in its process; the next test's may be of what torch tells."""
    yield
    torch._logging._internal.set_logs()


# Every construct that must be in the sample; the names are those that the writers count.
REQUIRED = """
meter.side meter.renamed meter.property meter.choice meter.operand meter.shown
form.module form.function form.closure form.method print print.sep print.end print.file print.flush print.star
print.starstar stream.write logger.debug logger.info logger.warning logger.warn logger.error logger.exception
logger.critical logger.fatal logger.log logging.debug logging.info logging.warning logging.error logging.critical
logging.log logging.exception log.exc_info log.stacklevel log.extra log.isEnabledFor warnings.warn warn.category
warn.stacklevel warn.instance guard guard.elif guard.else guard.oneline guard.statements_before raise.from raise.tensor
raise.from_caught raise.class raise.item raise.many assert assert.message assert.message_value test.equal test.allclose
test.not test.and test.or test.chain test.item test.bool test.walrus shown.item shown.fstring shown.percent shown.format
shown.shape shown.tensor shown.changed state.self state.global state.nonlocal mutate.inplace mutate.buffer rng.torch
rng.dropout rng.python rng.numpy module.norm helper helper.talks loop loop.while class.method class.private class.super
class.property branch branch.join branch.elif branch.no_else branch.nested branch.ternary branch.early_return
branch.attribute branch.pure backward context.no_grad context.inference_mode context.autocast context.inside
nested.compile input.leaf input.nonleaf input.alias input.view try.except try.finally shapes.change before.level
before.train try.except_fault try.suppress_fault try.finally_fault try.nested_fault try.else try.at_last try.call
fault.shapes fault.index fault.zero fault.cholesky identity identity.is identity.id identity.key identity.set
identity.attribute identity.hook identity.told_hook identity.changed loop.else loop.while_tensor match comprehension
told.once told.progress told.declared told.apart
before.thread before.stance before.again before.load before.copy
functions.checkpoint functions.inside functions.changed functions.derivative functions.cond
lambda counting global walrus with.device with.default_dtype with.redirected with.step with.branch
module.recurrent shadow.print shadow.int shadow.bool shadow.len shadow.warnings shadow.logger shadow.inside_print
shadow.inside_bool
""".split()

# The same of the programs that need values of tensors.
REQUIRED_WANTED = """
item int float bool tolist len_nonzero ternary bound_tensor size_tensor helper helper_branch arithmetic slice size split
mask masked_select nonzero as_tuple where unique set_mask where_rows index state branch branch_shapes early_return elif
loop_range loop_range_tensor loop_rows loop_elements loop_while loop_while_value loop_exit loop_sites occurrences raise
raise_lookup raise_assert raise_caught random of_random after_change shown ragged returned recursion
element set_element different operands dtype_changed dtype_numpy
""".split()


def test_generator_covers_every_construct() -> None:
    seen: Counter[str] = Counter()
    for index in range(1500):
        seen.update(generate(0, index).features)
    assert [name for name in REQUIRED if not seen[name]] == []


def test_generator_covers_every_value_that_python_needs() -> None:
    seen: Counter[str] = Counter()
    for index in range(1500):
        seen.update(generate(0, index, speculate=True).features)
    assert [name for name in REQUIRED_WANTED if not seen[f"wanted.{name}"]] == []
    assert all(seen[f"inputs.{pattern}"] for pattern in ("repeat", "alternate", "blocks", "change"))


def test_same_seed_same_program() -> None:
    assert generate(3, 14).text == generate(3, 14).text
    assert generate(3, 14).text != generate(4, 14).text
    assert generate(3, 14, speculate=True).text == generate(3, 14, speculate=True).text != generate(3, 14).text


@needs_product
@pytest.mark.parametrize(
    ("backend", "count"), [("eager", PROGRAMS), ("aot_eager", AOT_PROGRAMS), ("inductor", INDUCTOR_PROGRAMS)]
)
def test_programs_are_the_same_after_mending(backend: str, count: int) -> None:
    # Small batches on Inductor, so that both processes have work to the end.
    batch = {"eager": 40, "aot_eager": 10, "inductor": 2}[backend]
    summary = run_campaign(dataclasses.replace(MENDED, backend=backend, batch=batch, limit=240.0), range(count))
    assert summary.programs == count
    assert [(f.index, f.kind, f.text) for f in summary.failures] == []
    if backend == "eager" and count >= 300:
        assert all(summary.mended[mend] for mend in ("postpone", "check", "select"))
        assert summary.misses > 0


@needs_product
def test_programs_are_the_same_with_speculation() -> None:
    request = dataclasses.replace(SPECULATED, batch=10, limit=240.0)
    summary = run_campaign(request, range(SPECULATED_PROGRAMS))
    assert summary.programs == SPECULATED_PROGRAMS
    assert [(f.index, f.kind, f.text) for f in summary.failures] == []
    if SPECULATED_PROGRAMS >= 16:
        seen = summary.predicted
        assert summary.mended["speculate"] and seen.hits > seen.misses > 0 and seen.given_up


def test_simulation_without_bug_is_clean() -> None:
    assert run_campaign(SIMULATED, range(100)).kinds == Counter()


@needs_product
@pytest.mark.parametrize("bug", PRODUCT, ids=lambda bug: bug.name)
def test_bug_in_the_product_is_found(bug: ProductBug) -> None:
    assert find(bug, MENDED, 200) is not None


@needs_product
@pytest.mark.parametrize("bug", SPECULATION, ids=lambda bug: bug.name)
def test_bug_in_speculation_is_found(bug: ProductBug) -> None:
    assert find(bug, SPECULATED, 150) is not None


def test_at_least_twenty_bugs_are_planted_in_the_product() -> None:
    assert len({bug.name for bug in PRODUCT}) >= 20


def test_failing_program_is_reduced() -> None:
    bug = next(bug for bug in PLANTED if bug.name == "wrong-line")
    # One process, so that it is the same program each time, and is reduced in the same way.
    failure = find(bug, dataclasses.replace(SIMULATED, jobs=1), 200)
    assert failure is not None
    request = dataclasses.replace(SIMULATED, planted=bug.name, jobs=1)
    text, verdict = reduce_program(failure.text, failure.verdict, request, max_tests=40)
    assert verdict.kind == failure.kind
    assert len(text) <= len(failure.text) / 2


def test_a_program_whose_process_dies_runs_once_more(tmp_path: Path) -> None:
    def work(task: str) -> str:
        marker = tmp_path / task
        if task == "always" or (task == "once" and not marker.exists()):
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    answers = list(run_tasks(["first", "once", "always", "last"], work, jobs=2, batch=2, limit=60.0))
    ended = Crash(f"the process ended with status {int(signal.SIGKILL)}")
    assert sorted((task, type(answer)) for task, answer in answers if isinstance(answer, Died)) == [
        ("always", Died),
        ("once", Died),
    ]
    assert {task: answer for task, answer in answers if not isinstance(answer, Died)} == {
        "first": "first",
        "once": "once",
        "always": ended,
        "last": "last",
    }


def test_candidates_are_smaller_or_equal() -> None:
    text = generate(0, 0).text
    assert all(len(candidate) <= len(text) + 2 for candidate in candidates(text))


def test_known_differences_have_reasons() -> None:
    assert len({known.name for known in KNOWN}) == len(KNOWN)
    assert all(known.reason for known in KNOWN)


@pytest.mark.parametrize(("change", "differ"), [(0.0, 0), (1e-6, 0), (1e-5, 1), (float("nan"), 1)])
def test_only_gradients_may_differ_in_their_last_bits(change: float, differ: int) -> None:
    def described(grad: float) -> Any:
        tensor = torch.ones(2, requires_grad=True)
        tensor.grad = torch.tensor([grad, 3.0])
        return Describer().describe(tensor)

    one, other = described(0.5), described(0.5 + change)
    assert len(compare_values(one, other, Rules(gradient_units=16))) == differ
    assert len(compare_values(one, other, Rules())) == bool(change)
    assert len(compare_values(one.grad, other.grad, Rules(gradient_units=16))) == bool(change)


def explained(difference: Difference, eager: list[Observation], text: str = "") -> str | None:
    """The name of the entry that takes the difference, in a program with the filter `default`."""
    program = Program(f"{text}\nSETTINGS = {{'filter': 'default'}}", eager, eager, eager, Rules())
    known = Explained(program).entries(difference)
    return known[0].name if known else None


def test_only_warnings_that_were_given_may_come_again() -> None:
    first, second = ({"kind": "warning", "text": text} for text in ("gw first", "gw second"))
    log = {"kind": "log", "message": "gw"}
    calls: list[list[Event]] = [[first, log], [log, second]]
    eager = [Observation(events=events) for events in calls]

    def entry(*seen: Event) -> str | None:
        return explained(Difference((1, "events"), calls[1], list(seen)), eager)

    assert entry(first, log, second) == "warned-again"
    assert entry(log, second, second) == "warned-again"
    # One that is missing, too early, or new; something else that comes twice; another order.
    assert entry(log) is None
    assert entry(first, log) is None
    assert entry(second, log, second) is None
    assert entry({"kind": "warning", "text": "gw other"}, log, second) is None
    assert entry(log, log, second) is None
    assert entry(second, log, first) is None


def test_a_warning_that_comes_again_hides_nothing_but_a_history() -> None:
    def printed(text: str) -> Event:
        return {"kind": "stdout", "text": text}

    warned = {"kind": "warning", "text": "gw"}
    eager = [Observation(events=[warned]), Observation(events=[printed("tensor(1., grad_fn=<SumBackward0>)")])]

    def entry(text: str) -> str | None:
        return explained(Difference((1, "events"), eager[1].events, [warned, printed(text)]), eager)

    assert entry("tensor(1., grad_fn=<CompiledFunctionBackward>)") == "warned-again"
    assert entry("tensor(2., grad_fn=<CompiledFunctionBackward>)") is None
    assert entry("tensor(1.)") is None


@pytest.mark.parametrize(
    ("seen", "name"),
    [
        ("grad_fn=<CompiledFunctionBackward>)", "history"),
        ("\n  grad_fn=<CompiledFunctionBackward>)", "history"),
        ("grad_fn=<CloneBackward0>)", None),
        ("requires_grad=True)", None),
        (")", None),
    ],
)
def test_only_a_graphs_own_history_may_show(seen: str, name: str | None) -> None:
    expected = "tensor([1., 2.], grad_fn=<MulBackward0>) tensor(1., grad_fn=<SumBackward0>)"
    text = f"tensor([1., 2.], {seen} tensor(1., grad_fn=<SumBackward0>)"
    difference = Difference((0, "events", 0, "text"), expected, text)
    assert explained(difference, [Observation(events=[{"kind": "stdout", "text": expected}])]) == name
    other = Difference((0, "events", 0, "text"), expected, text.replace("2.", "3."))
    assert explained(other, [Observation()]) is None


@pytest.mark.parametrize(
    ("call", "text", "name"), [(1, "self.last = x", "history"), (1, "", None), (0, "self.last = x", None)]
)
def test_a_join_shows_only_in_what_an_earlier_call_stored(call: int, text: str, name: str | None) -> None:
    expected = "tensor(1., grad_fn=<SumBackward0>)"
    difference = Difference((call, "events", 0, "text"), expected, expected.replace("Sum", "Where"))
    assert explained(difference, [Observation(), Observation()], text=text) == name
