"""Four of the paper's rows at the sizes of the models that people use, on a GPU: `torch.compile` beside graphmend.

    python -m bench.gpu_rows [--programs t5 bart …] [--modes default reduce-overhead] [--output PAGE]

In: transformers' own classes, random weights. Out: a table on stdout, and as a page: graphs, the seconds of the first
call, and the milliseconds of later ones, of which every column is measured in the same run.
"""

import argparse
import functools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

import graphmend
from bench.gpu_timing import in_a_stream, one_by_one
from bench.machine import machine
from bench.page import Page

Built = tuple[torch.nn.Module, dict[str, Any]]
_CALLS = 30
_ROUNDS = 5
_WAYS = {"eager": None, "torch.compile": torch.compile, "graphmend.compile": graphmend.compile}


def _tokens(length: int, batch: int = 1) -> torch.Tensor:
    return torch.randint(3, 1000, (batch, length))


def t5() -> Built:
    config = transformers.T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12)
    return transformers.T5ForConditionalGeneration(config), {
        "input_ids": _tokens(128),
        "decoder_input_ids": _tokens(32),
    }


def bart() -> Built:
    # The defaults are those of the large one.
    model = transformers.BartForConditionalGeneration(transformers.BartConfig()).half()
    ids = _tokens(128)
    return model, {"input_ids": ids, "attention_mask": torch.ones_like(ids), "decoder_input_ids": _tokens(32)}


def whisper() -> Built:
    config = transformers.WhisperConfig(
        d_model=768,
        encoder_layers=12,
        decoder_layers=12,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
    )
    model = transformers.WhisperForConditionalGeneration(config)
    return model, {"input_features": torch.randn(1, 80, 3000), "decoder_input_ids": _tokens(32)}


def longformer() -> Built:
    # The defaults are those of the base one.
    config = transformers.LongformerConfig(max_position_embeddings=4098)
    return transformers.LongformerModel(config), {"input_ids": _tokens(1024)}


PROGRAMS: dict[str, Callable[[], Built]] = {"t5": t5, "bart": bart, "whisper": whisper, "longformer": longformer}


def _first(output: Any) -> torch.Tensor:
    found: torch.Tensor = output[0] if isinstance(output, tuple) else next(iter(output.values()))
    return found


@dataclass
class Way:
    """A model, how it is called, and what was measured of it."""

    name: str
    call: Callable[..., Any]
    graphs: int = 0
    first: float = 0.0
    kernels: int = 0
    # Milliseconds.
    alone: list[float] = field(default_factory=list)
    stream: list[float] = field(default_factory=list)
    error: float = 0.0


def measured(build: Callable[[], Built], mode: str) -> list[Way]:
    """Eager and both compilers, compiled one after another and then called in turns."""
    torch._dynamo.reset()
    ways: list[Way] = []
    with torch.no_grad():
        for name, make in {
            "eager": None,
            "torch.compile": torch.compile,
            "graphmend.compile": graphmend.compile,
        }.items():
            torch.manual_seed(0)
            model, inputs = build()
            model = model.cuda().eval()
            inputs = {key: value.cuda().to(_kind(model, value)) for key, value in inputs.items()}
            if not ways:
                expected = _first(model(**inputs)).clone()
            torch._dynamo.utils.counters.clear()
            way = Way(name, make(model, mode=None if mode == "default" else mode) if make else model)
            torch.cuda.synchronize()
            started = time.perf_counter()
            way.call(**inputs)
            torch.cuda.synchronize()
            way.first = time.perf_counter() - started
            way.graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
            for _ in range(5):
                result = _first(way.call(**inputs)).clone()
            way.error = (result.float() - expected.float()).abs().max().item() / expected.float().abs().max().item()
            way.kernels = _kernels(way.call, inputs)
            ways.append(way)
        for _ in range(_ROUNDS):
            for way in ways:
                call = functools.partial(way.call, **inputs)
                way.alone.append(one_by_one(call, _CALLS) * 1e3)
                way.stream.append(in_a_stream(call, _CALLS) * 1e3)
    return ways


def _kernels(call: Callable[..., Any], inputs: dict[str, Any]) -> int:
    """How much the GPU is given to do in a call, by the number of launches; a graph of kernels is one."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call(**inputs)
        torch.cuda.synchronize()
    launches = ("cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx", "cudaGraphLaunch")
    return sum(event.count for event in profile.key_averages() if event.key in launches)


def _kind(model: torch.nn.Module, value: torch.Tensor) -> torch.dtype:
    own: torch.dtype = next(model.parameters()).dtype
    return own if value.is_floating_point() else value.dtype


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--modes", nargs="+", default=["default", "reduce-overhead"])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing after this time")
    parser.add_argument("--output", type=Path, help="the page to write")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench/gpu_rows: there is no GPU here")
    transformers.logging.set_verbosity_error()
    about = (
        f"`python -m bench.gpu_rows` on {torch.cuda.get_device_name()}, {machine()}, torch {torch.__version__}, "
        f"transformers {transformers.__version__}. Random weights; eval, no grad, batch 1; `a call` is the least of "
        f"{_ROUNDS} medians of {_CALLS} calls that are waited for, `stream` of {_CALLS} of which the last one is; "
        "`error` is the largest difference to eager beside the largest number."
    )
    columns = ["program", "mode", "with", "graphs", "first call, s", "launches", "a call, ms", "stream, ms", "error"]
    page = Page("The paper's rows at full size, on a GPU", about, columns, options.output)
    started = time.perf_counter()
    for name in options.programs:
        for mode in options.modes:
            if time.perf_counter() - started > options.seconds:
                continue
            for way in measured(PROGRAMS[name], mode):
                times = f"{way.first:.1f}", way.kernels, f"{min(way.alone):.2f}", f"{min(way.stream):.2f}"
                page.add((name, mode, way.name, way.graphs, *times, f"{way.error:.1e}"))


if __name__ == "__main__":
    main()
