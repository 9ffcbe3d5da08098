"""Real models whose control flow hangs on their input, on inputs that are all different, in one run.

    python -m bench.varied [--inputs 1000] [--backend eager] [--output bench/results/varied.md]

In: nothing; tiny models of transformers with random weights. Out: a table: outputs that differ from eager, how often
predictions were right, and milliseconds a call for eager, torch.compile and graphmend.compile, which take turns.
"""

import argparse
import copy
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

import graphmend
from bench.machine import machine
from bench.page import Page
from graphmend._mending import speculate

# Of all calls these are the first, in which most is compiled.
_WARM_UP = 0.3


def experts() -> torch.nn.Module:
    """Each token goes to two of eight experts; those that no token goes to are passed over."""
    import transformers

    config = transformers.Qwen2MoeConfig(
        num_hidden_layers=2,
        hidden_size=64,
        num_attention_heads=2,
        num_key_value_heads=2,
        intermediate_size=64,
        moe_intermediate_size=32,
        shared_expert_intermediate_size=32,
        num_experts=8,
        num_experts_per_tok=2,
        vocab_size=128,
        max_position_embeddings=128,
    )
    return transformers.Qwen2MoeForCausalLM(config)


def tokens(seed: int) -> dict[str, Any]:
    """Two texts of one of four lengths."""
    torch.manual_seed(seed)
    return {"input_ids": torch.randint(0, 128, (2, (32, 48, 64, 96)[seed % 4])), "use_cache": False}


def speech() -> torch.nn.Module:
    """How long the sound is hangs on what the model takes each letter's length to be."""
    import transformers

    config = transformers.VitsConfig(
        vocab_size=38,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        ffn_dim=32,
        flow_size=16,
        spectrogram_bins=9,
        upsample_initial_channel=16,
        upsample_rates=[4, 4],
        upsample_kernel_sizes=[8, 8],
        resblock_kernel_sizes=[3],
        resblock_dilation_sizes=[[1, 3]],
        prior_encoder_num_flows=2,
        prior_encoder_num_wavenet_layers=2,
        wavenet_dilation_rate=1,
        posterior_encoder_num_wavenet_layers=2,
        duration_predictor_filter_channels=16,
        depth_separable_channels=2,
        duration_predictor_num_flows=2,
    )
    return transformers.VitsModel(config)


def letters(seed: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    return {"input_ids": torch.randint(1, 38, (1, 12))}


# What is built, its inputs by number, and the name of what is compared.
MODELS: dict[str, tuple[Callable[[], torch.nn.Module], Callable[[int], dict[str, Any]], str]] = {
    "a mixture of experts": (experts, tokens, "logits"),
    "text to speech": (speech, letters, "waveform"),
}


def called(model: Any, seed: int, inputs: dict[str, Any]) -> tuple[Any, float]:
    """What a call gives, with the same random numbers each time, and its seconds."""
    torch.manual_seed(seed)
    started = time.perf_counter()
    result = model(**inputs)
    return result, time.perf_counter() - started


def row(name: str, inputs: int, backend: str) -> tuple[Any, ...]:
    build, made, output = MODELS[name]
    torch._dynamo.reset()
    speculate.sites.clear()
    torch.manual_seed(0)
    eager = build().eval()
    plain = torch.compile(copy.deepcopy(eager), backend=backend)
    mended = graphmend.compile(copy.deepcopy(eager), backend=backend)
    times: dict[str, list[float]] = {"eager": [], "plain": [], "mended": []}
    differ = 0
    with torch.no_grad():
        for seed in range(inputs):
            given = made(seed)
            results = {}
            for kind, model in (("eager", eager), ("plain", plain), ("mended", mended)):
                result, seconds = called(model, seed, given)
                times[kind].append(seconds)
                results[kind] = getattr(result, output)
            differ += not _same(results["eager"], results["mended"], backend)
            if (seed + 1) % 100 == 0:
                print(f"{name}: {seed + 1} of {inputs} inputs, {differ} different", flush=True)
    sites = list(speculate.sites.values())
    hits, misses = sum(site.hits for site in sites), sum(site.misses for site in sites)
    after = int(inputs * _WARM_UP)
    later = [f"{1e3 * sum(each[after:]) / len(each[after:]):.2f}" for each in times.values()]
    whole = [f"{sum(each):.1f}" for each in (times["plain"], times["mended"])]
    report = mended.report
    places = f"{len(report.mended)} mended, {len(report.left)} left"
    predicted = f"{len(sites)} sites, {hits} right, {misses} wrong, {sum(site.given_up for site in sites)} given up"
    ran = f"{report.misses} of {inputs}"
    return name, backend, differ, places, predicted, ran, *later, *whole


def _same(one: torch.Tensor, other: torch.Tensor, backend: str) -> bool:
    if backend == "eager":
        return bool(torch.equal(one, other))
    return one.shape == other.shape and bool(torch.allclose(one, other, rtol=1e-3, atol=1e-4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--backend", default="eager")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--output", type=Path, help="the page to write")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    about = (
        f"`python -m bench.varied --inputs {options.inputs} --backend {options.backend}` on {machine()}, torch "
        f"{torch.__version__}. No input is like another. Outputs are compared with eager, bit by bit where the backend "
        f"is eager. Milliseconds a call are means of the last {1 - _WARM_UP:.0%} of the calls."
    )
    columns = ("model", "backend", "outputs that differ", "places", "predictions", "ran as written")
    more = ("eager, ms", "torch.compile, ms", "mended, ms", "all calls, torch.compile, s", "mended, s")
    page = Page("Inputs that are all different", about, columns + more, options.output)
    for name in options.models:
        page.add(row(name, options.inputs, options.backend))


if __name__ == "__main__":
    main()
