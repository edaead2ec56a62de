"""Public models of every design: what their files say, what a shortcut makes of them."""

import csv
import datetime

import pytest

from tests.tables import rows_of
from twohalves import lab
from twohalves.errors import UnknownName
from twohalves.formulas import config_shape
from twohalves.places import DATA
from twohalves.runs import published
from twohalves.show import families

BY_SHORTCUT = {
    "Llama 3.2 3B": 344_064,  # 28 layers x 24 query heads x 256 x 2
    "Falcon 7B": 581_632,  # 32 x 71 x 128 x 2
    "Mistral Nemo 12B": 204_800,  # 5120 / 32 = 160: 40 x 8 x 320 x 2
    "Gemma 3 4B": 139_264,  # 34 x 4 x 512 x 2
    "Gemma 3n E4B": 71_680,  # 35 x 2 x 512 x 2
    "DeepSeek V3": 4_997_120,  # 61 x 128 x (192 + 128) x 2
    "Qwen3 Next 80B": 98_304,  # 48 x 2 x 512 x 2
    "Falcon Mamba 7B": None,  # no heads
}


def of(name):
    return next(config_shape(model.config) for model in published.models() if model.name == name)


@pytest.mark.parametrize("model", published.models(), ids=lambda model: model.name)
def test_a_shortcut_multiplies_what_the_file_names(model):
    """The figures that public calculators were seen to print for these models."""
    assert model.by_shortcut() == BY_SHORTCUT[model.name]
    assert model.mistake
    assert model.longest >= 2048


def test_every_file_of_a_model_is_listed_with_its_source():
    """None without a line, none twice, and each line says where its values are from, and when."""
    folder = DATA / "models"
    with (folder / "models.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    assert sorted(f"{row['file']}.json" for row in rows) == sorted(
        path.name for path in folder.glob("*.json")
    )
    assert all(row["published"].startswith("huggingface.co/") and row["read_in"] for row in rows)
    for row in rows:
        assert None not in row
        assert datetime.date(2026, 1, 1) <= datetime.date.fromisoformat(row["read"])


GROWS = {  # bytes a token at f16: in layers that keep all, and in layers with a window
    "Llama 3.2 3B": (114_688, "–"),  # 28 x 8 x 256 x 2
    "Falcon 7B": (8_192, "–"),  # 32 x 1 x 128 x 2
    "Mistral Nemo 12B": (163_840, "–"),  # 40 x 8 x 256 x 2
    "Gemma 3 4B": (20_480, "118,784 × 1,024"),  # 5 and 29 x 4 x 512 x 2
    "Gemma 3n E4B": (8_192, "32,768 × 512"),  # 4 and 16 x 2 x 512 x 2
    "DeepSeek V3": (70_272, "–"),  # 61 x (512 + 64) x 2
    "Qwen3 Next 80B": (24_576, "–"),  # 12 x 2 x 512 x 2
    "Falcon Mamba 7B": (0, "–"),
}
MEMORY = {  # GiB of 32,768 tokens, or of the longest context
    "Llama 3.2 3B": "3.5",
    "Falcon 7B": "0.0156",
    "Mistral Nemo 12B": "5",
    "Gemma 3 4B": "0.738",  # 0.625 + 118,784 x 1,024 / 2^30
    "Gemma 3n E4B": "0.266",  # 0.25 + 32,768 x 512 / 2^30
    "DeepSeek V3": "2.14",
}


def test_the_table_of_designs():
    """Each by hand from layers, heads and widths."""
    rows = {row[0].split(":")[0]: row[1:] for row in rows_of(families.by_design())}

    assert {name: (row[0], row[1]) for name, row in rows.items()} == {
        name: (f"{growing:,}", windowed) for name, (growing, windowed) in GROWS.items()
    }
    assert {name: rows[name][3] for name in MEMORY} == MEMORY
    assert all(rows[name][2] == "–" for name in MEMORY)  # and no state beside
    assert "2,048 for Falcon 7B and 8,192 for Falcon Mamba 7B" in families.by_design().data
    assert all(rows[name][2] != "–" for name in ("Qwen3 Next 80B", "Falcon Mamba 7B"))


def test_how_much_too_much_a_shortcut_gives():
    """344,064 / 114,688; 71 heads for one; 204,800 / 163,840; 4,997,120 / 70,272 = 71.1."""
    told = families.shortcuts()
    ratios = {row[0].split(":")[0]: row[2] for row in rows_of(told)}

    assert told.data.startswith("<details>")
    assert ratios["Llama 3.2 3B"] == "3.0×"
    assert ratios["Falcon 7B"] == ratios["DeepSeek V3"] == "71×"
    assert ratios["Mistral Nemo 12B"] == "1.3×"  # 1.25
    assert ratios["Gemma 3 4B"] == "5.8×"  # 4,564,451,328 / 792,723,456 = 5.76
    assert ratios["Falcon Mamba 7B"] == "–"


def test_the_prediction_and_what_became_of_it():
    """34 layers of 256 against 28 of 128; 3.5 GiB are 4.74 times 0.738."""
    assert "34 layers, and a key is 256" in families.guess().data
    said = families.answer().data
    for part in ("136 KiB", "112 KiB", "0.738 GiB", "3.5 GiB", "**4.7×", "only 5 keep"):
        assert part in said


def test_a_readers_file_is_told_kind_by_kind():
    """29 layers: 4 x 256 x (34 + 34) / 32 = 2,176 bytes each; 5 such layers grow.

    2,176 x (5 x 32,768 + 29 x 1,024) bytes are 17/32 of the cache at f16.
    """
    shape = of("Gemma 3 4B")
    told = families.one(shape, 32_768, "q8_0")

    assert rows_of(told)[:2] == [
        ["29 layers", "4", "256 + 256", "the last 1,024", "63,104"],
        ["5 layers", "4", "256 + 256", "all", "10,880"],
    ]
    assert "53% of what they take in f16" in told.data


def test_keys_and_values_of_two_types():
    """4 x 256 x (34 + 18) / 32 = 1,664 bytes for each of 29 and 5 layers."""
    told = families.one(of("Gemma 3 4B"), 100, "q8_0", "q4_0")

    assert [row[4] for row in rows_of(told)[:2]] == ["48,256", "8,320"]
    assert "keys in q8_0, values in q4_0" in told.data
    with pytest.raises(UnknownName, match="q4_0"):
        families.one(of("Gemma 3 4B"), 100, "q8")


def test_a_model_without_attention_is_told_not_divided_by():
    """No layer keeps keys and values: nothing grows, and the state is named."""
    told = families.one(of("Falcon Mamba 7B"), 100).data

    assert "no layer that keeps keys and values" in told
    assert "Its state takes 39.8 MB" in told  # 64 x 4 x (3 x 8,192 + 8,192 x 16) bytes


def test_how_else_an_engine_may_keep_a_model_is_told():
    """Without windows 34 x 4 x 512 x 2; with all heads written out 61 x 128 x (192 + 128) x 2."""
    assert "139,264 bytes a token" in families.one(of("Gemma 3 4B"), 100).data
    assert "4,997,120 bytes a token" in families.one(of("DeepSeek V3"), 100).data


@pytest.mark.parametrize(
    "path", sorted((DATA / "models").glob("*.json")), ids=lambda path: path.stem
)
def test_the_committed_files_are_examples_for_the_readers_cell(path):
    """Each is read as a reader's own config.json would be, and gives what the table has."""
    shape = lab.shape(path)

    assert shape in [config_shape(model.config) for model in published.models()]
    assert families.one(shape, 1000).data
