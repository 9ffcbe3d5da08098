"""The page docs/decisions.md, made of the table of decisions and the examples. In: both. Out: text."""

from __future__ import annotations

from pathlib import Path

from .examples import Example, load

PAGE = Path(__file__).resolve().parents[2] / "docs" / "decisions.md"

HEAD = """\
# Breaks that are your decision

{total} of Dynamo's types of breaks in torch 2.13 ask you something: what the program is to mean hangs on the answer. \
`graphmend.explain` and the reports name the question, and show the smallest change of your own lines that gives the \
answer with which the graph stays whole: {changes} of the types have one. It is shown only where it can be told from \
the source; `...` stands for what only you know. {run} of the examples here are programs that the tests run and that \
break so, and {goes} of those do not any more with the change. Of {whole} more, which no small program \
shows, the tests run the changed program, and it has no break.

This page is made from the tests: `python -m tests.decisions --write`.
"""


def page() -> str:
    first: dict[str, Example] = {}
    for each in load():
        first.setdefault(each.number, each)
    examples = [example for _, example in sorted(first.items())]
    head = HEAD.format(
        total=len(examples),
        changes=sum(bool(each.decision.change) for each in examples),
        run=sum(each.inputs is not None for each in examples),
        goes=sum(each.goes for each in examples),
        whole=sum(each.whole is not None for each in examples),
    )
    return head + "".join(map(_section, examples))


def _section(example: Example) -> str:
    decides, to_do = example.sentences
    change = example.change
    parts = change.parts() if change else []
    blocks = [f"```diff\n{chr(10).join(f'{row.sign} {row.text}' for row in rows)}\n```" for _, rows in parts]
    heads = [f"{where[0].upper()}{where[1:]}:\n\n" if where else "" for where, _ in parts]
    code = "\n\n".join(map(str.__add__, heads, blocks)) or f"```python\n{example.line_text.strip()}\n```"
    return (
        f"\n## {example.number}: {example.decision.gb_type.replace('`', '').strip()}\n\n"
        f"You decide {decides}.\n\nTo do: {to_do}.\n\n{code}\n"
    )
