"""Public models of every design: what their files say, what a shortcut makes of them."""

import csv

import pytest

from twohalves.places import DATA
from twohalves.runs import published

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


@pytest.mark.parametrize("model", published.models(), ids=lambda model: model.name)
def test_a_shortcut_multiplies_what_the_file_names(model):
    """The figures that public calculators were seen to print for these models."""
    assert model.by_shortcut() == BY_SHORTCUT[model.name]
    assert model.mistake
    assert model.longest >= 2048


def test_every_file_of_a_model_is_listed_with_its_source():
    """None without a line, none twice, and each line says where its values are from."""
    folder = DATA / "models"
    with (folder / "models.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    assert sorted(f"{row['file']}.json" for row in rows) == sorted(
        path.name for path in folder.glob("*.json")
    )
    assert all(row["published"].startswith("huggingface.co/") and row["read_in"] for row in rows)
