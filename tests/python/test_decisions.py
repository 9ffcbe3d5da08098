"""Breaks that are the user's decision: each type has one, and the change that is shown is right for its line."""

from __future__ import annotations

import ast
import dataclasses
import logging
import sys
import types
import unittest.mock
from pathlib import Path
from typing import Any

import pytest
from decisions.examples import EXAMPLES, Example, all_types, applied, load, shown
from decisions.table import PAGE, page

import graphmend
from graphmend._reporting.decisions import DECISIONS, decision_for
from graphmend._reporting.html import page as html_page
from graphmend._reporting.report import Break, Report
from graphmend._reporting.spot import Spot
from graphmend._tree import parse

load()
RUN = [example for example in EXAMPLES if example.inputs is not None]
WHOLE = [example for example in EXAMPLES if example.whole is not None]


def named(example: Example) -> str:
    return f"{example.number}-{example.at}"


def test_each_type_has_a_decision_and_an_example() -> None:
    types_of = {number: name.strip() for number, name in all_types().items()}
    assert {decision.number: decision.gb_type.strip() for decision in DECISIONS} == types_of
    assert {example.number for example in EXAMPLES} == types_of.keys()
    # A decision that is shown is one that has been tried.
    assert {decision.number for decision in DECISIONS if decision.change} == {
        example.number for example in EXAMPLES if example.rows
    }


def test_each_decision_is_its_own() -> None:
    sentences = [decision.decides for decision in DECISIONS]
    assert len(set(sentences)) == len(sentences)
    assert all(
        text.startswith(("whether ", "which ", "what ", "how ", "on which ", "when ", "where ")) for text in sentences
    )
    assert not any(text.endswith(".") for decision in DECISIONS for text in (decision.decides, decision.to_do))


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.decisions --write"


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_the_change_of_each_line(example: Example) -> None:
    change = example.change
    assert shown(change) == example.rows
    decides, to_do = example.sentences
    assert "{it}" not in decides + to_do
    if change is not None:
        compile(applied(f"{example.source}\ndef f(): pass\n", change), "changed.py", "exec", ast.PyCF_ONLY_AST)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        # Two of them on the line, and nothing that says which.
        ("GB0246", "y = F.one_hot(x) + F.one_hot(z)"),
        ("GB0246", "y = F.one_hot(x, size)"),
        ("GB0246", "y = F.one_hot(a for a in x)"),
        # Its value is used.
        ("GB0025", "y = torch._dynamo.graph_break()"),
        # Not alone on its line.
        ("GB0025", "torch._dynamo.graph_break(); y = 1"),
        ("GB0013", "self.handles.pop().remove() or fail()"),
        # The handle has other uses, or none that is seen.
        ("GB0172", "works.append(dist.all_reduce(x, async_op=True))"),
        ("GB0104", "y = x.grad_fn"),
        ("GB0104", "y = x.grad_fn is other"),
        ("GB0058", "x.names = names"),
        ("GB0128", "x.set_(storage, 0, (2,), (1,))"),
        ("GB0098", "y = somewhere_else(x)"),
        ("GB0264", "w = torch.nn.Parameter(*values)"),
        ("GB9316", "y = id(a) == 5"),
        ("GB9316", "y = id(a) == hash(b)"),
        ("GB5173", "y = make(x) + z"),
        ("GB5173", "y = torch.cat(x, n + m)"),
        ("GB0257", "y = make(a=1)"),
        ("GB0013", "handles.remove(handle)"),
        ("GB0216", "kernel[grid](x)"),
        ("GB0216", "y = kernels[0]"),
        ("GB0090", "y = library.call(x)"),
        ("GB1220", "y = a > b"),
        ("GB0001", "y = x.as_subclass(torch.Tensor)"),
        # It is not known above the function what it reads, or not known to its callers.
        ("GB0256", "y = x * reader.scale"),
        ("GB0015", "z = x + 1; y = z.values()"),
        ("GB0015", "y = make().values()"),
        # Something else comes before, or it does not run in each call.
        ("GB0129", "x.add_(1); x.sparse_resize_((3,), 1, 0)"),
        ("GB0142", "\n    with unknown:\n        x = x + 1\n"),
        ("GB0166", "engine.queue_callback(lambda: x)"),
        ("GB0374", "y = torch.sparse_csr_tensor(i, i, x)"),
        ("GB0177", "while x.more(): pass"),
        ("GB0177", "y = x is None or x.size()"),
        ("GB0177", "y = x.size() if x else 0"),
        ("GB0177", "y = [x.size() for _ in x]"),
        ("GB0177", "assert x; y = x.size()"),
        ("GB0177", "y = super().size()"),
        ("GB0358", "x.zero_grad(); x.step(closure)"),
        # Another class or function may be meant, or none is in the file.
        ("GB0031", "y = self.scale"),
        ("GB0035", "y = 1 if box else 2"),
        ("GB0085", "y = Twice.apply(x)"),
        ("GB0103", "y = mine.relu()"),
        ("GB0138", "ctx.save_for_backward(x)"),
        ("GB0161", "y = self.scale"),
        ("GB0164", "y = mine.shape"),
        ("GB0211", "y = self.scale"),
        ("GB1319", "y = Box(x)"),
        ("GB2019", "ctx.mark_dirty(x)"),
        ("GB2464", "y = Twice.apply(x)"),
        ("GB4271", "x.__class__ = Warm"),
        ("GB7444", "x.register_hook(hook)"),
        # Its value comes from elsewhere, or goes elsewhere.
        ("GB0097", "self.last.append(x)"),
        ("GB0198", "y = PROXY[1]"),
        ("GB0209", "self.keep = torch.autograd._unsafe_preserve_version_counter(x)"),
        ("GB0271", "Shared.scale = 2"),
        ("GB0279", "self.note = torch.fx.traceback.annotate({})"),
        ("GB0361", "kernel.run(x, grid=(1,), warmup=True)"),
        ("GB2533", "y = scope(x)"),
        ("GB3326", "y = create_1d_tma_descriptor(pointer, 1, 2, 3)"),
        ("GB3383", "y = Options(x)"),
        ("GB4501", "y = id(x)"),
        ("GB4778", "y = lambda z: z + x"),
        ("GB5458", "y = Shared.scale"),
        ("GB5748", "y = torch.autograd.grad(x, edge)"),
        # Several arguments may be the one.
        ("GB0055", "y = call(x, 1)"),
        ("GB0190", "y = getattr(*x)"),
        ("GB0202", "y = self.named_modules(a, b)"),
        ("GB0254", "setattr(*x)"),
    ],
)
def test_no_change_where_it_cannot_be_told(number: str, text: str) -> None:
    (decision,) = (decision for decision in DECISIONS if decision.number == number)
    source = f"import torch\ndef f(x):\n    {text}\n    return x\n"
    assert decision.change_at(Spot(parse(source, strict=True), 3)) is None
    decides, to_do = decision.sentences(Spot(parse(source), 3), text)
    assert decides and to_do and "{it}" not in decides + to_do


def test_columns_tell_which_of_two_is_meant() -> None:
    decision = decision_for("Attempted to use `torch.nn.functional.one_hot` with data-dependent output shape")
    assert decision is not None
    line = "y = F.one_hot(x) + F.one_hot(z)"
    at = line.rindex("F.")
    change = decision.change_at(Spot(parse(line), 1, column=at, end_column=len(line)))
    assert shown(change) == (f"- {line}", "+ y = F.one_hot(x) + F.one_hot(z, num_classes=...)")


def test_all_that_is_told_has_the_decision_and_the_change(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("def f(x):\n    y = x < 1\n    torch._dynamo.graph_break()\n    return x\n", encoding="utf-8")
    entry = Break("Call to `torch._dynamo.graph_break()`", str(path), 3, "f", None, "no mend")
    assert entry.explain().split("\n")[-3:] == [
        "  decide: whether the graph is to end at `torch._dynamo.graph_break()`",
        "  to do:  remove the call if the break was for a bug that is gone, or for debugging",
        "- 3 |     torch._dynamo.graph_break()",
    ]
    data = entry.to_dict()
    assert data["decides"] == entry.decides
    assert data["change"] == {"where": "", "rows": [["-", 3, "    torch._dynamo.graph_break()"]]}
    text = html_page([Report(calls=1, left=[entry])])
    assert "<dt>You decide</dt><dd>whether the graph is to end at <code>torch._dynamo.graph_break()</code></dd>" in text
    assert '<span class="goes">-     torch._dynamo.graph_break()</span>' in text
    mended = Break("Call to `torch._dynamo.graph_break()`", str(path), 3, "f", "check", "")
    assert (mended.decides, mended.change) == ("", None)
    # What is not the user's is not changed, but who called it may be.
    inside = Break(entry.gb_type, ast.__file__, 1, "g", None, "")
    assert inside.change is None
    assert inside.advice.endswith("; it is in `ast.py`, which is not yours: else call it outside of the compiled part")
    assert dataclasses.replace(inside, around=((str(path), 3, "f"),)).change == entry.change
    assert (
        Break(entry.gb_type, "/no/such/file.py", 3, "f", None, "").decides == "whether the graph is to end at this line"
    )


def test_a_line_in_the_middle_of_a_statement_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("def f(x):\n    y = reads(\n        x,\n    )\n    return x.values()\n", encoding="utf-8")
    told = [Break("Missing bytecode handler", str(path), line, "f", None, "").decides for line in (2, 3, 4, 5)]
    assert ["this line" in text for text in told] == [True, False, True, False]
    assert "`x,`" in told[1] and "`return x.values()`" in told[3]


def test_a_generator_that_is_marked() -> None:
    source = "@first\n@second\ndef steps(x):\n    yield x\n"
    decision = decision_for("Attempt to trace generator")
    assert decision is not None
    for line, rows in ((1, 2), (3, 2), (2, 0), (4, 0)):
        assert len(shown(decision.change_at(Spot(parse(source), line)))) == rows


def test_lines_to_add_say_where(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("def f(x):\n    return lstm(x)\n", encoding="utf-8")
    entry = Break("Attempted to wrap RNN, GRU, or LSTM", str(path), 2, "f", None, "")
    assert entry.explain().endswith("  before the model is compiled:\n+   | torch._dynamo.config.allow_rnn = True")


def test_lines_of_the_file_and_of_callers_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text('def f(x, *rest, key="self", **more):\n    return x.values()\n', encoding="utf-8")
    entry = Break("Attempted to wrap sparse Tensor", str(path), 2, "f", None, "")
    assert entry.explain().split("\n")[-6:] == [
        '- 1 | def f(x, *rest, key="self", **more):',
        '+ 1 | def f(x, *rest, key="self", values, **more):',
        "- 2 |     return x.values()",
        "+ 2 |     return values",
        "  where `f` is called:",
        "+   | f(x, *rest, key=key, values=x.values(), **more)",
    ]
    assert "<p>where <code>f</code> is called:</p>" in html_page([Report(calls=1, left=[entry])])


def test_the_caller_has_the_module_under_a_name() -> None:
    source = 'class Net(Base):\n    def forward(self, x):\n        return x * self.table.size("self")\n'
    decision = decision_for("can't handle functions not implemented in python ")
    assert decision is not None
    change = decision.change_at(Spot(parse(source), 3))
    assert change is not None
    assert (change.where, change.rows[-1].text) == (
        "where the module, here `model`, is called",
        'model(x, model.table.size("self"))',
    )
    long = decision.change_at(Spot(parse(source.replace('"self"', '\n            "self",\n        ')), 3))
    assert shown(long)[-3:] == ("+ model(x, model.table.size(", '+             "self",', "+         ))")
    # Its callers are not seen, or are compiled too.
    for other in (source.replace("forward", "step"), source.replace("    def", "    @wrapped\n    def", 1)):
        line = other[: other.index("return")].count("\n") + 1
        assert decision.change_at(Spot(parse(other), line)) is None
    assert decision.change_at(Spot(parse(source), 3, is_inlined=True)) is None


def module(example: Example, source: str, path: Path) -> Any:
    path.write_text(source, encoding="utf-8")
    made = types.ModuleType(path.stem)
    made.__file__ = str(path)
    sys.modules[path.stem] = made
    exec(compile(source, str(path), "exec"), vars(made))
    return made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", RUN, ids=named)
def test_a_program_that_breaks_so(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("numpy")
    if not torch.__version__.startswith("2.13."):
        pytest.skip("the types are torch 2.13's")
    monkeypatch.setattr(logging.getLogger("torch._dynamo"), "disabled", True)
    config = torch._dynamo.config
    broken = module(example, example.source, tmp_path / f"broken_{example.number}.py")
    inputs = inputs_of(example, broken)
    names = {example.decision.gb_type, *example.decision.also}
    torch._dynamo.reset()
    with config.patch(example.settings):
        found = graphmend.explain(broken.f, *inputs)
    (place,) = [entry for entry in found.breaks if entry.gb_type in names and entry.mend is None][:1]
    assert shown(place.change) == example.rows
    assert place.decides == example.sentences[0]
    assert f"  decide: {place.decides}" in str(found)
    if not example.goes:
        return
    assert place.change is not None
    text = applied(example.source, place.change).replace("...", example.fill)
    settings = dict(example.settings)
    for row in place.change.rows:
        name, equals, value = row.text.partition(" = ")
        if name.startswith("torch._dynamo.config.") and equals:
            settings[name.rpartition(".")[2]] = ast.literal_eval(value)
            text = text.replace(row.text, "")
    changed = module(example, text.replace("decided_", "decided_again_"), tmp_path / f"changed_{example.number}.py")
    arguments, keywords = asked(example, changed)
    torch._dynamo.reset()
    with config.patch(settings):
        found = graphmend.explain(changed.f, *arguments, **keywords)
    assert not [entry for entry in found.breaks if entry.gb_type in names]
    assert found.error is None
    if example.same:
        torch.testing.assert_close(asked(example, changed, changed.f), broken.f(*inputs_of(example, broken)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", WHOLE, ids=named)
def test_a_changed_program_that_is_whole(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(logging.getLogger("torch._dynamo"), "disabled", True)
    assert example.change is not None
    text = applied(example.source, example.change).replace("...", example.fill)
    changed = module(example, text, tmp_path / f"changed_{example.number}.py")
    arguments, keywords = asked(example, changed)
    torch._dynamo.reset()
    found = graphmend.explain(changed.f, *arguments, **keywords)
    assert [entry for entry in found.breaks if entry.mend is None] == []
    assert found.error is None
    if example.same:
        before = module(example, example.source, tmp_path / f"before_{example.number}.py")
        again = module(example, text, tmp_path / f"again_{example.number}.py")
        torch.testing.assert_close(asked(example, again, again.f), before.f(*inputs_of(example, before)))


def inputs_of(example: Example, program: Any) -> tuple[Any, ...]:
    values: tuple[Any, ...] = eval(f"({example.inputs or example.whole},)", vars(program))
    return values


def asked(example: Example, changed: Any, function: Any = None) -> Any:
    """What the changed lines of its callers call the function with; with a function, what they give by it."""
    calls: list[Any] = []
    inputs = inputs_of(example, changed)

    class Caller:
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            calls.append((args, kwargs))
            return function(*args, **kwargs) if function else unittest.mock.MagicMock()

        def __getattr__(self, name: str) -> Any:
            return getattr(changed.f, name)

    f = Caller()
    change = example.change
    rows = (
        [row.text for row in change.rows if row.line is None] if change and change.where.endswith("is called") else []
    )
    names = vars(changed) | dict(zip(example.parameters, inputs, strict=False)) | {"f": f, "model": f}
    given = None
    for row in ast.parse("\n".join(rows)).body:
        is_value = isinstance(row, ast.Expr)
        code = compile(ast.unparse(row), "caller.py", "eval" if is_value else "exec")
        given = eval(code, names)
    if not calls:
        given = f(*inputs)
    return given if function else calls[0]
