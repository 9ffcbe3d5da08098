"""Models of transformers, as many as can be made tiny: which of them break, and what is left of that.

    python -m bench.many_models [--train] [--models bert vit …] [--output bench/results/many_models.md]

In: transformers' own list of base models. Out: a table of those that break in plain `torch.compile`, or are another
program than eager; three calls each with other inputs, backend eager, outputs compared bit by bit. A model for which
these sizes or inputs do not do is passed over, and named at the end.
"""

from __future__ import annotations

import argparse
import inspect
import multiprocessing
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch._dynamo
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

import graphmend
from bench.machine import machine
from bench.page import Page

# What configurations call their sizes, by what they are here.
_SIZES = {
    1: "n_group topk_group first_k_dense_replace n_shared_experts num_hidden_groups",
    2: """num_hidden_layers encoder_layers decoder_layers n_layer n_layers num_layers layers num_encoder_layers
        num_decoder_layers num_feat_extract_layers num_key_value_heads num_experts_per_tok""",
    3: "num_channels",
    4: """num_attention_heads encoder_attention_heads decoder_attention_heads n_head num_heads n_heads attention_heads
        num_experts num_local_experts n_routed_experts state_size time_step_rank block_size attention_window
        num_conv_pos_embedding_groups""",
    8: "head_dim d_kv d_head v_head_dim qk_rope_head_dim qk_nope_head_dim patch_size",
    16: "kv_lora_rank num_mel_bins num_conv_pos_embeddings",
    32: """hidden_size d_model n_embd dim embedding_size embed_dim d_embed attention_hidden_size image_size
        word_embed_proj_dim moe_intermediate_size""",
    50: "max_source_positions",
    64: """intermediate_size d_ff encoder_ffn_dim decoder_ffn_dim ffn_dim n_inner d_inner hidden_dim
        max_position_embeddings n_positions max_target_positions""",
    128: "vocab_size",
}
_SMALL: dict[str, Any] = {name: size for size, names in _SIZES.items() for name in names.split()}
_SMALL |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "depths": [1, 1]}
_SMALL |= {"conv_dim": (32, 32), "conv_stride": (5, 2), "conv_kernel": (10, 3)}
_MOST_PARAMETERS = 30_000_000
_SECONDS = 240.0
_CALLS = 3


@dataclass
class Row:
    """What was seen of one model."""

    name: str
    # Why it was passed over.
    skipped: str = ""
    plain_breaks: int = 0
    plain_graphs: int = 0
    plain_seconds: float = 0.0
    plain_outcome: str = ""
    graphs: int = 0
    mended: int = 0
    left: list[str] = field(default_factory=list)
    ran_as_written: int = 0
    seconds: float = 0.0
    outcome: str = ""

    @property
    def breaks(self) -> bool:
        return self.plain_breaks > 0 or self.plain_outcome.startswith("raises")

    @property
    def is_whole(self) -> bool:
        return not self.left and not self.outcome.startswith("raises")


def shrink(config: Any) -> Any:
    """Makes a model's configuration, and those inside of it, as small as they may be."""
    for name, value in _SMALL.items():
        if type(getattr(config, name, None)) is type(value):
            setattr(config, name, value)
    if isinstance(getattr(config, "layer_types", None), list):
        config.layer_types = config.layer_types[:2]
    for inner in list(vars(config).values()):
        if isinstance(inner, transformers.PretrainedConfig):
            shrink(inner)
    return config


def inputs(model: Any, seed: int) -> dict[str, Any]:
    """Two texts of which one ends earlier, two pictures or two sounds."""
    torch.manual_seed(seed)
    config, name, taken = model.config, model.main_input_name, inspect.signature(model.forward).parameters
    given: dict[str, Any] = {}
    if "input_ids" in taken and name in ("input_ids", "inputs", "pixel_values"):
        given["input_ids"] = torch.randint(3, 100, (2, 12))
        if "attention_mask" in taken:
            given["attention_mask"] = torch.ones(2, 12, dtype=torch.long)
            given["attention_mask"][1, 10 - seed :] = 0
    if "pixel_values" in taken and (name == "pixel_values" or hasattr(config, "vision_config")):
        size = getattr(config, "image_size", None) or getattr(getattr(config, "vision_config", None), "image_size", 32)
        side = size[0] if isinstance(size, (tuple, list)) else size
        given["pixel_values"] = torch.randn(2, getattr(config, "num_channels", None) or 3, side, side)
    if name == "input_values":
        given["input_values"] = torch.randn(2, 1600)
    if name == "input_features":
        given["input_features"] = torch.randn(2, getattr(config, "num_mel_bins", 16), 100)
    if "decoder_input_ids" in taken:
        given["decoder_input_ids"] = torch.randint(3, 100, (2, 12))
    return given


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value.detach().clone()
    elif isinstance(value, (dict, list, tuple)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(each)


def calls(model: Callable[..., Any], given: list[dict[str, Any]], train: bool) -> Iterator[list[torch.Tensor]]:
    for each in given:
        torch.manual_seed(7)
        random.seed(7)
        np.random.seed(7)
        with torch.set_grad_enabled(train):
            yield list(tensors_in(model(**each)))


def compare(
    model: Callable[..., Any], given: list[dict[str, Any]], expected: list[list[torch.Tensor]], train: bool
) -> str:
    """What a compiled model is beside eager."""
    try:
        seen = list(calls(model, given, train))
    except Exception as error:
        return f"raises {type(error).__name__}"
    for one, other in zip(seen, expected, strict=True):
        if [each.shape for each in one] != [each.shape for each in other]:
            return "different"
        if not all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(one, other, strict=True)):
            return "different"
    return "same"


def judge(name: str, train: bool) -> Row:
    row = Row(name)
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(shrink(CONFIG_MAPPING[name]())).train(train)
    if sum(each.numel() for each in model.parameters()) > _MOST_PARAMETERS:
        row.skipped = "it stays large"
        return row
    given = [inputs(model, seed) for seed in range(_CALLS)]
    expected = list(calls(model, given, train))
    counters: Any = torch._dynamo.utils.counters
    counters.clear()
    started = time.perf_counter()
    row.plain_outcome = compare(torch.compile(model, backend="eager"), given, expected, train)
    row.plain_seconds = time.perf_counter() - started
    row.plain_breaks = sum(counters["graph_break"].values())
    row.plain_graphs = counters["stats"].get("unique_graphs", 0)
    torch._dynamo.reset()
    compiled = graphmend.compile(model, backend="eager")
    started = time.perf_counter()
    row.outcome = compare(compiled, given, expected, train)
    row.seconds = time.perf_counter() - started
    report = compiled.report
    row.graphs, row.mended, row.ran_as_written = report.graphs, len(report.mended), report.misses
    row.left = [f"{Path(each.file).name}:{each.line}: {each.reason}" for each in report.left]
    return row


def _judge_into(pipe: Connection, name: str, train: bool) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    try:
        row = judge(name, train)
    except Exception as error:
        row = Row(name, skipped=f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:80]}")
    pipe.send(row)


def in_own_process(name: str, train: bool) -> Row:
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_judge_into, args=(sender, name, train))
    process.start()
    sender.close()
    try:
        row: Row = receiver.recv() if receiver.poll(_SECONDS) else Row(name, skipped="it took too long")
    except EOFError:
        row = Row(name, skipped="its process died")
    process.kill()
    process.join()
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=list(MODEL_MAPPING_NAMES), metavar="NAME", help="these alone")
    parser.add_argument("--train", action="store_true", help="in train mode, with gradients recorded")
    parser.add_argument("--output", type=Path, help="the page to write")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    about = (
        f"`python -m bench.many_models{' --train' if options.train else ''}` on {machine()}, torch "
        f"{torch.__version__}, transformers {transformers.__version__}: base models, tiny, with random weights, "
        f"backend eager. {_CALLS} calls each with other inputs; outputs are compared with eager bit by bit."
    )
    columns = ("model", "torch.compile: breaks, graphs, s", "graphmend.compile: graphs, s", "mended", "left")
    page = Page("Many models", about, (*columns, "ran as written", "beside eager: plain, mended"), options.output)
    rows = []
    for name in options.models or MODEL_MAPPING_NAMES:
        row = in_own_process(name, options.train)
        rows.append(row)
        if not row.skipped and (row.breaks or row.outcome != "same" or row.left):
            plain = f"{row.plain_breaks}, {row.plain_graphs}, {row.plain_seconds:.1f}"
            own = f"{row.graphs}, {row.seconds:.1f}"
            outcomes = f"{row.plain_outcome}, {row.outcome}"
            page.add((name, plain, own, row.mended, len(row.left), f"{row.ran_as_written} of {_CALLS}", outcomes))
    judged = [row for row in rows if not row.skipped]
    breaking = [row for row in judged if row.breaks]
    whole = sum(row.is_whole for row in breaking)
    page.end(f"{len(judged)} models, of which {len(breaking)} break; of these {whole} have nothing left.")
    for row in judged:
        if row.left:
            page.end(f"Left in {row.name}: " + "; ".join(row.left) + ".")
    passed_over = [f"{row.name} ({row.skipped})" for row in rows if row.skipped]
    if passed_over:
        page.end("Passed over: " + "; ".join(passed_over) + ".")
    wrong = [row.name for row in judged if row.outcome != "same" and row.plain_outcome == "same"]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
