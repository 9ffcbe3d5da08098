"""Values that Python needs of tensors, predicted: where predictions come from, and when they are given up.

A prediction belongs to a compiled model, a site and an occurrence: the n-th time that a trace passes the site. While
Dynamo traces, the value is computed from the graph so far and the real inputs of this call (`shadow.py`); nothing of
the user's program runs for it, and nothing is changed. The compiled graph compares. When it was wrong, the frame's own
code runs instead. What comes after which value is remembered: a value that came twice in a row, or twice after the same
one, is the next prediction, and Dynamo, which guards on predictions, finds the graph that was made for it or makes one.
A site that goes on being wrong is given up, and breaks the graph as it always did. Where no graph may break
(`fullgraph=True`) the graphs stay that there are, no more are made, and the frame's own code runs when they miss.
"""

import ast
import functools
import math
import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

# A site may miss this often, and once more for so many hits: a miss costs about two calls, and where a graph brings
# nothing, all of them together must not cost more than a few in a hundred. It may have graphs for this many values.
_PATIENCE = 4
HITS_PER_MISS = 32
_MAX_VALUES = 6
# Of so many values it is known what comes after them.
_MAX_REMEMBERED = 64
# Larger tensors are seldom the same twice, and slow to compare number by number while tracing.
MAX_ELEMENTS = 256
# A loop that needs a value in each of more rounds is left: unrolled, it is a large graph for just so many rounds.
MAX_ROUNDS = 64


class Predictions:
    """The predictions, as attributes, which is how Dynamo guards on each by itself. Text, so that none is symbolic."""


PREDICTIONS = Predictions()


@dataclass
class Site:
    """What is known of an occurrence of a site."""

    hits: int = 0
    misses: int = 0
    given_up: bool = False
    # No graph may break.
    stays: bool = False
    # The values that were predicted, each of which has a graph.
    values: set[str] = field(default_factory=set)
    # What came after a value the last time; and what has come once instead, and must come again to count.
    after: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    # What came last.
    last: str | None = None


# A model may be collected, and its sites with it, in the middle of any loop: loops go over a copy.
sites: dict[str, Site] = {}
# Sites at which a model predicts nothing any more, in whichever round.
_given_up: set[tuple[str, int]] = set()


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
    _given_up.difference_update([each for each in list(_given_up) if each[1] == model])


def rate(of_sites: Iterable[str], model: int) -> tuple[int, int]:
    """How often a model's predictions at these sites were right, and how often they were looked at."""
    wanted = set(of_sites)
    known = [sites[key] for key in _keys_of(model) if site_of(key) in wanted and key in sites]
    return sum(site.hits for site in known), sum(site.hits + site.misses for site in known)


def has_given_up(of_sites: Collection[str], model: int) -> bool:
    """Whether a model predicts something at one of these sites no more."""
    known = [key for key in _keys_of(model) if site_of(key) in of_sites]
    return any(key in sites and sites[key].given_up for key in known)


def give_up(keys: Iterable[str]) -> None:
    """Nothing is predicted there any more."""
    for key in keys:
        site = sites.get(key)
        if site is not None:
            _give_up(key, site)


def give_up_wrong(keys: Iterable[str], model: int) -> None:
    """Nothing is predicted any more at the sites of those of these predictions that were wrong, however often a trace
    passes there: the rounds of a loop take turns."""
    wrong = {site_of(key) for key in keys if key in sites and sites[key].misses}
    _given_up.update((site, model) for site in wrong)
    give_up(key for key in _keys_of(model) if site_of(key) in wrong)


def give_up_changing(keys: Iterable[str]) -> None:
    """Nothing is predicted there any more, unless it has always been the same."""
    give_up(key for key in keys if key in sites and len(sites[key].values) > 1)


def changes(key: str, value: Any) -> bool:
    """Whether something else than a value has been predicted before."""
    return key in sites and not sites[key].values <= {encode(value)}


def predict(key: str, value: Any, stays: bool) -> bool:
    """Makes the value of this call, which is being traced, the prediction; False if the site has been given up. The
    graphs that there are may have to stay."""
    place = site_of(key), int(key.rpartition("_")[2])
    site = sites.setdefault(key, Site(stays=stays, given_up=place in _given_up))
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
    if site.given_up:
        return
    if site.misses > _PATIENCE + site.hits // HITS_PER_MISS:
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
    if text not in site.values and (site.given_up or len(site.values) == _MAX_VALUES):
        _give_up(key, site)
        return
    site.values.add(text)
    if getattr(PREDICTIONS, key, None) != text:
        setattr(PREDICTIONS, key, text)


def _give_up(key: str, site: Site) -> None:
    site.given_up = True
    if not site.stays:
        setattr(PREDICTIONS, key, "")


def python_value(tensor: torch.Tensor) -> Any:
    """What `tolist` gives; of a tensor with a single element and no dimension that is `item`."""
    return tensor.detach().tolist()


def encode(value: Any) -> str:
    """A bool, int, float or nested list of them as text; equal text means equal values, to the sign of a zero and the
    bits of a NaN, of which graphs know one."""
    if isinstance(value, list):
        return "[" + ",".join(encode(item) for item in value) + "]"
    if isinstance(value, float):
        if math.isnan(value) and struct.pack("d", value) != struct.pack("d", math.nan):
            return f"'nan {struct.pack('>d', value).hex()}'"
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
            items.append(float(value[:4]) if value in ("inf", "-inf") or "nan" in value else float.fromhex(value))
        else:
            items.append(value)
    return items
