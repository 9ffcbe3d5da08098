"""Inputs that make the rows' predictions wrong by themselves, case by case.

In: the arguments of one call of a program (programs.py). Out: the arguments to learn from, others of the same names and
shapes for which predictions are wrong, and of the predictions that no such input can make wrong, why.
Left out: longer texts and inputs that know nothing of the program (wrong.py).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

Inputs = dict[str, Any]

# Why predictions are never the first to be wrong.
SHAPES = "follows from the shapes of the inputs; for others the program is compiled anew"
SAME_NUMBER = "the number of line 922, which is looked at first"
RAISES = "wrong in the case above; here the graph raises without global words, before it is looked at"
FIRST_LAYER = "the number that the layer before it has, which is looked at first"
TESTED = "follows from what the tests of line 1914 came to before it"
SAME_PLACE = "follows from the tests of line 1914, or is a position of line 1918 again"


def as_given(inputs: Inputs) -> Inputs:
    return inputs


def no_others(inputs: Inputs) -> Iterator[Inputs]:
    yield from ()


@dataclass(frozen=True)
class Case:
    """A program with inputs to learn from, and others that are exchanged for them."""

    program: str
    # What the inputs to learn from have more than the program's own.
    title: str = ""
    given: Callable[[Inputs], Inputs] = as_given
    others: Callable[[Inputs], Iterator[Inputs]] = no_others
    # Weights that are multiplied, one after the other, so that half precision does not hold what is computed.
    spoilt: tuple[tuple[str, float], ...] = ()
    # Lines whose predictions are never the first to be wrong, and why.
    never: Mapping[int, str] = field(default_factory=dict)


def with_head_mask(inputs: Inputs) -> Inputs:
    return {**inputs, "head_mask": torch.ones(2, 2, dtype=torch.half)}


def spoilt_heads(inputs: Inputs) -> Iterator[Inputs]:
    """From one layer of the encoder on, nothing is a number any more."""
    for layer in range(2):
        mask = inputs["head_mask"].clone()
        mask[layer] = torch.nan
        yield {**inputs, "head_mask": mask}


def with_positions(inputs: Inputs) -> Inputs:
    return {**inputs, "position_ids": torch.arange(inputs["input_ids"].shape[1])[None]}


def far_positions(inputs: Inputs) -> Iterator[Inputs]:
    """The same number of words further back in a text: those of the pretraining end with the 16th."""
    for first in (4, 12, 16, 40):
        yield {**inputs, "position_ids": inputs["position_ids"] + first}


def with_masks(inputs: Inputs) -> Inputs:
    words = inputs["input_ids"]
    return {**inputs, "attention_mask": torch.ones_like(words), "global_attention_mask": torch.zeros_like(words)}


def with_global_words(inputs: Inputs) -> Inputs:
    """Two texts, of which one has three global words and the other one."""
    words = torch.cat([inputs["input_ids"], inputs["input_ids"].flip(-1)])
    return globally(with_masks({**inputs, "input_ids": words}), [0, 1, 2], [0])


def globally(inputs: Inputs, *texts: list[int]) -> Inputs:
    """The words at these positions of each text are global."""
    mask = torch.zeros_like(inputs["global_attention_mask"])
    for text, words in zip(mask, texts, strict=True):
        text[words] = 1
    return {**inputs, "global_attention_mask": mask}


def first_global_words(inputs: Inputs) -> Iterator[Inputs]:
    yield globally(inputs, [0])
    yield globally(inputs, [7, 13])
    mask = inputs["attention_mask"].clone()
    mask[:, 16:] = 0
    yield {**inputs, "attention_mask": mask}


def other_global_words(inputs: Inputs) -> Iterator[Inputs]:
    """Elsewhere; as many in the longest row but more in all; fewer in one; more in one; none. The rows are never one
    short, which would be a size of one."""
    for texts in (([3, 5, 7], [7]), ([0, 1, 2], [0, 1, 2]), ([0, 1], [0, 1]), ([0, 1, 2, 3], [0]), ([], [])):
        yield globally(inputs, *texts)


CLS, SEP = 101, 102


def with_pixel_mask(inputs: Inputs) -> Inputs:
    batch, _, height, width = inputs["pixel_values"].shape
    return {**inputs, "pixel_mask": torch.ones(batch, height, width, dtype=torch.bool)}


def with_special_words(inputs: Inputs) -> Inputs:
    words = inputs["input_ids"].clone()
    words[:, 0], words[:, 3], words[:, -1] = CLS, SEP, SEP
    return {**with_pixel_mask(inputs), "input_ids": words}


def other_pixels(inputs: Inputs) -> Iterator[Inputs]:
    """Images that end earlier, in width or in both."""
    for height, width in ((32, 16), (16, 24)):
        mask = torch.zeros_like(inputs["pixel_mask"])
        mask[:, :height, :width] = True
        yield {**inputs, "pixel_mask": mask}


def special_words_at(inputs: Inputs, *positions: int) -> Inputs:
    """A text of the same length with its special words elsewhere."""
    words = inputs["input_ids"].clone()
    words[(words == CLS) | (words == SEP)] = 5
    words[:, list(positions)] = SEP
    return {**inputs, "input_ids": words}


def some_special_words(inputs: Inputs) -> Iterator[Inputs]:
    yield special_words_at(inputs, 3)
    yield special_words_at(inputs, 0, 3, 7)
    yield from other_pixels(inputs)


def other_special_words(inputs: Inputs) -> Iterator[Inputs]:
    """At other places, as many of them or more or none."""
    for positions in ((0, 2, 7), (1, 3, 7), (0, 3, 6), (0, 3, 5, 7), ()):
        yield special_words_at(inputs, *positions)
    yield from other_pixels(inputs)


NORMS = tuple(f"model.encoder.layers.{layer}.final_layer_norm.weight" for layer in range(2))
TOO_LARGE = tuple((name, 32768.0) for name in NORMS)
# Where BART's attention is one operation, it looks at no masks of heads.
NO_NUMBER = tuple((name, math.nan) for name in NORMS)

CASES = (
    *(Case(name) for name in ("t5", "whisper")),
    Case("bart", spoilt=TOO_LARGE + NO_NUMBER),
    Case("opus-mt", given=with_head_mask, others=spoilt_heads, spoilt=TOO_LARGE),
    *(Case(name) for name in ("biogpt", "blenderbot", "pegasus", "layoutlmv3")),
    Case("phi", given=with_positions, others=far_positions),
    Case("longformer", "", with_masks, first_global_words, never=dict.fromkeys((747, 836, 880, 902), SHAPES)),
    Case(
        "longformer",
        "global words",
        with_global_words,
        other_global_words,
        never=dict.fromkeys((747, 836, 880, 902), SHAPES)
        | dict.fromkeys((950, 979, 981, 994, 1017, 1033, 1046, 1056, 1070, 1096, 1106, 1107), SAME_NUMBER)
        | {922: FIRST_LAYER, 1272: RAISES},
    ),
    Case(
        "grounding-dino",
        "",
        with_pixel_mask,
        some_special_words,
        never=dict.fromkeys((1512, 2050, 2051, 2055), SHAPES),
    ),
    Case(
        "grounding-dino",
        "special words",
        with_special_words,
        other_special_words,
        never=dict.fromkeys((1512, 2050, 2051, 2055), SHAPES)
        | dict.fromkeys((1914, 1915, 1916), TESTED)
        | dict.fromkeys((1918, 1919), SAME_PLACE),
    ),
    Case("clap", never={349: "follows from the number of line 904"}),
)
