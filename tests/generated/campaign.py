"""Many programs. In: a seed, a count, a subject, a backend. Out: a Summary: counts, coverage, failing programs."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import logging
import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch._dynamo.guards
import torch._logging._internal
import torch.utils._device

from . import subject as subjects
from .forms import LARGEST, Program, generate
from .judge import Verdict, judge
from .subject import Predicted
from .workers import Crash, Died, run_tasks


@dataclass(frozen=True)
class Request:
    """What to run."""

    subject: str = "plain"
    backend: str = "eager"
    seed: int = 0
    jobs: int = 2
    batch: int = 40
    limit: float = 60.0
    # The name of a planted bug, if one is to be found.
    planted: str = ""
    # Whether programs need values of tensors, and the subject predicts them.
    speculate: bool = False
    # How many statements a program's function may have.
    size: int = LARGEST
    # The default device under which the programs run, if there is one.
    device: str = ""


@dataclass
class Failure:
    """A program that went wrong, and how."""

    name: str
    index: int
    kind: str
    text: str
    verdict: Verdict


@dataclass
class Summary:
    """What a run found."""

    programs: int = 0
    calls: int = 0
    events: int = 0
    wall: float = 0.0
    busy: float = 0.0
    # Programs that used each feature at least once.
    features: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    # Frames in which the original ran instead of the graph.
    misses: int = 0
    predicted: Predicted = field(default_factory=Predicted)
    known: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    # Processes that a signal ended, once, by the signal's status; their programs ran again and count as they did then.
    died: Counter[str] = field(default_factory=Counter)

    @property
    def kinds(self) -> Counter[str]:
        return Counter(failure.kind for failure in self.failures)


def prepare(backend: str) -> None:
    """Silences torch and warms what every worker needs, before the forks."""
    # Every break of every program, and all that raises while it is traced, would be reported once.
    torch._logging._internal.set_logs(all=logging.CRITICAL)
    _warm(backend)


@functools.cache
def _warm(backend: str) -> None:
    import tqdm  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
    import transformers.utils.logging  # noqa: F401

    torch.set_num_threads(1)
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    # The usual question, whether there is a GPU, makes CUDA useless in forks.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    if backend == "inductor":
        import torch._inductor.config as inductor

        inductor.compile_threads = 1
        # Inductor's own random stream is no one's fault: the committed list has it, and this takes it away.
        inductor.fallback_random = True
    # Dynamo times every new set of guards with the caches flushed; 15 % of a small program's time, for a log line.
    vars(torch._dynamo.guards)["profile_guard_manager"] = lambda *_: 0.0
    # Under a default device Dynamo walks through the making of this set for every operator: half of its time. Those of
    # sparse tensors it does not take as they are, and no program makes one.
    made = torch.utils._device._device_constructors()
    constructors = {constructor for constructor in made if "sparse" not in constructor.__name__}
    vars(torch.utils._device)["_device_constructors"] = lambda: constructors
    if torch.cuda.is_available():
        # A process that has begun with CUDA cannot fork any more; each worker begins by itself.
        return
    with warnings.catch_warnings():
        # What torch imports on first use warns of itself.
        warnings.simplefilter("ignore")
        torch.compile(lambda x: x * 2 if x.sum() > 0 else x - 1, backend=backend)(torch.ones(3))
    torch._dynamo.reset()
    # What is here stays: the workers' collections need not look at it, nor write into its pages.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def judge_text(text: str, request: Request, folder: Path, name: str = "") -> Verdict:
    """Judges a program given as text; its file is in `folder` while it runs."""
    # One name, one text: whoever remembers files by their names must not meet another text.
    name = name or f"p{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    try:
        subject = subjects.make(request.subject)
        # The context is a mode that Dynamo sees.
        place = torch.device(request.device) if request.device else contextlib.nullcontext()
        with place:
            if not request.planted:
                return judge(path, subject, request.backend)
            from . import planted

            with planted.plant(request.planted, subject):
                return judge(path, subject, request.backend)
    finally:
        path.unlink()


def run_campaign(
    request: Request,
    indices: Iterable[int],
    progress: Callable[[Summary], None] = lambda summary: None,
    enough: Callable[[Summary], bool] = lambda summary: False,
) -> Summary:
    """Judges the programs `indices` of the request's seed, until done or `enough`."""
    prepare(request.backend)
    if request.device not in ("", "cpu"):
        # Plain `torch.compile` makes of an assert what ends all use of a GPU in the process when it fails.
        indices = [i for i in indices if "assert" not in _program(request, i).features]
    if request.subject == "simulated":
        # It runs a call again from the start, and cannot have transformers forget what was said in vain.
        indices = [i for i in indices if "told.once" not in _program(request, i).features]
    summary = Summary()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="graphmend_generated_") as made:
        folder = Path(made)

        def work(index: int) -> Verdict:
            program = _program(request, index)
            return judge_text(program.text, request, folder, program.name)

        answers = run_tasks(indices, work, request.jobs, request.batch, request.limit)
        for index, answer in answers:
            if isinstance(answer, Died):
                summary.died[answer.reason] += 1
                continue
            verdict = Verdict(crash=answer.reason) if isinstance(answer, Crash) else answer
            _add(summary, request, index, verdict)
            summary.wall = time.monotonic() - started
            progress(summary)
            if enough(summary):
                answers.close()
                break
    return summary


def _program(request: Request, index: int) -> Program:
    # Which programs show a planted bug is known, and stays so when there are other asides.
    return generate(request.seed, index, request.speculate, not request.planted, request.size)


def _add(summary: Summary, request: Request, index: int, verdict: Verdict) -> None:
    program = _program(request, index)
    summary.programs += 1
    summary.calls += verdict.calls
    summary.events += verdict.events
    summary.busy += verdict.seconds
    summary.features.update(set(program.features))
    summary.mended.update(verdict.fired.mended)
    summary.left.update(verdict.fired.left)
    summary.misses += verdict.fired.misses
    summary.predicted.add(verdict.predicted)
    summary.known.update(set(verdict.known))
    summary.raised.update(verdict.raised)
    if verdict.kind:
        summary.failures.append(Failure(program.name, index, verdict.kind, program.text, verdict))
