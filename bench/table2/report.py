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
ON_INDUCTOR = (
    "Graphs are handed on to Inductor. Values of all three calls are compared as `torch.testing.assert_close` does "
    "when it is told nothing: a number may be off by 1.3e-6 of itself plus 1e-5. Behind each verdict stand the largest "
    "difference from eager, and the largest as a multiple of what is allowed for that number (in half precision 1e-3 "
    "of itself plus 1e-5). Inductor does not round to half precision where eager does, so programs in half precision, "
    "plain or mended, are farther from eager than that; they are judged as torch's own benchmarks judge them: by the "
    "same program in doubles, from which each tensor may be twice as far as eager's, in the root of the mean square. "
    "Behind those stand also how far eager is from it at most, and how far this is."
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


def values(numbers: dict[str, Any], backend: str) -> str:
    if backend == "eager":
        return "same" if numbers["identical"] else "differ"
    largest, multiple = numbers["farthest"]
    errors = "; in doubles {:.2g}, {:.2g}".format(*numbers["errors"]) if numbers["errors"] else ""
    return f"{'within' if numbers['identical'] else 'beyond'} ({largest:.2g}; {multiple:.2g}{errors})"


def measures(backend: str) -> list[tuple[str, str]]:
    within = "same values as eager, within the tolerance"
    return [(within if key == "identical" and backend != "eager" else text, key) for text, key in MEASURES]


def sums(programs: dict[str, Any], columns: Sequence[str], backend: str) -> list[str]:
    """Every measure, summed over programs and over the paper's rows."""
    per_program = {name: total((1, one["columns"][name]) for one in programs.values()) for name in columns}
    per_row = {name: total((one["rows"], one["columns"][name]) for one in programs.values()) for name in columns}

    def cell(key: str, name: str, totals: dict[str, Any]) -> str:
        value = totals[name][key]
        return f"{value} of {totals[name]['of']}" if key in COUNTS_PROGRAMS else str(value)

    lines = []
    for title, totals in (("programs", per_program), ("rows", per_row)):
        rows = [[text, *(cell(key, name, totals) for name in columns)] for text, key in measures(backend)]
        rows.append(
            ["effects delivered", *(f"{totals[name]['delivered']} of {totals[name]['expected']}" for name in columns)]
        )
        if title == "programs" and backend == "eager":
            rows.append(["first calls, s", *(seconds(totals[name]["first_call"]) for name in columns)])
            rows.append(["of which mending, s", *(seconds(totals[name]["mending"]) for name in columns)])
        if any(totals[name]["failed"] for name in columns):
            rows.append(["not measured (failed)", *(totals[name]["failed"] for name in columns)])
        count = next(iter(totals.values()))["of"]
        lines += [*table([f"over {count} {title}", *(TITLES[name] for name in columns)], rows), ""]
    return lines


def each(programs: dict[str, Any], columns: Sequence[str], backend: str) -> list[str]:
    head = "program (rows)|column|breaks|places|ops|skipped|fullgraph|whole|effects|values".split("|")
    # What Inductor has compiled once it finds on disk.
    timed = ("first_call", "mending") if backend == "eager" else ()
    head += ["first call s", "mending s"] if timed else []
    rows: list[list[object]] = []
    for name, program in programs.items():
        for column in columns:
            numbers = program["columns"][column]
            label = f"{name} ({program['rows']})" if column == columns[0] else ""
            if "failed" in numbers:
                rows.append([label, TITLES[column], "failed", *[""] * (len(head) - 3)])
                continue
            rows.append(
                [
                    label,
                    TITLES[column],
                    *(numbers[key] for key in ("breaks", "places", "ops", "skipped")),
                    yes(numbers["fullgraph"]),
                    yes(numbers["whole"]),
                    effects(numbers),
                    values(numbers, backend),
                    *(seconds(numbers[key]) for key in timed),
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
    backend = results["backend"]
    title = "# The paper's rows" if backend == "eager" else f"# The paper's rows on {backend.capitalize()}"
    lines = [title, "", made, *results["remarks"], "", HOW_TO_READ, ""]
    if backend != "eager":
        lines += [ON_INDUCTOR, ""]
    for mode, programs in results["modes"].items():
        lines += [f"## {mode}", "", *sums(programs, columns, backend), *each(programs, columns, backend)]
        lines += [*not_whole(programs, columns[-1]), *plain_places(programs), *actions(programs)]
    return "\n".join(lines).rstrip() + "\n"
