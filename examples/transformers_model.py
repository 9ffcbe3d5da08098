"""A model of transformers, as it is in the library: how torch.compile takes it apart, and what graphmend makes of it.

The weights are random and the sizes small; the code is the library's own, untouched.
"""

import argparse
import copy
import logging
import time
from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo
import transformers

import graphmend


def build() -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    torch.manual_seed(0)
    config = transformers.BartConfig(
        vocab_size=128,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
    )
    model = transformers.BartForConditionalGeneration(config).half().eval()
    ids = torch.randint(3, 128, (1, 16))
    return model, {"input_ids": ids, "attention_mask": torch.ones_like(ids), "decoder_input_ids": ids[:, :1]}


def logits(model: Callable[..., Any], inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    result: torch.Tensor = model(**copy.deepcopy(inputs)).logits
    return result


def milliseconds(model: Callable[..., Any], inputs: dict[str, torch.Tensor], calls: int = 30) -> float:
    """The least of many calls: the machine's own speed."""
    best = float("inf")
    for _ in range(calls):
        started = time.perf_counter()
        model(**inputs)
        best = min(best, time.perf_counter() - started)
    return best * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--report", help="also write the report to this file (.html, .json or .txt)")
    arguments = parser.parse_args()
    # Dynamo and transformers talk much; here the reports say what matters.
    logging.getLogger("torch").setLevel(logging.ERROR)
    transformers.logging.set_verbosity_error()

    model, inputs = build()
    name = type(model).__name__
    with torch.no_grad():
        expected = logits(model, inputs)

        print(f"{name}, transformers {transformers.__version__}, torch {torch.__version__}\n")
        print("torch.compile:")
        explained = torch._dynamo.explain(copy.deepcopy(model))(**copy.deepcopy(inputs))
        print(f"  {explained.graph_count} graphs, {explained.graph_break_count} breaks, {explained.op_count} ops\n")

        mended = graphmend.compile(copy.deepcopy(model), backend=arguments.backend)
        started = time.perf_counter()
        got = logits(mended, inputs)
        seconds = time.perf_counter() - started
        print(f"graphmend.compile, backend {arguments.backend} ({seconds:.0f} s for the first call):")
        print("  " + str(mended.report).replace("\n", "\n  "))
        print(f"  largest difference to eager: {(got - expected).abs().max().item():.1e}\n")

        after = milliseconds(mended, inputs)
        torch._dynamo.reset()
        plain = torch.compile(copy.deepcopy(model), backend=arguments.backend)
        logits(plain, inputs)
        before = milliseconds(plain, inputs)
        print(f"a call: {before:.2f} ms with breaks, {after:.2f} ms mended ({100 * (after / before - 1):+.0f} %)")
    if arguments.report:
        mended.report.save(arguments.report)
        print(f"the report: {arguments.report}")


if __name__ == "__main__":
    main()
