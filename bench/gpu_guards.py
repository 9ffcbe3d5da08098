"""A guard in every layer of an encoder, on a GPU: the model as it is, mended, and the same model without guards.

    python -m bench.gpu_guards [--layers 12] [--output bench/results/gpu_guards.md]

In: nothing. Out: a table on stdout, and as a page: microseconds a call, one after another and in a stream of calls.
"""

import argparse
import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import graphmend
from bench.gpu_timing import in_a_stream, one_by_one
from bench.machine import machine
from bench.page import Page

_WIDTH = 512
_HEADS = 8
_BATCH, _LENGTH = 4, 64
_CALLS = 50


class Layer(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """One layer of an encoder; with a guard it refuses what is not a number, or clamps what has overflowed."""

    def __init__(self, guard: str) -> None:
        super().__init__()
        self.guard = guard
        self.attention = torch.nn.MultiheadAttention(_WIDTH, _HEADS, batch_first=True)
        self.first = torch.nn.Linear(_WIDTH, 4 * _WIDTH)
        self.second = torch.nn.Linear(4 * _WIDTH, _WIDTH)
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(_WIDTH), torch.nn.LayerNorm(_WIDTH)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norms[0](x + self.attention(x, x, x, need_weights=False)[0])
        x = self.norms[1](x + self.second(torch.nn.functional.gelu(self.first(x))))
        if self.guard == "raise" and torch.isnan(x).any():
            raise ValueError("a layer has made what is not a number")
        if self.guard == "clamp" and torch.isinf(x).any():
            x = torch.clamp(x, min=-60000.0, max=60000.0)
        return x


class Telling(torch.nn.Sequential):  # type: ignore[misc,unused-ignore]
    """Layers without guards, and whether one of them has made what is not a number."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        flags = []
        for layer in self:
            x = layer(x)
            flags.append(torch.isnan(x).any())
        return x, torch.stack(flags).any()


def encoder(layers: int, guard: str) -> torch.nn.Module:
    torch.manual_seed(0)
    kind = Telling if guard == "told" else torch.nn.Sequential
    return kind(*[Layer(guard) for _ in range(layers)]).cuda().half().eval()


def reading(compiled: Callable[..., Any]) -> Callable[[torch.Tensor], torch.Tensor]:
    """What the caller of a model that tells does: the least that a guard at the end of a call can cost."""

    def call(x: torch.Tensor) -> torch.Tensor:
        result, flag = compiled(x)
        if flag:
            raise ValueError("a layer has made what is not a number")
        return result

    return call


def told(model: torch.nn.Module, mode: str | None) -> Callable[[torch.Tensor], torch.Tensor]:
    return reading(torch.compile(model, mode=mode))


def measured(model: torch.nn.Module, x: torch.Tensor, make: Callable[..., Any], mode: str | None) -> dict[str, Any]:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    with torch.inference_mode():
        expected = model(x)[0] if isinstance(model, Telling) else model(x)
        compiled = make(model, mode=mode)
        started = time.perf_counter()
        for _ in range(5):
            result = compiled(x).clone()
        torch.cuda.synchronize()
        first = time.perf_counter() - started
        difference = (result - expected).abs().max().item()
        graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        call = functools.partial(compiled, x)
        rounds = [(one_by_one(call, _CALLS) * 1e6, in_a_stream(call, _CALLS) * 1e6) for _ in range(5)]
    return {
        "graphs": graphs,
        "first": first,
        "alone": min(one for one, _ in rounds),
        "stream": min(many for _, many in rounds),
        "difference": difference,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--output", type=Path, help="the page to write")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench/gpu_guards: there is no GPU here")
    x = torch.randn(_BATCH, _LENGTH, _WIDTH, device="cuda", dtype=torch.float16)
    about = (
        f"`python -m bench.gpu_guards --layers {options.layers}` on {torch.cuda.get_device_name()}, {machine()}, "
        f"torch {torch.__version__}. An encoder of {options.layers} layers in fp16, batch {_BATCH}x{_LENGTH}, width "
        f"{_WIDTH}; each layer ends with a guard: a test and a raise, or a test and a clamp."
    )
    columns = (
        "mode",
        "model",
        "graphs",
        "first 5 calls, s",
        "a call, µs",
        "in a stream, µs",
        "beside no guards",
        "error",
    )
    page = Page("Guards on a GPU", about, columns, options.output)
    for mode in (None, "reduce-overhead"):
        rows = {"no guards, torch.compile": measured(encoder(options.layers, ""), x, torch.compile, mode)}
        base = rows["no guards, torch.compile"]
        rows["one flag that the caller reads, torch.compile"] = measured(encoder(options.layers, "told"), x, told, mode)
        for guard in ("raise", "clamp"):
            for name, make in (("torch.compile", torch.compile), ("graphmend.compile", graphmend.compile)):
                rows[f"{guard}, {name}"] = measured(encoder(options.layers, guard), x, make, mode)
        for name, row in rows.items():
            beside = f"{row['alone'] / base['alone']:.2f}x, {row['stream'] / base['stream']:.2f}x"
            times = f"{row['first']:.1f}", f"{row['alone']:.0f}", f"{row['stream']:.0f}"
            page.add((mode or "default", name, row["graphs"], *times, beside, f"{row['difference']:.1e}"))


if __name__ == "__main__":
    main()
