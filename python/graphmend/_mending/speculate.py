"""Values that Python needs of tensors, predicted: where predictions come from, and when they are given up.

A prediction belongs to a compiled model, a site and an occurrence: the n-th time that a trace passes the site. While
Dynamo traces, the value is computed from the graph so far and the real inputs of this call (`Shadow`); nothing of the
user's program runs for it, and nothing is changed. The compiled graph compares. When it was wrong, the frame's own code
runs instead. What comes after which value is remembered: a value that came twice in a row, or twice after the same one,
is the next prediction, and Dynamo, which guards on predictions, finds the graph that was made for it or makes one. A
site that goes on being wrong is given up, and breaks the graph as it always did.
"""

import ast
import functools
import itertools
import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.fx

from graphmend._torch.graphs import is_torch_function, made_of
from graphmend._torch.markers import marker_name
from graphmend._torch.tensors import TorchDispatchMode, memory_of, random_state, set_random_state
from graphmend._torch.tracing import real_input, traced_root

# A site may miss this often, and once more for so many hits: a miss costs about two calls, and where a graph brings
# nothing, all of them together must not cost more than a few in a hundred. It may have graphs for this many values.
_PATIENCE = 4
_HITS_PER_MISS = 32
_MAX_VALUES = 6
# Of so many values it is known what comes after them.
_MAX_REMEMBERED = 64
# Larger tensors are seldom the same twice, and slow to compare number by number while tracing.
MAX_ELEMENTS = 256


class Predictions:
    """The predictions, as attributes, which is how Dynamo guards on each by itself. Text, so that none is symbolic."""


PREDICTIONS = Predictions()


@dataclass
class Site:
    """What is known of an occurrence of a site."""

    hits: int = 0
    misses: int = 0
    given_up: bool = False
    # The values that were predicted, each of which has a graph.
    values: set[str] = field(default_factory=set)
    # What came after a value the last time; and what has come once instead, and must come again to count.
    after: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    # What came last.
    last: str | None = None


# A model may be collected, and its sites with it, in the middle of any loop: loops go over a copy.
sites: dict[str, Site] = {}


def key_of(site: str, occurrence: int, model: int) -> str:
    return f"p{site}_{occurrence}_{model}"


def site_of(name: str) -> str:
    """The site of a prediction; a site itself is no prediction's name."""
    return name[1:].partition("_")[0] if name.startswith("p") else name


def _keys_of(model: int) -> list[str]:
    return [key for key in list(sites) if key.endswith(f"_{model}")]


def forget(model: int) -> None:
    """Nothing is known of a model's sites any more."""
    for key in _keys_of(model):
        del sites[key]
        vars(PREDICTIONS).pop(key, None)


def rate(of_sites: Iterable[str], model: int) -> tuple[int, int]:
    """How often a model's predictions at these sites were right, and how often they were looked at."""
    wanted = set(of_sites)
    known = [sites[key] for key in _keys_of(model) if site_of(key) in wanted and key in sites]
    return sum(site.hits for site in known), sum(site.hits + site.misses for site in known)


def give_up(keys: Iterable[str]) -> None:
    """Nothing is predicted there any more."""
    for key in keys:
        site = sites.get(key)
        if site is not None:
            _give_up(key, site)


def give_up_changing(keys: Iterable[str]) -> None:
    """Nothing is predicted there any more, unless it has always been the same."""
    give_up(key for key in keys if key in sites and len(sites[key].values) > 1)


def predict(key: str, value: Any) -> bool:
    """Makes the value of this call, which is being traced, the prediction; False if the site has been given up."""
    site = sites.setdefault(key, Site())
    if not site.given_up:
        _expect(key, site, encode(value))
    return not site.given_up


def hit(key: str, text: str) -> None:
    """A prediction was right."""
    site = sites.get(key)
    if site is None:
        # Forgotten while the call ran.
        return
    site.hits += 1
    if site.last is not None:
        site.doubts.pop(site.last, None)
    if site.last != text or text not in site.after:
        _came(key, site, text)


def missed(key: str, value: Any) -> None:
    """A prediction was wrong; the value that was seen is a candidate for the next one."""
    site = sites.get(key)
    if site is None:
        return
    text = encode(value)
    site.misses += 1
    before = site.last
    if site.misses > _PATIENCE + site.hits // _HITS_PER_MISS:
        _give_up(key, site)
        return
    # Once is chance: a rare value costs one run in eager, and no compilation.
    if before is not None and (before == text or site.doubts.get(before) == text):
        site.after[before] = text
    if before in site.after:
        site.doubts[before] = text
    _came(key, site, text)


def _came(key: str, site: Site, text: str) -> None:
    site.last = text
    if len(site.after) < _MAX_REMEMBERED:
        site.after.setdefault(text, text if text in site.values else getattr(PREDICTIONS, key))
    if text in site.after:
        _expect(key, site, site.after[text])


def _expect(key: str, site: Site, text: str) -> None:
    if text not in site.values and len(site.values) == _MAX_VALUES:
        _give_up(key, site)
        return
    site.values.add(text)
    if getattr(PREDICTIONS, key, None) != text:
        setattr(PREDICTIONS, key, text)


def _give_up(key: str, site: Site) -> None:
    site.given_up = True
    setattr(PREDICTIONS, key, "")


def python_value(tensor: torch.Tensor) -> Any:
    """What `tolist` gives; of a tensor with a single element and no dimension that is `item`."""
    return tensor.detach().tolist()


def encode(value: Any) -> str:
    """A bool, int, float or nested list of them as text; equal text means equal values, the sign of zero included."""
    if isinstance(value, list):
        return "[" + ",".join(encode(item) for item in value) + "]"
    if isinstance(value, float):
        return f"'{value.hex() if math.isfinite(value) else value}'"
    return repr(value)


@functools.lru_cache(maxsize=256)
def decode(text: str) -> list[Any]:
    """The items that were encoded, in order, however they were nested."""
    items: list[Any] = []
    stack = [ast.literal_eval(text)]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack += reversed(value)
        elif isinstance(value, str):
            items.append(float(value) if value in ("inf", "-inf", "nan") else float.fromhex(value))
        else:
            items.append(value)
    return items


class _ImpureError(Exception):
    """A value that cannot be computed ahead: it hangs on a generator of the user's, or on an input that was changed."""


class _Watch(TorchDispatchMode):  # type: ignore[misc,unused-ignore]
    """Lets through what only computes, and changes to what was made on the way."""

    def __init__(self, kept: set[int]) -> None:
        super().__init__()
        self.kept = kept

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace not in ("aten", "prims"):
            raise _ImpureError("it hangs on an operator that is not torch's own")
        if any(isinstance(value, torch.Generator) for value in (*args, *(kwargs or {}).values())):
            raise _ImpureError("it hangs on random numbers of a generator")
        # Its statistics are changed without a word in its schema.
        if "batch_norm" in func.__name__ and any(value is True for value in args):
            raise _ImpureError("it hangs on a normalisation that is being trained")
        given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | (kwargs or {})
        for argument in func._schema.arguments:
            if argument.alias_info is not None and argument.alias_info.is_write:
                value = given.get(argument.name)
                tensors = value if isinstance(value, (list, tuple)) else [value]
                for tensor in tensors:
                    if isinstance(tensor, torch.Tensor) and memory_of(tensor) in self.kept:
                        raise _ImpureError("it hangs on an input that is changed")
        return func(*args, **(kwargs or {}))


class Shadow:
    """The values of a graph that is being traced, on the real inputs of the call; computed when they are asked for."""

    def __init__(self) -> None:
        self.values: dict[torch.fx.Node, Any] = {}
        self.kept: set[int] = set()
        self.trouble: str | None = None

    def value(self, node: torch.fx.Node) -> Any:
        """The value of the node; raises `_ImpureError` where it cannot be told."""
        if self.trouble:
            raise _ImpureError(self.trouble)
        # What is drawn here is drawn again by the graph. It may be another number; the graph compares.
        state = random_state()
        try:
            with torch.no_grad(), _Watch(self.kept):
                before = itertools.takewhile(lambda each: each is not node, node.graph.nodes)
                for each in made_of([node], [*before, node]):
                    if each not in self.values:
                        self.values[each] = self._run(each)
        except _ImpureError as error:
            self.trouble = str(error)
            raise
        except Exception as error:
            self.trouble = f"computing it raises {type(error).__name__}"
            raise _ImpureError(self.trouble) from None
        finally:
            set_random_state(state)
        return self.values[node]

    def _run(self, node: torch.fx.Node) -> Any:
        if node.op == "placeholder":
            value = real_input(node)
            if isinstance(value, torch.Tensor):
                self.kept.add(memory_of(value))
            return value
        if node.op == "get_attr":
            value = operator.attrgetter(str(node.target))(traced_root())
            if isinstance(value, torch.Tensor):
                self.kept.add(memory_of(value))
            return value
        if marker_name(node.target):
            return None
        args = torch.fx.map_arg(node.args, lambda each: self.values[each])
        kwargs = torch.fx.map_arg(node.kwargs, lambda each: self.values[each])
        if node.op == "call_function" and is_torch_function(node.target):
            return node.target(*args, **kwargs)
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **kwargs)
        raise _ImpureError("it hangs on a part of the graph that is not computed ahead")


Impure = _ImpureError
