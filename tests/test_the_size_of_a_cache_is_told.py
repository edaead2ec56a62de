"""Section 31.3: what a cache weighs, in units that are said, for the chapter's model and others."""

import json
import pathlib
import re

import pytest

from tests.tables import page_of, rows_of
from twohalves import runs
from twohalves.errors import QuantityUnusable, RunMissing
from twohalves.runs.load import Run
from twohalves.runs.reference import claim
from twohalves.show import cache_size, families, own_cache
from twohalves.show.calculator import spec
from twohalves.show.calculator.start import begin

PROJECT = pathlib.Path(__file__).resolve().parents[1]
NOTEBOOK = PROJECT / "notebooks" / "31-03-kv-cache.ipynb"
PLAIN = {  # as llama3.2:3b
    "general.architecture": "llama",
    "llama.block_count": 28,
    "llama.attention.head_count": 24,
    "llama.attention.head_count_kv": 8,
    "llama.attention.key_length": 128,
    "llama.attention.value_length": 128,
}
WINDOWED = {  # as gemma3:270m: 15 of 18 layers look back 512 tokens
    "general.architecture": "gemma3",
    "gemma3.block_count": 18,
    "gemma3.attention.head_count": 4,
    "gemma3.attention.head_count_kv": 1,
    "gemma3.attention.key_length": 256,
    "gemma3.attention.value_length": 256,
    "gemma3.attention.sliding_window": 512,
}


def run_of(tmp_path, own_keys, size=2_019_393_189, **server):
    session = {
        "server": {"kind": "ollama", **server},
        "model": {"name": "m:3b", "own_keys": own_keys, "size": size},
        "options": {"num_ctx": 8192},
        "machine": {"memory_bytes": 16 * 2**30},
    }
    return Run(folder=tmp_path / "r", session=session, timings=())


def test_the_chapters_table():
    """Printed with fewer digits: 0.88, 3.50, 14.00; 0.46, 1.86, 7.44; 0.15, 0.59, 2.3; 0.47, 1.9,
    7.5. The first row is 8,192 x 114,688 / 2^30 = 0.875 GiB, and 0.9395 / 6.4 GB = 0.147.
    """
    tokens, f16, _, q8, _, matched, widest = zip(*rows_of(cache_size.by_window()), strict=True)

    assert tokens == ("8,192", "32,768", "131,072")
    assert f16 == ("0.875", "3.5", "14")
    assert q8 == ("0.465", "1.86", "7.44")
    assert matched == ("0.147×", "0.587×", "2.35×")
    assert widest == ("0.47×", "1.88×", "7.52×")


def test_the_three_ratios_and_what_mixed_units_make_of_them():
    """7.5, 2.3 and 4.0 in bytes; 14 GiB over 2 GB would be 7.0, then 2.2 and 3.7."""
    cells = [row[2:] for row in rows_of(cache_size.ratios())]

    assert cells == [["7.5×", "7.0×"], ["2.3×", "2.2×"], ["4.0×", "3.7×"]]
    assert [claim(name) for name in ("ratio_fp16_file", "ratio_matched", "ratio_q8_file")] == [
        7.5, 2.3, 4.0,
    ]  # fmt: skip


def test_a_cache_saves_the_square():
    """3 tokens in, 4 out: 3 + 4 + 5 + 6 = 18 are read without a cache, 3 + 3 with one."""
    said = cache_size.without_a_cache(3, 4).data

    assert "18 tokens pass" in said
    assert "6, or 33.3% of that" in said
    assert "two or more" in cache_size.without_a_cache(3, 1).data


@pytest.mark.parametrize("given", [-5, 0, 1.5, "890", None, 10**10])
def test_what_is_no_count_of_tokens_is_named(given):
    """By the name that it has in the cell; nothing is computed."""
    with pytest.raises(QuantityUnusable, match="prompt_tokens = "):
        cache_size.without_a_cache(given, 3)
    with pytest.raises(QuantityUnusable, match="output_tokens = "):
        cache_size.without_a_cache(3, given)
    with pytest.raises(QuantityUnusable, match="with tokens = "):
        families.one(cache_size.chapter_shape(), given)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (cache_size.factors, ("114{,}688", "112")),
        (cache_size.the_longest, ("14 GiB (15 GB)", "7.5×")),
        (cache_size.shared_heads, ("42 GiB", "3 queries", "10.7 GB", "85.9 GB")),
        (
            cache_size.on_a_card,
            ("3.2 billion weights", "10.2 GB together", "14 GiB", "17.03 GB", "15.86 GiB"),
        ),
        (cache_size.experts_speed, ("9% of", "dense model of 9.7 billion")),
        (cache_size.by_type, ("| 1.0625 | 59.5 |", "53%")),
    ],
)
def test_the_chapters_figures_are_told(told, expected):
    """Each by the formula, from the counts of the claims."""
    for figure in expected:
        assert figure in told().data


def test_the_readers_model_is_sized(tmp_path):
    """The chapter's shape in f16 gives 114,688 bytes; 8,192 of them are 0.875 GiB."""
    run = run_of(tmp_path, PLAIN)
    cells = {row[0]: row[1] for row in rows_of(own_cache.own_token(run))}

    assert cells["bytes for a token"] == "114,688"
    assert cells["cache of 8,192 tokens"] == "0.875 GiB (0.94 GB)"
    assert "taken as the default" in own_cache.own_token(run).data
    assert "0.465 times the model's file" in own_cache.own_sizes(run).data


def test_the_readers_model_stands_beside_the_chapters(tmp_path):
    """The same shape with its cache at q8_0: 17/32 of the chapter's bytes at f16."""
    rows = rows_of(own_cache.own_token(run_of(tmp_path, PLAIN, kv_type="q8_0")))

    assert all(yours == chapter for _, yours, chapter in rows[:4])
    assert rows[3][1:] == ["128 + 128", "128 + 128"]
    assert rows[4:] == [
        ["bytes for a token", "60,928", "114,688"],
        ["cache of 8,192 tokens", "0.465 GiB (0.499 GB)", "0.875 GiB (0.94 GB)"],
    ]


def test_the_sliders_begin_with_the_readers_model(tmp_path):
    """Each value is taken as it is, and says from which run it is.

    The margin: 176 MiB, a twentieth of 2.02 GB and 8,448 x 1,024 bytes are 0.274 GiB.
    """
    run = run_of(tmp_path, PLAIN, kv_type="q8_0")
    begun = begin(spec("kv_cache"), own_cache.start(run), ())

    assert begun.notes == []
    assert begun.values == {
        "layers": 28, "kv_heads": 8, "head_dim": 128, "weights_gb": 2.019, "tokens": 8192,
        "slots": 1, "cache_type": "q8_0", "memory_gib": 16, "margin_gib": 0.28, "parameters_b": 0,
    }  # fmt: skip
    assert begun.sources["layers"] == "run r"
    assert begun.sources["parameters_b"] == "not told in run r"
    run.session["model"]["parameter_count"] = 3_212_749_888
    assert begin(spec("kv_cache"), own_cache.start(run), ()).values["parameters_b"] == 3.213


def test_layers_of_several_kinds_are_told_apart(tmp_path):
    """3 layers grow, 15 have a window: 2 x 256 x 2 bytes each; the sliders know one kind only."""
    run = run_of(tmp_path, WINDOWED)

    said = own_cache.own_sizes(run).data
    assert "15 KiB are kept in layers with a window" in said
    assert said.count("windows") == 1
    assert own_cache.start(run) == {}


def test_a_model_without_a_shape_is_no_failure(tmp_path):
    """A note says what is missing, and nothing is made up."""
    run = run_of(tmp_path, {}, size=None)

    assert "cannot be sized" in own_cache.own_token(run).data
    assert "the chapter's model" in own_cache.own_sizes(run).data
    assert own_cache.start(run) == {}


def test_a_page_that_asks_nobody_takes_the_run_at_hand(tmp_path):
    """The named one; else there has to be one at all."""
    assert runs.at_hand({"TWOHALVES_RUN": "sample-smollm2-135m"}).id == "sample-smollm2-135m"
    with pytest.raises(RunMissing):
        runs.at_hand({}, tmp_path)


CLAIMS = {
    "kv_factor": "Key and value, 28 layers, 8 KV heads, 128 numbers in a head",
    "fp16_bytes": "two bytes a number",
    "kv_bytes_per_token": "114{,}688",
    "kv_kib_per_token": "112\\ \\text{KiB}",
    "q8_bytes": "| 1.0625 |",
    "q8_kib_per_token": "| 59.5 |",
    "q8_full_gib": "| 7.44 GiB (7.99 GB) | 53% |",
    "q8_over_fp16": "| 53% |",
    "full_window": "full window of 131,072 tokens",
    "full_window_k": "| 131,072 | 14 |",
    "kv_full_gib": "**14 GiB (15 GB)**",
    "kv_full_gb": "**14 GiB (15 GB)**",
    "ratio_matched": "| 2.3× |",
    "ratio_q8_file": "| 4.0× |",
    "ratio_fp16_file": "| 7.5× |",
    "weights_nominal_bits": "called a four-bit one",
    "honest_ratios": "Three comparisons are fair",
    "shared_heads": "3 queries share a pair",
    "kv_full_mha_gib": "42 GiB (45.1 GB) instead of 14 GiB",
    "big_model_b": "a model of 70 billion weights",
    "big_kv_gqa_gb": "10 GiB (10.7 GB) for one request",
    "big_kv_mha_gb": "80 GiB (85.9 GB) if nothing were shared",
    "bits_per_byte": "parameters times bits divided by eight",
    "params_billion": "3.2 billion weights at 16 bits",
    "fp16_weights_gb": "at 16 bits: 6.4 GB",
    "avg_bits": "weights of about 5 bits",
    "long_conv_k": "| 32,768 | 3.5 | 3.76 |",
    "long_conv_gib": "| 32,768 | 3.5 | 3.76 |",
    "long_conv_gb": "3.76 GB of cache",
    "card_total_gb": "10.2 GB together",
    "conversations": "**4 at once**",
    "four_conv_gib": "the cache 4 times, 14 GiB (15 GB)",
    "four_conv_over_weights": "2.35 times the weights",
    "moe_file_gb": "a file of 23.9 GB",
    "moe_total_b": "35 billion weights",
    "moe_active_b": "3 billion of them active",
    "dense_b": "a dense model of 9.7 billion",
    "paged_reserved": "Room for 2,000 tokens is set aside",
    "paged_used": "200 come",
}


@pytest.mark.parametrize("text", CLAIMS.values(), ids=CLAIMS)
def test_the_stored_page_holds_the_chapters_claim(text):
    """Each figure of the chapter's section stands on the page."""
    assert text in page_of(NOTEBOOK)


def test_no_claim_of_the_section_was_forgotten():
    """The list above has all of data/claims.csv."""
    lines = (PROJECT / "data" / "claims.csv").read_text(encoding="utf-8").splitlines()

    assert {line.split(",")[0] for line in lines if re.match(r"\w+,31\.3,", line)} == set(CLAIMS)


def test_a_model_that_keeps_no_keys_has_no_cache_to_size(tmp_path):
    """As Falcon-Mamba: nothing is divided by zero, and the sliders begin with the chapter's."""
    run = run_of(tmp_path, {"general.architecture": "mamba", "mamba.block_count": 64})

    assert "nothing grows" in own_cache.own_token(run).data
    assert "put in what you know" in own_cache.own_sizes(run).data
    assert own_cache.start(run) == {}


def test_the_page_asks_no_server():
    """Whoever runs all cells loads no model: what would do that is shown, not run."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    run = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")

    assert "cache_type(" not in run
    assert "lab.cache_type(agreed=True)" in page_of(NOTEBOOK)
