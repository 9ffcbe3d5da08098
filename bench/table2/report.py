"""The table as Markdown.

In: the numbers of every program, column and mode, and the raw places. Out: text.
Left out: measuring and summing; everything here is wording.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from bench.table2.columns import COMPILED, MENDED, PLAIN, TITLES
from bench.table2.summary import total

MEASURES = (
    ("breaks (graphs − 1)", "breaks"),
    ("distinct places (type, file, line)", "places"),
    ("ops captured", "ops"),
    ("frames skipped whole", "skipped"),
    ("graphs more in calls 2 and 3", "new_graphs"),
    ("calls in which the original ran instead", "misses"),
    ("compile under `fullgraph=True`", "fullgraph"),
    ("whole: that, no op lost, every effect and value", "whole"),
    ("same values as eager, bit for bit", "identical"),
    ("same effects, in order, from the same lines", "effects_same"),
)
HOW_TO_READ = (
    "A program stands for one or more rows of the paper's table. Settings are Dynamo's own remedies: logging methods "
    "are ignored, `print` and `warnings.warn` are reordered, scalars and dynamic shapes are captured; the next column "
    "adds nested graph breaks. Every column starts in a fresh process and makes three calls, which are compared with "
    "three calls in eager: outputs, inputs, buffers, random state, in train mode gradients, and effects (log records, "
    "warnings, lines on stdout; a line that a program itself keeps back when it is compiled is not asked for). Breaks, "
    "places and ops are those of the first call; plain's ops are counted in a run of their own, in which a program "
    "that asks whether it is compiled hears yes also where a break put it back into eager."
)
COUNTS_PROGRAMS = frozenset({"fullgraph", "whole", "identical", "effects_same"})


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]


def yes(value: bool) -> str:
    return "yes" if value else "no"


def seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def effects(numbers: dict[str, Any]) -> str:
    extra = f", {numbers['extra']} too many" if numbers["extra"] else ""
    moved = ", elsewhere" if not extra and numbers["delivered"] == numbers["expected"] else ""
    return f"{numbers['delivered']} of {numbers['expected']}{extra}{'' if numbers['effects_same'] else moved}"


def line(name: str, mode: str, column: str, numbers: dict[str, Any]) -> str:
    """One measured column, as progress."""
    return (
        f"{name:15}{mode:6}{column:9}{numbers['breaks']:3} breaks{numbers['places']:4} places{numbers['ops']:5} ops"
        f"{numbers['skipped']:3} skipped  fullgraph {yes(numbers['fullgraph']):3}  whole {yes(numbers['whole']):3}"
        f"  effects {effects(numbers)}  values {'same' if numbers['identical'] else 'DIFFER'}"
        f"  {numbers['first_call']:.1f} s"
    )


def sums(programs: dict[str, Any], columns: Sequence[str]) -> list[str]:
    """Every measure, summed over programs and over the paper's rows."""
    per_program = {name: total((1, one["columns"][name]) for one in programs.values()) for name in columns}
    per_row = {name: total((one["rows"], one["columns"][name]) for one in programs.values()) for name in columns}

    def cell(key: str, name: str, totals: dict[str, Any]) -> str:
        value = totals[name][key]
        return f"{value} of {totals[name]['of']}" if key in COUNTS_PROGRAMS else str(value)

    lines = []
    for title, totals in (("programs", per_program), ("rows", per_row)):
        rows = [[text, *(cell(key, name, totals) for name in columns)] for text, key in MEASURES]
        rows.append(
            ["effects delivered", *(f"{totals[name]['delivered']} of {totals[name]['expected']}" for name in columns)]
        )
        if title == "programs":
            rows.append(["first calls, s", *(seconds(totals[name]["first_call"]) for name in columns)])
            rows.append(["of which mending, s", *(seconds(totals[name]["mending"]) for name in columns)])
        if any(totals[name]["failed"] for name in columns):
            rows.append(["not measured (failed)", *(totals[name]["failed"] for name in columns)])
        count = next(iter(totals.values()))["of"]
        lines += [*table([f"over {count} {title}", *(TITLES[name] for name in columns)], rows), ""]
    return lines


def each(programs: dict[str, Any], columns: Sequence[str]) -> list[str]:
    head = (
        "program (rows)|column|breaks|places|ops|skipped|fullgraph|whole|effects|values|first call s|mending s".split(
            "|"
        )
    )
    rows: list[list[object]] = []
    for name, program in programs.items():
        for column in columns:
            numbers = program["columns"][column]
            label = f"{name} ({program['rows']})" if column == columns[0] else ""
            if "failed" in numbers:
                rows.append([label, TITLES[column], "failed", *[""] * 9])
                continue
            rows.append(
                [
                    label,
                    TITLES[column],
                    *(numbers[key] for key in ("breaks", "places", "ops", "skipped")),
                    yes(numbers["fullgraph"]),
                    yes(numbers["whole"]),
                    effects(numbers),
                    "same" if numbers["identical"] else "differ",
                    seconds(numbers["first_call"]),
                    seconds(numbers["mending"]),
                ]
            )
    return [*table(head, rows), ""]


def not_whole(programs: dict[str, Any], column: str) -> list[str]:
    """Why, for the column that matters."""
    rows = []
    for name, program in programs.items():
        numbers = program["columns"].get(column, {})
        text = numbers.get("failed") or numbers.get("not_whole") or "; ".join(numbers.get("differences", ()))
        if text:
            rows.append([name, text.replace("\n", " ")])
    return (
        [f"What keeps a program from being whole, {TITLES[column]}:", "", *table(["program", "why"], rows), ""]
        if rows
        else []
    )


def plain_places(programs: dict[str, Any]) -> list[str]:
    rows = [
        [name, place["gb_type"], f"{place['file']}:{place['line']}", f"`{place['source']}`"]
        for name, program in programs.items()
        for place in program["raw"].get(PLAIN, {}).get("places", ())
    ]
    head = ["program", "break", "place", "line"]
    return ["Where the programs break, plain:", "", *table(head, rows), ""]


def actions(programs: dict[str, Any]) -> list[str]:
    """What graphmend says it did with each place."""
    rows = [
        [name, f"{place['file']}:{place['line']}", place["gb_type"], place["action"], place["reason"] or ""]
        for name, program in programs.items()
        for place in (program["raw"].get(MENDED, {}).get("report") or {}).get("places", ())
    ]
    if not rows:
        return []
    return ["What became of each place:", "", *table(["program", "place", "break", "action", "reason"], rows), ""]


def markdown(results: dict[str, Any]) -> str:
    columns = [name for name in COMPILED if name in results["columns"]]
    made = (
        f"Made by `{results['command']}` on torch {results['torch']}, transformers {results['transformers']}, "
        f"Python {results['python']}, {results['machine']}."
    )
    lines = ["# The paper's rows", "", made, *results["remarks"], "", HOW_TO_READ, ""]
    for mode, programs in results["modes"].items():
        lines += [f"## {mode}", "", *sums(programs, columns), *each(programs, columns)]
        lines += [*not_whole(programs, columns[-1]), *plain_places(programs), *actions(programs)]
    return "\n".join(lines).rstrip() + "\n"
