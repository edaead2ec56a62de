"""The formula asks for what engines were seen to take, and not for twice as much."""

import pytest

from twohalves.formulas import kv_shape, memory_needed

MB = 1_000_000
WEIGHTS = 98_362_432


def shape(architecture, **own):
    info = {f"{architecture}.{name.replace('__', '.')}": value for name, value in own.items()}
    return kv_shape({"general.architecture": architecture} | info)


SMOLLM2 = shape(
    "llama", block_count=30, attention__head_count=9, attention__head_count_kv=3,
    embedding_length=576,
)  # fmt: skip
GEMMA3 = shape(
    "gemma3", block_count=18, attention__head_count=4, attention__head_count_kv=1,
    embedding_length=640, attention__key_length=256, attention__value_length=256,
    attention__sliding_window=512,
)  # fmt: skip


@pytest.mark.parametrize(
    ("window", "slots", "kv_type", "flash_attention", "taken"),
    [
        # resident memory of llama.cpp's server with full slots, Python and all, MB of 10^6
        (512, 1, "f16", True, 194),
        (2048, 1, "f16", True, 233),
        (4096, 1, "f16", True, 283),
        (8192, 1, "f16", True, 382),
        (2048, 4, "f16", True, 396),
        (4096, 1, "q8_0", True, 236),
        (4096, 1, "f16", False, 377),
    ],
)
def test_a_process_that_was_watched_fits(window, slots, kv_type, flash_attention, taken):
    """Never less than what it took, and less than 130 MB more."""
    needed = memory_needed(
        SMOLLM2, window, slots, kv_type, WEIGHTS, flash_attention=flash_attention
    )

    assert taken * MB < needed < (taken + 130) * MB


@pytest.mark.parametrize(
    ("model", "weights", "window", "recorded"),
    [
        # `size` in /api/ps of Ollama 0.24
        (SMOLLM2, 98_363_007, 512, 108_373_248),
        (SMOLLM2, 98_363_007, 8192, 285_320_448),
        (GEMMA3, 253_113_294, 512, 452_633_088),
        (GEMMA3, 253_113_294, 4096, 477_798_912),
        (GEMMA3, 253_113_294, 8192, 494_576_128),
        (GEMMA3, 253_113_294, 32_768, 595_239_424),
    ],
)
def test_what_ollama_recorded_fits(model, weights, window, recorded):
    """Ollama leaves its own process out of `size`, so that is the least it takes."""
    needed = memory_needed(model, window, 1, "f16", weights)

    assert recorded < needed < recorded + 220 * MB


def test_the_cache_is_the_part_that_grows():
    """From 4,095 to 8,191 tokens: 4,096 x (23,040 + 1,024 of mask), in each of four slots."""
    small = memory_needed(SMOLLM2, 4095, 4, "f16", WEIGHTS)
    large = memory_needed(SMOLLM2, 8191, 4, "f16", WEIGHTS)

    assert large - small == 4 * 4096 * 24_064
