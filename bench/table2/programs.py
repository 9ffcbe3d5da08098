"""The twelve programs behind the 21 rows of the paper's Table 2 that can be rebuilt without network.

In: transformers' own classes; weights are random, sizes small. Out: a model and the arguments of one call.
Left out: the six rows whose models need remote code. Seeds, modes and grad settings are the caller's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
import transformers
from torch import Tensor, nn

TORCH = "2.13.0"
TRANSFORMERS = "4.52.4"

Built = tuple[nn.Module, dict[str, Any]]


@dataclass(frozen=True)
class Program:
    """A builder, the paper's rows it stands for, and what was measured for it on the pinned versions."""

    name: str
    rows: tuple[str, ...]
    build: Callable[[], Built]
    # Breaks (graphs - 1) known from earlier measurements: plain, and with Dynamo's own settings.
    plain: int
    settings: int
    # In train mode, where it needs other inputs there.
    build_for_training: Callable[[], Built] | None = None


def token_ids(length: int = 8, lowest: int = 0, batch: int = 1) -> Tensor:
    return torch.randint(lowest, 128, (batch, length))


# Encoder-decoder models of one family share these sizes.
SEQ2SEQ = MappingProxyType(
    {
        "vocab_size": 128,
        "d_model": 64,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 128,
        "decoder_ffn_dim": 128,
    }
)

# Encoders and decoders that follow BERT's names share these.
SMALL = MappingProxyType(
    {
        "vocab_size": 128,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 128,
    }
)


def t5() -> Built:
    config = transformers.T5Config(vocab_size=128, d_model=64, d_ff=128, num_layers=2, num_heads=2, d_kv=32)
    model = transformers.T5ForConditionalGeneration(config)
    return model, {"input_ids": token_ids(), "decoder_input_ids": token_ids()}


def whisper() -> Built:
    config = transformers.WhisperConfig(
        **SEQ2SEQ,
        num_mel_bins=80,
        max_source_positions=64,
        max_target_positions=64,
        decoder_start_token_id=2,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = transformers.WhisperForConditionalGeneration(config)
    return model, {"input_features": torch.randn(1, 80, 128), "decoder_input_ids": token_ids()}


def half_precision_inputs() -> dict[str, Any]:
    input_ids = token_ids(lowest=3)
    return {
        "input_ids": input_ids,
        "attention_mask": torch.ones_like(input_ids),
        "decoder_input_ids": token_ids(length=1, lowest=3),
    }


def bart() -> Built:
    config = transformers.BartConfig(**SEQ2SEQ, max_position_embeddings=64)
    return transformers.BartForConditionalGeneration(config).half(), half_precision_inputs()


def opus_mt() -> Built:
    config = transformers.MarianConfig(**SEQ2SEQ, max_position_embeddings=64, decoder_start_token_id=2, pad_token_id=1)
    return transformers.MarianMTModel(config).half(), half_precision_inputs()


def biogpt() -> Built:
    config = transformers.BioGptConfig(**SMALL, max_position_embeddings=64)
    return transformers.BioGptForCausalLM(config), {"input_ids": token_ids()}


def blenderbot() -> Built:
    config = transformers.BlenderbotConfig(**SEQ2SEQ, max_position_embeddings=64)
    model = transformers.BlenderbotForConditionalGeneration(config)
    return model, {"input_ids": token_ids(), "decoder_input_ids": token_ids()}


def pegasus() -> Built:
    config = transformers.PegasusConfig(
        vocab_size=128,
        d_model=64,
        decoder_layers=2,
        decoder_attention_heads=2,
        decoder_ffn_dim=128,
        max_position_embeddings=64,
    )
    return transformers.PegasusForCausalLM(config), {"input_ids": token_ids()}


def layoutlmv3() -> Built:
    config = transformers.LayoutLMv3Config(
        **SMALL,
        max_position_embeddings=64,
        max_2d_position_embeddings=1024,
        coordinate_size=8,
        shape_size=16,
        input_size=32,
        patch_size=16,
        visual_embed=False,
    )
    model = transformers.LayoutLMv3Model(config)
    return model, {"input_ids": token_ids(), "bbox": torch.zeros(1, 8, 4, dtype=torch.long)}


def phi() -> Built:
    config = transformers.Phi3Config(
        **SMALL,
        num_key_value_heads=2,
        pad_token_id=0,
        max_position_embeddings=64,
        original_max_position_embeddings=16,
        rope_scaling={"type": "longrope", "short_factor": [1.0] * 16, "long_factor": [2.0] * 16},
    )
    return transformers.Phi3ForCausalLM(config), {"input_ids": token_ids()}


def longformer() -> Built:
    config = transformers.LongformerConfig(**SMALL, max_position_embeddings=512, attention_window=8)
    return transformers.LongformerModel(config), {"input_ids": token_ids(length=20)}


def grounding_dino() -> Built:
    backbone = transformers.SwinConfig(
        image_size=32,
        patch_size=4,
        embed_dim=16,
        depths=[1, 1],
        num_heads=[1, 1],
        window_size=2,
        out_features=["stage1", "stage2"],
    )
    config = transformers.GroundingDinoConfig(
        backbone_config=backbone,
        text_config=transformers.BertConfig(**SMALL, max_position_embeddings=64),
        d_model=64,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=128,
        decoder_ffn_dim=128,
        num_queries=4,
        num_feature_levels=2,
        use_timm_backbone=False,
    )
    model = transformers.GroundingDinoModel(config)
    return model, {"pixel_values": torch.randn(1, 3, 32, 32), "input_ids": token_ids()}


def clap(batch: int = 1) -> Built:
    config = transformers.ClapConfig(projection_dim=32)
    for name, value in {**SMALL, "num_hidden_layers": 1}.items():
        setattr(config.text_config, name, value)
    config.audio_config.enable_fusion = True
    input_ids = token_ids(batch=batch)
    return transformers.ClapModel(config), {
        "input_ids": input_ids,
        "attention_mask": torch.ones_like(input_ids),
        "input_features": torch.randn(batch, 4, 1001, config.audio_config.num_mel_bins),
        "is_longer": torch.ones(batch, 1, dtype=torch.bool),
    }


def by_name(*programs: Program) -> Mapping[str, Program]:
    return MappingProxyType({program.name: program for program in programs})


def clap_for_training() -> Built:
    """Batch normalisation in train mode refuses a batch of one."""
    return clap(batch=2)


PROGRAMS = by_name(
    Program("t5", ("t5-small", "t5-base", "t5-3b", "flan-t5-large", "it5"), t5, plain=3, settings=0),
    Program("whisper", ("whisper-large-v3", "whisper-small", "whisper-base"), whisper, plain=3, settings=0),
    Program("bart", ("bart-large-cnn", "bart-base", "rebel-large"), bart, plain=7, settings=6),
    Program("opus-mt", ("opus-mt-fr-en",), opus_mt, plain=6, settings=5),
    Program("biogpt", ("biogpt",), biogpt, plain=2, settings=0),
    Program("blenderbot", ("blenderbot-400M-distill",), blenderbot, plain=3, settings=0),
    Program("pegasus", ("tiny-random-PegasusForCausalLM",), pegasus, plain=2, settings=0),
    Program("layoutlmv3", ("layoutlmv3-base",), layoutlmv3, plain=2, settings=2),
    Program("phi", ("Phi-4-mini-instruct",), phi, plain=5, settings=5),
    Program("longformer", ("longformer-base-4096",), longformer, plain=5, settings=2),
    Program("grounding-dino", ("grounding-dino-tiny", "grounding-dino-base"), grounding_dino, plain=16, settings=16),
    Program("clap", ("clap-htsat-fused",), clap, plain=2, settings=3, build_for_training=clap_for_training),
)
