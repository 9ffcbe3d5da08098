"""The report as one page that needs nothing else: no script, no network, light and dark.

In: reports. Out: HTML. Every text that comes from the program is escaped.
"""

import ast
import io
import keyword
import linecache
import re
import string
import tokenize
import zlib
from collections.abc import Iterable, Sequence
from html import escape

from graphmend._reporting.edits import Change, Row
from graphmend._reporting.html_style import STYLE
from graphmend._reporting.report import Break, Report, counted, distinct, shown_path

# Functions longer than this are shown around their marked lines only.
_MOST_LINES = 90
_CONTEXT = 8

_PAGE = string.Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>graphmend: $title</title>
<style>$style</style>
</head>
<body>
<main>
<header>
<p class="brand">graphmend</p>
<h1>$verdict</h1>
<p class="program">$program</p>
</header>
<section class="numbers" aria-label="numbers">$numbers</section>
$left
$source
$calls
</main>
</body>
</html>
""")

_LEFT = string.Template("""<section>
<h2>What is left, and what to do</h2>
<ol class="left">$items</ol>
</section>
""")

_LEFT_ITEM = string.Template("""<li>
<p class="where"><a href="#$anchor" title="$path">$place</a> <span>in <code>$function</code></span></p>
<pre class="one"><code>$code</code></pre>
<dl>
<dt>Dynamo says</dt><dd>$type</dd>
<dt>Left because</dt><dd>$reason</dd>
$decides<dt>What to do</dt><dd class="advice">$advice</dd>
</dl>
$change</li>
""")

_FUNCTION = string.Template("""<article>
<h3><code>$function</code> <span title="$path">$file</span> $badges</h3>
<div class="code" tabindex="0" role="region" aria-label="source of $function"><table>$rows</table></div>
</article>
""")

_NOTE = string.Template("""<tr class="note $kind"><td></td><td><div><b>$label</b> $text
<span class="type">$type</span></div></td></tr>
""")

_CALL = string.Template("""<tr><td><code>$name</code></td><td>$state</td><td>$before</td><td>$after</td>
<td>$graphs</td><td>$ops</td><td>$calls</td><td>$misses</td><td>$seconds</td></tr>
""")

_CALLS = string.Template("""<section>
<h2>What was compiled</h2>
<div class="scroll" tabindex="0" role="region" aria-label="what was compiled"><table class="calls">
<thead><tr><th>name</th><th>state</th><th>breaks before</th><th>after</th><th>graphs</th><th>ops</th>
<th>calls</th><th>original ran</th><th>seconds to mend</th></tr></thead>
<tbody>$rows</tbody>
</table></div>
</section>
""")


def page(reports: Sequence[Report], program: str = "") -> str:
    """The page for these reports; `program` is the command line, if there is one."""
    used = [report for report in reports if report.is_used]
    mended = distinct(entry for report in used for entry in report.mended)
    left = distinct(entry for report in used for entry in report.left)
    names = [report.name for report in used if report.name]
    title = program or ", ".join(dict.fromkeys(names)) or "report"
    return _PAGE.substitute(
        title=escape(title),
        style=STYLE,
        verdict=_verdict(used, mended, left),
        program=escape(program),
        numbers=_numbers(used, mended, left),
        left=_LEFT.substitute(items="".join(map(_left_item, left))) if left else "",
        source=_sources([*mended, *left]),
        calls=_CALLS.substitute(rows="".join(map(_call, used))) if used else "",
    )


def _verdict(used: Sequence[Report], mended: Sequence[Break], left: Sequence[Break]) -> str:
    if not used:
        return "Nothing that was compiled was called"
    if left:
        places = counted(len(left), "place") + (f" of {len(mended) + len(left)} still" if mended else "")
        return f"{places} {'breaks' if len(left) == 1 else 'break'} the graph"
    return "Captured whole" if mended else "Nothing broke the graph"


def _numbers(used: Sequence[Report], mended: Sequence[Break], left: Sequence[Break]) -> str:
    graphs = sum(report.graphs for report in used)
    misses = sum(report.misses for report in used)
    calls = sum(report.calls for report in used)
    before, after = len(mended) + len(left), len(left)
    compiled = f"{misses} ran your own code instead" if misses else "all of them compiled"
    tiles = [
        (
            "breaks",
            f'<s>{before}</s><i aria-label="now">→</i>{after}' if mended else str(before),
            "places, before and now" if mended else "places",
        ),
        ("graphs", str(graphs), f"for {counted(len(used), 'compiled callable')}"),
        ("operations", f"{sum(report.ops for report in used):,}".replace(",", "\u202f"), "captured in the graphs"),
        ("calls", str(calls), f"{compiled}; each part between breaks counts" if left else compiled),
    ]
    if mended:
        tiles.append(("to mend", f"{sum(report.seconds for report in used):.2f} s", "once, at the first call"))
    kinds = {"breaks": "warn" if left else "good"}
    return "".join(
        f'<div class="{kinds.get(name, "plain")}"><h2>{name}</h2><p>{value}</p><small>{note}</small></div>'
        for name, value, note in tiles
    )


def _anchor(entry: Break) -> str:
    # The same page for the same reports, which `hash` would not give.
    return f"line-{entry.line}-{zlib.crc32(entry.file.encode('utf-8', 'replace')):08x}"


def _short_path(file: str) -> str:
    """Without the folder that packages are installed in, which says nothing and is long."""
    return re.sub(r"^.*[/\\](site|dist)-packages[/\\]", "", shown_path(file))


def _left_item(entry: Break) -> str:
    return _LEFT_ITEM.substitute(
        anchor=_anchor(entry),
        path=escape(entry.file),
        place=escape(f"{_short_path(entry.file)}:{entry.line}"),
        function=escape(entry.function),
        code=_coloured([entry.source])[0],
        type=escape(entry.gb_type),
        reason=escape(entry.reason or "no mend is known for it"),
        decides=f"<dt>You decide</dt><dd>{_with_code(entry.decides)}</dd>\n" if entry.decides else "",
        advice=_with_code(entry.advice),
        change=_change(entry.change),
    )


def _change(change: Change | None) -> str:
    """The diff, with where to put lines that have no number."""
    return "".join(map(_part, change.parts())) if change else ""


def _part(part: tuple[str, tuple[Row, ...]]) -> str:
    where, rows = part
    lines = "".join(
        f'<span class="{"goes" if row.sign == "-" else "comes"}">{row.sign} {_coloured([row.text])[0]}</span>\n'
        for row in rows
    )
    head = f"<p>{_with_code(where)}:</p>" if where else ""
    return f'{head}<pre class="one"><code>{lines}</code></pre>\n'


def _with_code(text: str) -> str:
    """Backticks become code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def _call(report: Report) -> str:
    state = '<em class="good">whole</em>' if report.whole else f'<em class="warn">{len(report.left)} left</em>'
    return _CALL.substitute(
        name=escape(report.name or "(without a name)"),
        state=state,
        before=len(report.breaks),
        after=len(report.left),
        graphs=report.graphs,
        ops=report.ops,
        calls=report.calls,
        misses=report.misses,
        seconds=f"{report.seconds:.2f}",
    )


def _sources(entries: Sequence[Break]) -> str:
    """Each function that breaks, with its source and what became of its marked lines."""
    files: dict[str, list[Break]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.file, entry.line)):
        files.setdefault(entry.file, []).append(entry)
    articles = []
    for file, places in files.items():
        lines = [line.rstrip("\r\n") for line in linecache.getlines(file)]
        functions = _functions("\n".join(lines))
        groups: dict[tuple[int, int], list[Break]] = {}
        for entry in places:
            around = (max(1, entry.line - _CONTEXT), min(len(lines), entry.line + _CONTEXT))
            inside = [extent for extent in functions if extent[0] <= entry.line <= extent[1]]
            groups.setdefault(max(inside, default=around), []).append(entry)
        articles += [_function(file, lines, extent, group) for extent, group in groups.items()]
    return f"<section><h2>Source</h2>{''.join(articles)}</section>" if articles else ""


def _functions(text: str) -> list[tuple[int, int]]:
    """First and last line of every function, decorators included; the innermost of several begins last."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def _function(file: str, lines: list[str], extent: tuple[int, int], places: list[Break]) -> str:
    first, last = extent
    coloured = _coloured(lines[first - 1 : last])
    marked: dict[int, list[Break]] = {}
    for entry in places:
        marked.setdefault(entry.line, []).append(entry)
    shown = set(range(first, last + 1))
    if len(shown) > _MOST_LINES:
        shown = {line for place in marked for line in range(place - _CONTEXT, place + _CONTEXT + 1)} | {first}
    rows = []
    previous = first - 1
    for number in sorted(shown & set(range(first, first + len(coloured)))):
        if number > previous + 1:
            rows.append(f'<tr class="gap"><td></td><td>{counted(number - previous - 1, "line")} left out</td></tr>')
        previous = number
        rows.append(_row(number, coloured[number - first], marked.get(number, [])))
    mended = sum(bool(entry.mend) for entry in places)
    badges = f'<em class="good">{mended} mended</em> ' if mended else ""
    if len(places) > mended:
        badges += f'<em class="warn">{len(places) - mended} left</em>'
    return _FUNCTION.substitute(
        function=escape(places[0].function),
        path=escape(file),
        file=escape(f"{_short_path(file)}:{first}"),
        badges=badges,
        rows="".join(rows),
    )


def _row(number: int, code: str, places: Iterable[Break]) -> str:
    places = list(places)
    if not places:
        return f"<tr><td>{number}</td><td><code>{code}</code></td></tr>"
    kind = "good" if all(entry.mend for entry in places) else "warn"
    row = f'<tr class="mark {kind}" id="{_anchor(places[0])}"><td>{number}</td><td><code>{code}</code></td></tr>'
    for entry in places:
        row += _NOTE.substitute(
            kind="good" if entry.mend else "warn",
            label=escape(f"mended · {entry.mend}" if entry.mend else "left"),
            text=escape(f"{entry.done}{entry.hit_rate}" or entry.reason or "no mend is known for it"),
            type=escape(entry.gb_type),
        )
    return row


def _coloured(lines: list[str]) -> list[str]:
    """Lines as HTML with keywords, strings, numbers and comments marked; plain where Python cannot read them."""
    marks: dict[int, list[tuple[int, int, str]]] = {}
    # An f-string is one string from its start to its end, whatever tokens a newer Python sees in it.
    began: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            name = tokenize.tok_name[token.type]
            start, end = token.start, token.end
            if name.endswith("STRING_START"):
                began.append(start)
                continue
            if name.endswith("STRING_END"):
                start = began.pop()
                kind = "s"
            elif began:
                continue
            else:
                kind = _kind(token)
            for row in range(start[0], end[0] + 1) if kind else ():
                column = start[1] if row == start[0] else 0
                stop = end[1] if row == end[0] else len(lines[row - 1])
                marks.setdefault(row, []).append((column, stop, kind))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass
    return [_marked(line, marks.get(number, [])) for number, line in enumerate(lines, 1)]


def _kind(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return "k" if keyword.iskeyword(token.string) else ""
    return {tokenize.STRING: "s", tokenize.NUMBER: "n", tokenize.COMMENT: "c"}.get(token.type, "")


def _marked(line: str, marks: list[tuple[int, int, str]]) -> str:
    parts = []
    at = 0
    for start, end, kind in sorted(marks):
        if start < at:
            continue
        parts += [escape(line[at:start]), f'<span class="{kind}">{escape(line[start:end])}</span>']
        at = end
    return "".join([*parts, escape(line[at:])])
