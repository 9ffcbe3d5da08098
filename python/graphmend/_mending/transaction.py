"""A call as a transaction: the graph runs on copies, then either everything it did counts, or nothing.

    run the graph on copies of what it mutates → look at the flags of the checks → deliver the effects in order
      all as predicted: commit the mutations, return
      otherwise, or if the graph or an effect raised: throw the copies away, put the random state back, raise `Miss`
      another thread has changed the same tensors meanwhile: the same, and begin anew

The frame around the graph (`recovery.Recovery`) answers a `Miss` by running the user's own code in eager, which is
always right.
"""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx

from graphmend._mending import effects, speculate
from graphmend._mending.history import with_history
from graphmend._torch import quiet_graphs
from graphmend._torch.compiling import StopRecomputation
from graphmend._torch.modes import Modes
from graphmend._torch.tensors import changes_counted, memory_of, random_state, set_random_state, version_of

# Held while what calls have changed is written back; nothing of the program's runs meanwhile, but what a signal calls.
_committing = threading.RLock()
if hasattr(os, "register_at_fork"):
    # The thread that holds it is not there in the child.
    os.register_at_fork(after_in_child=_committing._at_fork_reinit)  # type: ignore[attr-defined,unused-ignore]

# A call begins anew this often when other threads change the same tensors.
_ATTEMPTS = 100


class Miss(BaseException):
    """A prediction failed, or the graph or an effect raised; nothing has happened yet, but effects that were delivered.

    No `Exception`: user code catches those.
    """

    def __init__(
        self,
        delivered: Sequence[str] = (),
        error: BaseException | None = None,
        *,
        learnt: bool = False,
        raised: bool = False,
        single: bool = False,
        unmet: Any = None,
    ) -> None:
        super().__init__()
        # The sites of effects; the last of them raised, if there is an error.
        self.delivered = delivered
        self.error = error
        # It was a predicted value, and the next one may be better.
        self.learnt = learnt
        # The graph raised, which a wrong prediction may be the cause of.
        self.raised = raised
        # A size that is a symbol is one, and nothing else is amiss.
        self.single = single
        # What the graph takes for granted, and does not hold.
        self.unmet = unmet


class _NotCopiedError(Exception):
    """An input that the graph changes shares its memory with another, or must not be changed: a copy would show it."""


class _ChangedError(Exception):
    """Another thread has changed what the graph was given copies of; nothing has happened yet, but effects."""

    def __init__(self, delivered: Sequence[str]) -> None:
        super().__init__()
        self.delivered = delivered


@dataclass(frozen=True)
class Delivery:
    """An effect to deliver, and where its values come out."""

    site: str
    spec: str
    # Constants, or indices of outputs.
    ints: tuple[Any, ...]
    tensors: tuple[int, ...]


@dataclass(frozen=True)
class Seen:
    """A prediction: what was predicted, and where the value comes out."""

    key: str
    text: str
    value: int


@dataclass(frozen=True)
class Output:
    index: int


@dataclass(frozen=True)
class Plan:
    outputs: int
    flag: int | None
    seen: tuple[Seen, ...]
    # Where sizes come out that hang on values.
    sizes: tuple[int, ...]
    effects: tuple[Delivery, ...]
    # Outputs that are copies of an input, and of which.
    copies: dict[int, int]
    # Outputs that are shown as what requires grad, and the name of what made them.
    histories: dict[int, str | None]
    mutated: tuple[int, ...]
    # Where what becomes of an input comes out, if the graph does not change the one that it is given.
    made: dict[int, int]
    # Outputs that are such inputs.
    given_back: dict[int, int]
    unrecorded: frozenset[int]
    hidden: frozenset[int]
    # What is changed where autograd sees it: that is no leaf that requires grad.
    recorded: frozenset[int]
    # How often autograd counts each of them as changed: not at all behind its back, or by statistics.
    counted: dict[int, int]
    # Whether it switches modes, grad mode say, in which it may end.
    switches: bool
    random: bool
    # Whether the graph counts hangs on random numbers. When it does not, the frame's own code draws them again: they
    # must be the same, or what made it not count would come less often than it should.
    random_decides: bool

    def run(self, compiled: Callable[..., Any], *args: Any) -> Any:
        delivered: Sequence[str] = ()
        for _ in range(_ATTEMPTS):
            try:
                return self._run_once(compiled, args, delivered)
            except _ChangedError as error:
                delivered = error.delivered
        raise Miss(delivered, learnt=True)

    def _run_once(self, compiled: Callable[..., Any], args: Sequence[Any], delivered: Sequence[str]) -> Any:
        before = random_state() if self.random else None
        modes = Modes() if self.switches else None
        results: Any = None
        single = False
        try:
            versions = [version_of(args[i]) for i in self.mutated]
            working = list(args)
            if self.mutated:
                self._copy(working)
            with quiet_graphs.inside:
                results = compiled(*working)
            if (self.switches or self.copies) and torch.is_inference_mode_enabled():
                results = self._as_in_inference_mode(args, results)
            # On a GPU this is where the call is waited for.
            missed = self.flag is not None and bool(results[self.flag])
            # Dynamo takes it for granted that such a size is not one: nothing is broadcast or squeezed.
            single = not missed and bool(self.sizes) and any(results[i] == 1 for i in self.sizes)
            missed = missed or single
            if not missed:
                for seen in self.seen:
                    speculate.hit(seen.key, seen.text)
        except StopRecomputation as error:
            _put_modes_back(modes, error)
            raise
        except Exception as error:
            missed = True
            # It may have raised inside of `inference_mode`, say.
            _put_modes_back(modes, error)
        if missed:
            # It may have ended inside of `no_grad`, say.
            _put_modes_back(modes)
            put_back(set_random_state, before)
            if results is None:
                raise Miss(delivered, raised=True) from None
            raise Miss(delivered, learnt=self._learn(results), single=single) from None
        if not (self.effects or self.mutated or self.given_back):
            return tuple(results[: self.outputs])
        try:
            if not delivered:
                self._require_unchanged(args, versions, ())
                self._deliver(results)
            with _committing:
                self._require_unchanged(args, versions, [each.site for each in self.effects])
                return self._commit(args, working, results)
        except (Miss, _ChangedError):
            _put_modes_back(modes)
            put_back(set_random_state, before)
            raise

    def _learn(self, results: Sequence[Any]) -> bool:
        """The first value that was not as predicted is certain; those after it may come of that."""
        for seen in self.seen:
            value = speculate.python_value(results[seen.value])
            if speculate.encode(value) != seen.text:
                speculate.missed(seen.key, value)
                return True
        return False

    def _copy(self, working: list[Any]) -> None:
        """Puts copies in the place of what the graph changes."""
        storages = [memory_of(arg) for arg in working if isinstance(arg, torch.Tensor)]
        for i in self.mutated:
            if storages.count(memory_of(working[i])) > 1:
                raise _NotCopiedError
            if working[i].is_inference() and not torch.is_inference_mode_enabled():
                raise _NotCopiedError
            if i in self.recorded and working[i].is_leaf and working[i].requires_grad:
                raise _NotCopiedError
        for i in self.mutated:
            working[i] = _copy_of(working[i])

    def _require_unchanged(self, args: Sequence[Any], versions: Sequence[int | None], delivered: Sequence[str]) -> None:
        """What another thread has changed meanwhile would be lost, if what the graph made of the copies counted."""
        if any(version_of(args[i]) != version for i, version in zip(self.mutated, versions, strict=True)):
            raise _ChangedError(delivered)

    def _as_in_inference_mode(self, args: Sequence[Any], results: Sequence[Any]) -> Sequence[Any]:
        """Nothing that is made in it has a history, but AOTAutograd gives it one inside of `enable_grad`. A view of an
        input is what that is; its copy is made in the mode that rules."""
        made = [
            each.detach() if isinstance(each, torch.Tensor) and each.is_inference() and each.grad_fn else each
            for each in results
        ]
        if self.copies:
            with torch.inference_mode(False):
                for output, i in self.copies.items():
                    if not args[i].is_inference():
                        made[output] = made[output].clone()
        return made

    def _deliver(self, results: Sequence[Any]) -> None:
        def read(value: Any) -> Any:
            return results[value.index] if isinstance(value, Output) else value

        # What is shown twice is one object.
        made: dict[int, torch.Tensor] = {}

        def shown(i: int) -> torch.Tensor:
            if i in self.histories and i not in made:
                made[i] = _shown_as(results[i], self.histories[i])
            return made.get(i, results[i])

        for i, effect in enumerate(self.effects):
            try:
                # Made when they are asked for: a logger that is off asks for none.
                effects.deliver(effect.site, effect.spec, map(read, effect.ints), map(shown, effect.tensors))
            except BaseException as error:
                sites = [each.site for each in self.effects[: i + 1]]
                raise Miss(sites, effects.without_delivery(effect.site, error)) from None

    def _commit(self, args: Sequence[Any], working: Sequence[Any], results: Sequence[Any]) -> tuple[Any, ...]:
        returned = list(results[: self.outputs])
        for output, i in self.given_back.items():
            returned[output] = args[i]
        for i in self.mutated:
            put_back(self._copy_back, i, args[i], results[self.made[i]] if i in self.made else working[i])
            returned = [args[i] if output is working[i] else output for output in returned]
        return tuple(returned)

    def _copy_back(self, i: int, target: torch.Tensor, value: torch.Tensor) -> None:
        with changes_counted(target, self.counted[i]):
            if i in self.unrecorded:
                with torch.no_grad():
                    target.copy_(value)
            elif i in self.hidden or (target.is_leaf and target.requires_grad):
                # A leaf cannot have been changed in any other way.
                target.data.copy_(value.data)
            else:
                target.copy_(value)


def put_back(step: Callable[..., None], *args: Any) -> None:
    """Tries twice: half of a call must not count, and what puts something back is the same done twice."""
    try:
        step(*args)
    except Exception:
        step(*args)


def _put_modes_back(modes: Modes | None, error: BaseException | None = None) -> None:
    if modes is not None:
        put_back(modes.restore, error)


def _shown_as(tensor: torch.Tensor, name: str | None) -> torch.Tensor:
    if tensor.is_inference():
        return tensor
    # In inference mode nothing is recorded, also where the program enables gradients inside of it; views of what
    # requires grad still say so.
    return with_history(tensor, None if torch.is_inference_mode_enabled() else name)


def _copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides, gaps included. Raises where elements overlap."""
    copy = tensor.clone()
    if copy.stride() == tensor.stride():
        return copy
    made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return made.copy_(tensor)
