"""Substitutes beside each other, and beside other mends: programs that are put together by chance do what eager does.

What is compared: values, shapes, strides, who shares memory with whom, which names stand for one object, what is
printed, and what is left behind in the inputs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from graphmend._mending.compile import compile as mended_compile

# torch warns on its own account.
pytestmark = pytest.mark.filterwarnings("ignore")

# Lines in which {a} and {b} are tensors that there are, {n} is a number of its own, and {v} the tensor that is made.
FRAGMENTS = [
    ["{v} = torch.empty(0)", "held_{n} = [{v}]", "torch.add({a}, {b}, out={v})", "held_{n}[0].mul_(2)"],
    ["{v} = torch.empty(0)", "KEPT.append({v})", "torch.sub({a}, {b}, out={v})"],
    ["{v} = torch.zeros(3, 3).t()", "torch.mul({a}, {b}, out={v})"],
    ["torch.add({a}, 1, out={b})", "{v} = {b} * 2"],
    [
        *("two_{n} = torch.empty(0), torch.empty(0, dtype=torch.int64)", "torch.max({a}, 1, out=two_{n})"),
        "{v} = two_{n}[0] + two_{n}[1] + {a}",
    ],
    ["{v} = copy.deepcopy({a})", "{v}.add_(1)"],
    ["{v} = torch.ones(3, 3)", "{v}.data = {a} + 1", "same_{n} = {v}", "same_{n}.add_(2)"],
    ["{v} = torch.ones(3, 3)", "{v}.data = {a}", "{v}.add_(2)"],
    ["{a}.t_()", "{v} = {a} * 1"],
    ["{a}.unsqueeze_(0)", "{v} = {a}[0] + 1", "{a}.squeeze_(0)"],
    ["rows_{n} = sorted([{a}, {b}, {a} * 2], key=lambda row: row.sum())", "{v} = rows_{n}[0] + rows_{n}[2] * 2"],
    ["{v} = {a} * 1", "for number in NUMBERS:", "    {v} = {v} * number - 1"],
    ["{v} = {a} * 1", "for other in others:", "    {v} = {v} * 2 + other"],
    ["try:", "    import no_such_module_here", "    {v} = {a}", "except ImportError:", "    {v} = {a} * 3"],
    ["try:", "    raise AssertionError([{n}], {a})", "except AssertionError as error:", "    {v} = error.args[1] * 2"],
    [
        *("leaf_{n} = {a}.detach().clone().requires_grad_()", "(leaf_{n} * {b}.detach()).sum().backward()"),
        "{v} = leaf_{n}.grad + {a}",
    ],
    # What other mends are for, and what changes tensors that others know.
    ["print({n}, {a}.shape, {a}.sum())", "{v} = {a} + 1"],
    ["if {a}.sum() > 1e6:", "    raise ValueError({n})", "{v} = {a} - 1"],
    ["{a}.add_(1)", "{v} = {a} + {b}"],
    ["KEPT.append({a})", "{v} = {a}[0] + {b}"],
    ["{v} = {a}.reshape(9)[::2][:3] + {b}"],
]

HEAD = """\
import array, copy, torch

KEPT = []
NUMBERS = array.array("i", [2, 3])

def program(a, b, others):
    KEPT.clear()
"""


def written(seed: int) -> str:
    chance, names, lines = random.Random(seed), ["a", "b"], []
    for number in range(chance.randrange(3, 9)):
        words = {"a": chance.choice(names), "b": chance.choice(names), "n": number, "v": f"v{number}"}
        lines += [line.format(**words) for line in chance.choice(FRAGMENTS)]
        names.append(f"v{number}")
    same = ", ".join(f"{one} is {other}" for i, one in enumerate(names) for other in names[:i])
    lines.append(f"return [{', '.join(names)}], list(KEPT), [{same}]")
    return HEAD + "".join(f"    {line}\n" for line in lines)


def shown(call: Any, number: int) -> Any:
    """All that a call shows; of an error that it is one."""
    generator = torch.Generator().manual_seed(number)
    a, b = (torch.randn(3, 3, generator=generator) for _ in range(2))
    if number == 2:
        b = a.clone().t()
    printed, same = io.StringIO(), None
    tensors: list[Any] = []
    layouts: list[Any]
    try:
        with contextlib.redirect_stdout(printed):
            made, kept, same = call(a, b, {torch.full((3, 3), 2.0)})
        tensors = [*made, *kept, a, b]
    except (RuntimeError, ValueError, IndexError):
        pass
    memory = [each.untyped_storage().data_ptr() for each in tensors]
    layouts = [(each.shape, each.stride(), each.storage_offset()) for each in tensors]
    layouts += [memory.index(each) for each in memory]
    return [each.tolist() for each in tensors], layouts, same, printed.getvalue()


def loaded(text: str, path: Path) -> Any:
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def test_programs_put_together_by_chance(tmp_path: Path) -> None:
    whole = 0
    for seed in range(12):
        text = written(seed)
        program = loaded(text, tmp_path / f"mixed_{seed}.py")
        expected = [shown(program, number) for number in range(4)]
        compiled = mended_compile(program, backend="eager")
        assert [shown(compiled, number) for number in range(4)] == expected, text
        # A program that raises, or of which nothing is mended, proves nothing.
        mends = {entry.mend for entry in compiled.report.mended}
        whole += bool(expected[0][0]) and not compiled.report.left and "substitute" in mends
    assert whole >= 3
