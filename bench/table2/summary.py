"""From what the workers saw to the numbers of the table.

In: what was measured of one program in one column, with and without `fullgraph`. Out: one flat dict, and sums.
Left out: wording (report.py).
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from bench.table2 import effects

Numbers = dict[str, Any]
# The effects of each call that are asked for.
Expected = list[list[effects.Effect]]

SUMMED = ("breaks", "places", "ops", "skipped", "new_graphs", "misses", "delivered", "expected", "extra")
COUNTED = ("fullgraph", "whole", "identical", "effects_same")


def expected_effects(eager: Numbers, plain: Numbers) -> Expected:
    """What eager says in each call, without what the program itself keeps back when it is compiled."""
    said = [(of_eager["effects"], of_plain["effects"]) for of_eager, of_plain in both_calls(eager, plain)]
    return [effects.without(one, effects.withheld(one, other)) for one, other in said]


def both_calls(eager: Numbers, plain: Numbers) -> Iterable[tuple[Numbers, Numbers]]:
    return zip(eager["calls"], plain["calls"], strict=True)


def of_calls(raw: Numbers, expected: Expected) -> Numbers:
    """What was said and computed over all calls of one run."""
    pairs = zip(expected, raw["calls"], strict=True)
    compared = [effects.compare(wanted, call["effects"]) for wanted, call in pairs]
    return {
        "expected": sum(call["expected"] for call in compared),
        "delivered": sum(call["delivered"] for call in compared),
        "extra": sum(call["extra"] for call in compared),
        "effects_same": all(call["same"] for call in compared),
        "differences": [
            f"call {index}: {text}" for index, call in enumerate(raw["calls"], 1) for text in call["differences"]
        ],
    }


def lost_ops(plain: dict[str, int], seen: dict[str, int]) -> Counter[str]:
    """Ops that plain captures and this does not, by name: what a mend adds (a flag, a copy) cannot make up for them."""
    return Counter(plain) - Counter(seen)


def of_column(run: Numbers, full: Numbers, plain_ops: dict[str, int], expected: Expected) -> Numbers:
    """`whole`: one graph under `fullgraph`, no op lost against plain, every effect delivered, every value the same, or
    within the tolerance."""
    seen = of_calls(run, expected)
    numbers = {
        **seen,
        "breaks": run["graphs"] - 1,
        "places": len(run["places"]),
        "ops": sum(run["ops"].values()),
        "skipped": len(run["skipped"]),
        "new_graphs": run["new_graphs"],
        "misses": missed(run),
        "identical": not seen["differences"],
        "farthest": [max(call["farthest"][part] for call in run["calls"]) for part in range(2)],
        "errors": run["calls"][-1]["errors"],
        "first_call": run["calls"][0]["seconds"],
        "mending": run["report"]["seconds"] if run["report"] else None,
        "fullgraph": "broken" not in full and "failed" not in full,
        "whole": False,
        "not_whole": None,
    }
    numbers["not_whole"] = why_not_whole(full, plain_ops, expected)
    numbers["whole"] = numbers["not_whole"] is None and numbers["identical"] and numbers["effects_same"]
    return numbers


def why_not_whole(full: Numbers, plain_ops: dict[str, int], expected: Expected) -> str | None:
    """The first reason why the run under `fullgraph` is not the whole program, or None."""
    if "failed" in full:
        return str(full["failed"])
    if "broken" in full:
        place = full["broken"]
        return f"breaks: {place['gb_type']}, {place['file']}:{place['line']}"
    seen = of_calls(full, expected)
    by_dynamo = full["calls"][0]["dynamo"]
    if full["graphs"] != 1 or by_dynamo != {"graphs": 1, "breaks": 0}:
        return f"{full['graphs']} graphs; Dynamo counts {by_dynamo['graphs']}, and {by_dynamo['breaks']} breaks"
    lost = lost_ops(plain_ops, full["ops"])
    if lost:
        return f"loses {lost.total()} ops that plain captures: {', '.join(lost)}"
    if seen["delivered"] < seen["expected"]:
        return f"delivers {seen['delivered']} of {seen['expected']} effects"
    if not seen["effects_same"]:
        return "effects come from other lines, in another order, or too often"
    if seen["differences"]:
        return f"{seen['differences'][0]}"
    if missed(full):
        return f"the original ran in {missed(full)} of {len(full['calls'])} calls"
    return f"{full['new_graphs']} graphs more in later calls" if full["new_graphs"] else None


def missed(run: Numbers) -> int:
    """Calls in which the original ran instead of the graph: right, but not captured."""
    return run["report"]["misses"] if run["report"] else 0


def total(numbers: Iterable[tuple[int, Numbers]]) -> Numbers:
    """Sums of (weight, numbers); a program that failed in this column is only counted as such."""
    sums: Numbers = dict.fromkeys((*SUMMED, *COUNTED, "failed", "of"), 0)
    sums["mending"] = sums["first_call"] = 0.0
    for weight, one in numbers:
        sums["of"] += weight
        if "failed" in one:
            sums["failed"] += weight
            continue
        for key in (*SUMMED, *COUNTED):
            sums[key] += weight * int(one[key])
        sums["mending"] += weight * (one["mending"] or 0.0)
        sums["first_call"] += weight * one["first_call"]
    return sums
