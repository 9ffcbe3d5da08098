"""A transformer that writes text, with its cache: the model compiled, and the whole loop around it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers

import graphmend

# torch and transformers warn on their own account.
pytestmark = pytest.mark.filterwarnings("ignore")


def writer() -> Any:
    torch.manual_seed(0)
    config = transformers.GPT2Config(n_layer=1, n_embd=16, n_head=2, vocab_size=32, n_positions=32)
    model = transformers.GPT2LMHeadModel(config).eval()
    model.generation_config.pad_token_id = 0
    model.generation_config.eos_token_id = 1
    return model


def texts(seed: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    ids = torch.randint(2, 32, (2, 5))
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "max_new_tokens": 2, "do_sample": False}


def test_the_model_is_compiled() -> None:
    model = writer()
    expected = [model.generate(**texts(seed)) for seed in range(3)]
    model.forward = graphmend.compile(model.forward, backend="eager")
    for seed in range(3):
        assert torch.equal(model.generate(**texts(seed)), expected[seed])
    assert model.forward.report.whole


def test_the_loop_is_compiled() -> None:
    """Whether all texts have ended is asked after each word, and predicted."""
    model = writer()
    expected = [model.generate(**texts(seed)) for seed in range(3)]
    plainly: list[int] = []

    def count(graph: torch.fx.GraphModule, _: Any) -> Any:
        plainly.append(1)
        return graph.forward

    torch.compile(model.generate, backend=count)(**texts(0))
    compiled = graphmend.compile(model.generate, backend="eager")
    for seed in range(3):
        assert torch.equal(compiled(**texts(seed)), expected[seed])
    report = compiled.report
    assert report.graphs == 1 < len(plainly)
    # What is left is in the standard library, in front of the loop.
    assert {entry.reason for entry in report.left} == {"it is in torch or in the standard library"}
    # A prediction that is wrong: both texts end with what the first one begins with.
    given = texts(0)
    given["input_ids"][1] = given["input_ids"][0]
    given["eos_token_id"] = int(model.generate(**given)[0, 5])
    ended = compiled(**given)
    assert torch.equal(ended, model.generate(**given)) and ended.shape[1] == 6
