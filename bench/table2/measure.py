"""Measures one program in one column, in a process of its own, and writes what it saw as JSON.

In: a program's name, a column, eager's values. Out: graphs, breaks and their places, ops, skipped frames, effects,
differences, seconds. Left out: sums and tables (summary.py, report.py). The column `eager` writes the values.
"""

import argparse
import contextlib
import copy
import json
import linecache
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any
from unittest import mock

import torch
import torch._dynamo
from torch import Tensor, nn
from torch._dynamo import convert_frame
from torch._dynamo.utils import counters, get_compilation_metrics, graph_break_reasons

from bench.table2 import columns, compare, effects, mended
from bench.table2.paths import short
from bench.table2.programs import PROGRAMS

CALLS = 3
CALL_KINDS = ("call_function", "call_method", "call_module")
# Dynamo words the same break differently when it can go on behind the jump.
JUMP = "generic_jump"
BRANCHING = "Data-dependent branching"


class GraphCounter:
    """A backend that counts graphs, and the ops in each by name, and hands them on to another."""

    def __init__(self, backend: str) -> None:
        self.ops: list[Counter[str]] = []
        self.compile: Callable[..., Any] = torch._dynamo.lookup_backend(backend)

    def __call__(self, module: torch.fx.GraphModule, example_inputs: list[Any]) -> Any:
        calls = [node for node in module.graph.nodes if node.op in CALL_KINDS and not is_idle(node)]
        self.ops.append(Counter(map(op_name, calls)))
        return self.compile(module, example_inputs)


def is_idle(node: torch.fx.Node) -> bool:
    """A dropout that is off gives its input back; plain torch.compile has it in its graphs, a mended program not."""
    if node.target is not nn.functional.dropout:
        return False
    given = dict(zip(("input", "p", "training"), node.args, strict=False)) | node.kwargs
    return given.get("training") is False or given.get("p") == 0


def op_name(node: torch.fx.Node) -> str:
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))


@dataclass
class Skips:
    """Frames that Dynamo gave up whole, and the breaks that made it do so."""

    frames: list[str] = field(default_factory=list)
    causes: list[dict[str, Any]] = field(default_factory=list)

    def add(self, code: CodeType) -> None:
        self.frames.append(f"{short(code.co_filename)}:{code.co_firstlineno} {code.co_name}")
        last = next(reversed(get_compilation_metrics()), None)
        # Frames that are refused before they are looked at (generators) have no metrics of their own.
        if (
            last is not None
            and last.fail_reason
            and (last.co_name, last.co_filename) == (code.co_name, code.co_filename)
        ):
            self.causes.append(
                place(last.fail_reason, last.fail_user_frame_filename or "", last.fail_user_frame_lineno or 0)
            )


@contextlib.contextmanager
def watching_frames(skips: Skips) -> Iterator[None]:
    """Fills `skips`. Attempts that raise to the caller are questions, not skips."""
    original = convert_frame.ConvertFrame.__call__

    def watch(self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        before = counters["frames"]["ok"]
        result = original(self, frame, *args, **kwargs)
        if counters["frames"]["ok"] == before:
            skips.add(frame.f_code)
        return result

    convert_frame.ConvertFrame.__call__ = watch
    try:
        yield
    finally:
        convert_frame.ConvertFrame.__call__ = original


def place(reason: str, filename: str, line: int) -> dict[str, Any]:
    kind = reason.partition("\n")[0]
    return {
        "gb_type": BRANCHING if kind.startswith(JUMP) else kind,
        "file": short(filename),
        "line": line,
        "source": linecache.getline(filename, line).strip(),
    }


def place_in_stack(reason: str, stack: Any) -> dict[str, Any]:
    return place(reason, stack[-1].filename, stack[-1].lineno) if stack else place(reason, "", 0)


def places(skips: Skips) -> list[dict[str, Any]]:
    """The distinct places of all breaks so far. Breaks inside a skipped frame are not among Dynamo's own reasons."""
    breaks = [place_in_stack(reason.reason, reason.user_stack) for reason in graph_break_reasons]
    return list({(one["gb_type"], one["file"], one["line"]): one for one in [*breaks, *skips.causes]}.values())


def dynamo_counts() -> dict[str, int]:
    """What Dynamo itself has counted so far: graphs it handed over, breaks it went on after."""
    return {"graphs": counters["stats"]["unique_graphs"], "breaks": sum(counters["graph_break"].values())}


def gradients(model: nn.Module, output: Any) -> dict[str, Any]:
    """Of the sum of all outputs, so that each of them has a say."""
    total = sum(part.double().sum() for part in leaves(output) if part.requires_grad and part.is_floating_point())
    assert isinstance(total, Tensor), "no output depends on a parameter"
    total.backward()
    found = {name: weight.grad for name, weight in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    return found


def leaves(output: Any) -> list[Tensor]:
    values = output.values() if isinstance(output, dict) else output
    return [value for value in values if isinstance(value, Tensor)]


def build(name: str, *, train: bool) -> tuple[nn.Module, dict[str, Any]]:
    torch.manual_seed(0)
    program = PROGRAMS[name]
    model, inputs = ((train and program.build_for_training) or program.build)()
    model.train(train)
    return model, inputs


def one_call(model: nn.Module, run: Any, inputs: dict[str, Any], *, train: bool) -> tuple[compare.Flat, float]:
    torch.manual_seed(1)
    arguments = copy.deepcopy(inputs)
    start = time.perf_counter()
    with torch.set_grad_enabled(train):
        output = run(**arguments)
    seconds = time.perf_counter() - start
    values = {"output": output, "inputs": arguments, "buffers": dict(model.named_buffers())}
    if train:
        values["gradients"] = gradients(model, output)
    values["random"] = torch.get_rng_state()
    return compare.flatten(values), seconds


@contextlib.contextmanager
def as_compiled() -> Iterator[None]:
    """Programs that ask whether they are compiled hear yes, also in frames that are not: without this a program that
    asks takes other paths in the frames that plain leaves to Python than in those it captures, and has ops for both."""
    with mock.patch.object(torch.compiler, "_is_compiling_flag", True):
        yield


def compared(reference: dict[str, Any], seen: compare.Flat, backend: str) -> dict[str, Any]:
    """Bit by bit where graphs run as they are; what compiles them may compute otherwise within a tolerance."""
    expected, exact = reference["values"], reference.get("exact")
    return {
        "differences": compare.compare(expected, seen, exact, close=backend != "eager"),
        "farthest": compare.farthest(expected, seen),
        "errors": compare.largest_errors(exact, expected, seen) if exact else None,
    }


def in_doubles(name: str, *, train: bool) -> compare.Flat | None:
    """What a program in half precision would give if its numbers were exact; None for others."""
    model, inputs = build(name, train=train)
    if all(weight.dtype != torch.half for weight in model.parameters()):
        return None
    return one_call(model.double(), model, inputs, train=train)[0]


def measure(name: str, column: str, *, train: bool, fullgraph: bool, backend: str, reference: Path) -> dict[str, Any]:
    model, inputs = build(name, train=train)
    graphs = GraphCounter(backend)
    skips = Skips()
    expected = None if column == columns.EAGER else torch.load(reference, weights_only=False)
    calls: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    with columns.context(column), watching_frames(skips):
        run = columns.compile_model(column, model, graphs, fullgraph=fullgraph)
        for index in range(CALLS):
            with effects.recorded() as said:
                values, seconds = one_call(model, run, inputs, train=train)
            call = {"graphs": len(graphs.ops), "seconds": seconds, "effects": said, "dynamo": dynamo_counts()}
            if expected is None:
                kept.append({"values": values})
            else:
                call |= compared(expected[index], values, backend)
            calls.append(call)
    if expected is None:
        exact = in_doubles(name, train=train) if backend != "eager" else None
        torch.save([{**one, "exact": exact} for one in kept], reference)
    return {
        "graphs": calls[0]["graphs"],
        "new_graphs": len(graphs.ops) - calls[0]["graphs"],
        "ops": sum(graphs.ops[: calls[0]["graphs"]], Counter()),
        "places": places(skips),
        "skipped": skips.frames,
        "calls": calls,
        "report": mended.report(run) if column in (columns.MENDED, columns.AGAIN) else None,
    }


def measure_or_say_why(arguments: argparse.Namespace) -> dict[str, Any]:
    """Under `fullgraph` a break is an answer: where it is and of what type."""
    try:
        with as_compiled() if arguments.as_compiled else contextlib.nullcontext():
            return measure(
                arguments.program,
                arguments.column,
                train=arguments.train,
                fullgraph=arguments.fullgraph,
                backend=arguments.backend,
                reference=arguments.reference,
            )
    except torch._dynamo.exc.TorchDynamoException as error:
        if not arguments.fullgraph:
            raise
        stack = getattr(error, "real_stack", None)
        return {"broken": place_in_stack(getattr(error, "gb_type", None) or str(error), stack)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("column", choices=(columns.EAGER, *columns.COMPILED))
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--fullgraph", action="store_true")
    parser.add_argument("--backend", choices=columns.BACKENDS, default="eager", help="what the graphs are handed to")
    parser.add_argument("--as-compiled", action="store_true", help="whoever asks whether it is compiled hears yes")
    parser.add_argument("--reference", type=Path, required=True, help="eager's values: written by `eager`, else read")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.write_text(json.dumps(measure_or_say_why(arguments)))


if __name__ == "__main__":
    main()
