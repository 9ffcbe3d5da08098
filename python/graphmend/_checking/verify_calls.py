"""`graphmend.verify`: a model as it was written against the same model mended, call by call."""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from graphmend._checking.differences import Difference, Tolerance, differences
from graphmend._checking.observe import Observation, observe
from graphmend._checking.worlds import CopyError, World
from graphmend._mending.compile import compile as mended_compile
from graphmend._reporting.report import Report
from graphmend._torch.calls import backend_name, options_of_their_own, original_of, random_as_in_eager

__all__ = ["CopyError", "VerificationError", "verify"]


class VerificationError(AssertionError):
    """A mended model does something else than the original; `difference` says what, `report` what was mended."""

    def __init__(self, difference: Difference, variant: str, report: Report) -> None:
        shown = "\n".join(f"  {line}" for line in str(difference).split("\n"))
        super().__init__(f"graphmend: the mended model differs from the original; {variant}\n{shown}")
        self.difference = difference
        self.report = report


def verify(
    model: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    backend: Any = None,
    calls: int = 3,
    backward: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    **options: Any,
) -> Report:
    """Calls a model as it was written and mended, in eager and compiled, and raises `VerificationError` with the first
    difference. Returns the report of what was mended.

    >>> graphmend.verify(model, (x,))                     # doctest: +SKIP
    >>> graphmend.verify(step, (x, y), backend="eager")   # doctest: +SKIP

    `model` is a module, a function, or what `graphmend.compile` or `torch.compile` made of one; `args` and `kwargs` are
    the arguments of one call, which is made `calls` times. `backend` and further options are those of `torch.compile`;
    without `backend`, that of an already compiled model is taken, else `inductor`.

    Everything is tried on copies: the model, the arguments, the module-level values that its functions name (numbers,
    text, containers, tensors, modules, optimizers) and the random streams are yours and stay as they are. `CopyError`
    says what cannot be copied. Objects of other kinds at module level, files and the like are shared by all calls.

    Compared after each call: the result with all that is nested in it (numbers, dtype, shape, strides, device,
    requires_grad); the exception with its arguments; standard output and error, log records (logger, level, message,
    file, line, function) and warnings, in order; arguments, parameters, buffers, attributes and module-level values
    that were changed; gradients, after going backward from the result, unless `backward` is False; random streams.

    Numbers must be the same to the last bit with backend `eager`, and otherwise as `torch.testing.assert_close` wants
    them; `rtol` and `atol` set that. Inductor draws the random numbers of eager meanwhile. Where `torch.compile`
    without graphmend differs from eager in the same way, there is a warning and no error; and there is one where the
    original itself raises in every call, as arguments that it does not take make it.
    """
    original, own_backend = original_of(model)
    if not callable(original):
        raise TypeError(f"graphmend: expected a module or a function, found {type(original).__qualname__}")
    if isinstance(args, torch.Tensor) or not isinstance(args, Sequence):
        raise TypeError("graphmend: `args` is a tuple of the arguments of a call: verify(model, (x,))")
    if backend is None:
        backend = own_backend if own_backend is not None else "inductor"
    trial = _Trial(original, tuple(args), dict(kwargs or {}), backend, backward, options)
    is_exact = backend_name(backend) == "eager" and rtol is None and atol is None
    if rtol is not None or atol is not None:
        rtol, atol = rtol or 0.0, atol or 0.0
    tolerance = Tolerance(is_exact, rtol, atol)
    with random_as_in_eager():
        return _compare(trial, calls, tolerance)


class _Trial:
    """What is tried, and how."""

    def __init__(
        self,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        backend: Any,
        backward: bool,
        options: dict[str, Any],
    ) -> None:
        self.model = model
        self.args = args
        self.kwargs = kwargs
        self.backend = backend
        self.backward = backward
        self.options = {**options_of_their_own(), **options}

    def variant(self, compile_: Callable[..., Any] | None, eager: bool) -> "_Variant":
        world = World(self.model, self.args, self.kwargs)
        called = compile_(world.model, backend=self.backend, **self.options) if compile_ else world.model
        return _Variant(world, called, eager, self.backward)


class _Variant:
    """The model in a world of its own, run in one way."""

    def __init__(self, world: World, called: Callable[..., Any], eager: bool, backward: bool) -> None:
        self.world = world
        self.called = called
        self.eager = eager
        self.backward = backward
        self.seen = Observation()

    def call(self) -> None:
        stance = torch.compiler.set_stance("force_eager") if self.eager else contextlib.nullcontext()
        with self.world.entered(), stance:
            self.seen = observe(lambda: self.called(*self.world.args, **self.world.kwargs), self.backward)


def _compare(trial: _Trial, calls: int, tolerance: Tolerance) -> Report:
    original = trial.variant(None, eager=True)
    mended = trial.variant(mended_compile, eager=False)
    # After code was mended for tracing, eager must still run the user's own.
    mended_eager = trial.variant(mended_compile, eager=True)
    plain: _Variant | None = None
    # Without mends (they are switched off) there is no report.
    report = getattr(mended.called, "report", None)
    if not isinstance(report, Report):
        report = Report(name=getattr(trial.model, "__qualname__", type(trial.model).__qualname__))
    name = backend_name(trial.backend)
    raised = 0
    for number in range(1, calls + 1):
        for variant in (original, mended, mended_eager):
            variant.call()
        raised += original.seen.error is not None
        if plain is not None:
            plain.call()
        for found in _found(original, mended_eager, Tolerance(exact=True)):
            raise VerificationError(found, f"in eager, call {number} of {calls}", report)
        for found in _found(original, mended, tolerance):
            if plain is None:
                plain = trial.variant(torch.compile, eager=False)
                for _ in range(number):
                    plain.call()
            if any(found.where == other.where for other in _found(plain, mended, tolerance)):
                raise VerificationError(found, f"compiled with {name}, call {number} of {calls}", report)
            warnings.warn(
                f"graphmend: torch.compile itself differs from eager, with or without graphmend: {found}", stacklevel=4
            )
    if raised and raised == calls:
        error = original.seen.error
        warnings.warn(
            f"graphmend: the original raises in every call, and nothing that follows was compared: "
            f"{type(error).__qualname__}: {error}",
            stacklevel=4,
        )
    return report


def _found(one: _Variant, other: _Variant, tolerance: Tolerance) -> Iterator[Difference]:
    yield from differences("the exception", one.seen.error, other.seen.error, tolerance)
    yield from differences("the result", one.seen.result, other.seen.result, tolerance)
    yield from differences("what it wrote, logged and warned", one.seen.events, other.seen.events, tolerance)
    state = other.world.state()
    for kind, value in one.world.state().items():
        yield from differences(kind, value, state[kind], tolerance)
