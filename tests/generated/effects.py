"""Statements that talk to the outside: print, logging, warnings, streams. In: a Writer. Out: lines.

Every text is made of what the program has at that moment, so that a value of another moment is seen.
"""

from __future__ import annotations

from . import expressions as e
from .writer import Choice, Writer

_LEVELS = ["debug", "info", "warning", "error", "critical"]


def shown(w: Writer) -> str:
    """An expression whose text is worth showing."""
    choices: list[Choice] = [
        (3, lambda w: f'"{w.choose(["loss", "step", "a b", "50%", "{}", "é"])}"'),
        (3, e.integer),
        (2, lambda w: _used(w, "shown.shape", w.choose([f"{e.full_name(w)}.shape", f"tuple({e.full_name(w)}.shape)"]))),
        (2, lambda w: _used(w, "shown.tensor", e.full_name(w))),
        (2, lambda w: _used(w, "shown.scalar", e.scalar(w))),
        (3, item),
        (3, fstring),
        (1.5, percent),
        (1.5, formatted),
        (0.5, lambda w: f"{e.full_name(w)}.dtype"),
        (0.5, lambda w: _used(w, "shown.tolist", f"{e.full_name(w)}[0].tolist()")),
        (0.5, lambda w: _used(w, "shown.detach", f"{e.full_name(w)}.detach()")),
        (0.5, lambda w: f"str({e.scalar(w)})"),
        (0.4, lambda w: f'"mean " + str({item(w)})'),
        (0.3, lambda w: _used(w, "shown.lazy", "TAG")),
        (0.5, lambda w: _used(w, "shown.comprehension", _comprehension(w))),
        (0.5, lambda w: _used(w, "shown.raises", _raising(w))),
        (0.3, lambda w: "None"),
    ]
    if w.frame.has_self:
        choices += [(1, lambda w: "self.count"), (0.7, lambda w: "self.items"), (0.7, lambda w: "self.table")]
        choices += [(0.6, lambda w: _used(w, "shown.last", "self.last"))]
    if w.frame.in_class:
        choices += [(0.7, lambda w: _used(w, "class.private", "self.__secret"))]
        choices += [(0.5, lambda w: _used(w, "class.super", "super().describe()"))]
        choices += [(0.5, lambda w: _used(w, "class.property", "self.twice"))]
    if w.frame.is_module:
        choices += [(0.7, lambda w: "self.training"), (0.7, lambda w: _used(w, "shown.buffer", "self.buf"))]
    if w.names("items"):
        choices += [(1, lambda w: w.choose(w.names("items")))]
    return w.pick_text(choices)


def _comprehension(w: Writer) -> str:
    name = e.full_name(w)
    return w.choose(
        [
            f"[v.item() for v in {name}[0]]",
            f"{{i: round(v.item(), 3) for i, v in enumerate({name}[0])}}",
            f'", ".join(f"{{v.sum().item():.2f}}" for v in {name})',
            f"sum(v.item() for v in {name}[-1])",
            f"[[float(v) for v in row] for row in {name}]",
        ]
    )


def _raising(w: Writer) -> str:
    """What raises for some values, inside of what is shown."""
    return w.choose([f"1 / round({item(w)})", f"[1, 2, 3][round({item(w)})]", f"7 // int({item(w)})"])


def _used(w: Writer, feature: str, text: str) -> str:
    w.use(feature)
    return text


def item(w: Writer) -> str:
    w.use("shown.item")
    text = f"{e.scalar(w)}.item()"
    return f"round({text}, 3)" if w.chance(0.3) else text


def fstring(w: Writer) -> str:
    w.use("shown.fstring")
    fields = []
    for _ in range(w.random.randint(1, 2)):
        fields.append(
            w.choose(
                [
                    "{" + item(w) + ":.3f}",
                    "{" + e.scalar(w) + ":.2f}",
                    "{" + e.integer(w).replace('"', "'") + "}",
                    "{" + e.full_name(w) + ".shape}",
                    "{tuple(" + e.full_name(w) + ".shape)!r:>12}",
                    "{" + e.full_name(w) + ".sum()=}",
                    "{" + e.scalar(w) + "}",
                    "{" + e.full_name(w) + ".mean().item():{6}.{2}}",
                ]
            )
        )
    return 'f"' + w.choose(["", "at ", "{{}} "]) + " ".join(fields) + '"'


def percent(w: Writer) -> str:
    w.use("shown.percent")
    return w.choose(
        [
            f'"%.3f" % {item(w)}',
            f'"%s of %d" % ({e.scalar(w)}, {e.integer(w)})',
            f'"%(n)d" % {{"n": {e.integer(w)}}}',
        ]
    )


def formatted(w: Writer) -> str:
    w.use("shown.format")
    return w.choose(
        [
            f'"{{:.3f}}".format({item(w)})',
            f'"{{0}}/{{n}}".format({e.scalar(w)}, n={e.integer(w)})',
            f'"{{}} {{}}".format({e.full_name(w)}.shape, {e.integer(w)})',
        ]
    )


def print_call(w: Writer) -> None:
    w.use("print")
    arguments = [shown(w) for _ in range(w.random.randint(0, 3))]
    if w.chance(0.07):
        w.use("print.star")
        arguments.append(f"*[{shown(w)}, {shown(w)}]")
    keywords = []
    if w.chance(0.2):
        keywords.append(_used(w, "print.sep", f"sep={w.choose(['None', repr('-'), repr(''), repr(', ')])}"))
    if w.chance(0.2):
        end = w.choose(["None", '""', r'"|\n"', f'f" {{{e.scalar(w)}:.1f}}\\n"'])
        keywords.append(_used(w, "print.end", f"end={end}"))
    if w.chance(0.2):
        keywords.append(_used(w, "print.file", f"file={w.choose(['sys.stderr', 'sys.stdout', 'None'])}"))
    if w.chance(0.15):
        keywords.append(_used(w, "print.flush", f"flush={w.choose(['True', 'False'])}"))
    if w.chance(0.04):
        keywords.append(
            _used(
                w, "print.starstar", '**{"end": ";\\n"}' if not any(k.startswith("end") for k in keywords) else "**{}"
            )
        )
    w.random.shuffle(keywords)
    keywords.sort(key=lambda text: text.startswith("**"))
    w.line(w.call("print", arguments + keywords))


def stream_write(w: Writer) -> None:
    w.use("stream.write")
    w.line(f'sys.{w.choose(["stdout", "stderr"])}.write({fstring(w)} + "\\n")')


def log_call(w: Writer, in_handler: bool = False) -> None:
    """One call of a Logger method or of a function of the logging module."""
    bases = ["logger"] * 5 + ["logging"] * 2 + ["ADAPTER"]
    if w.frame.has_self:
        bases += ["self.log", "self.log"]
    base = w.choose(bases)
    method = w.choose(
        [*_LEVELS, *_LEVELS, "log", "fatal", "warn"] + (["exception"] * 6 if in_handler else ["exception"])
    )
    w.use(f"{'logging' if base == 'logging' else 'adapter' if base == 'ADAPTER' else 'logger'}.{method}")
    if base == "ADAPTER" and method in ("fatal",):
        method = "critical"
    arguments = [w.choose(["logging.INFO", "logging.WARNING", "30", "10", "25"])] if method == "log" else []
    arguments += _log_message(w)
    if w.chance(0.06):
        arguments.append(_used(w, "log.exc_info", f"exc_info={w.choose(['True', 'None', 'False'])}"))
    if w.chance(0.05):
        arguments.append(_used(w, "log.stacklevel", f"stacklevel={w.choose(['1', '2'])}"))
    if w.chance(0.05):
        arguments.append(_used(w, "log.extra", f'extra={{"mark": {e.integer(w)}}}'))
    if w.chance(0.03):
        arguments.append(_used(w, "log.stack_info", "stack_info=False"))
    call = w.call(f"{base}.{method}", arguments)
    if base != "logging" and w.chance(0.08):
        w.use("log.isEnabledFor")
        with w.block(f"if {base}.isEnabledFor(logging.{w.choose(['DEBUG', 'INFO', 'ERROR'])}):"):
            w.line(call)
    else:
        w.line(call)


def _log_message(w: Writer) -> list[str]:
    form = w.random.random()
    if form < 0.3:
        return [fstring(w)]
    if form < 0.45:
        return [f'"{w.choose(["plain", "100% done", "two words"])}"']
    if form < 0.55:
        return ['"%(a)s %(b)s"', f'{{"a": {shown(w)}, "b": {e.integer(w)}}}']
    if form < 0.62:
        return [f'"{{:.2f}} seen".format({item(w)})']
    count = w.random.randint(1, 2)
    values = [shown(w) if w.chance(0.7) else item(w) for _ in range(count)]
    if count == 1 and w.chance(0.2):
        return ['"n=%d"', e.integer(w)]
    if w.chance(0.02):
        w.use("log.bad_format")
        return ['"too few %s"', *values, "1"]
    return ['"' + w.choose(["", "v "]) + " ".join(["%s"] * count) + '"', *values]


def warn_call(w: Writer) -> None:
    w.use("warnings.warn")
    # The harness tells the program's warnings from torch's own by the first word.
    text = w.choose(['"gw plain"', '"gw " + ' + fstring(w), 'f"gw {' + item(w) + ':.2f}"', f'"gw %d" % {e.integer(w)}'])
    arguments = [text]
    form = w.random.random()
    category = w.choose(["UserWarning", "FutureWarning", "RuntimeWarning", "DeprecationWarning", "GivenWarning"])
    if form < 0.25:
        arguments.append(_used(w, "warn.category", category))
    elif form < 0.4:
        arguments.append(_used(w, "warn.category", f"category={category}"))
    elif form < 0.5:
        arguments = [_used(w, "warn.instance", f'GivenWarning("gw", {e.integer(w)})')]
    if w.chance(0.35):
        arguments.append(_used(w, "warn.stacklevel", f"stacklevel={w.choose(['1', '2', '2', '3'])}"))
    w.line(w.call("warnings.warn", arguments))


def effect(w: Writer) -> None:
    """Any one of them."""
    choices: list[Choice] = [(5, print_call), (5, log_call), (2, warn_call), (0.7, stream_write)]
    if w.frame.talkers:
        choices += [(2, _talk)]
    w.pick(choices)


def _talk(w: Writer) -> None:
    w.use("helper.talks")
    w.line(f"{w.choose(w.frame.talkers)}({e.full_name(w)})")
