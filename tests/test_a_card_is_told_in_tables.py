"""Section 31.3, on a card: three models, and the questions backwards."""

import pytest

from tests.tables import cells_of, rows_of
from twohalves import runs
from twohalves.errors import QuantityUnusable, UnknownName
from twohalves.formulas import uniform_shape
from twohalves.formulas.sizing import Serving
from twohalves.runs.load import Run
from twohalves.show import card

GIB = 2**30


def test_three_models_on_twenty_four():
    """The largest file has the smallest cache, and misses by less than the margin.

    10 layers x 2 heads x 512 numbers x 2 bytes are 20,480 a token, 671 MB at 32,768; 30 states of
    (32 x 128 x 128 + 3 x 64 x 128) x 4 bytes are 66 MB. 12.2 billion x 8.5 / 8 are 12.96 GB, and
    163,840 bytes a token 5.37 GB.
    """
    small, middle, large = rows_of(card.which())

    assert [row[0].split(",")[0] for row in (small, middle, large)] == [
        "Llama 3.2 3B", "Mistral Nemo 12B", "Qwen3.6 35B-A3B",
    ]  # fmt: skip
    assert middle[1:3] == ["13", "5.37"]
    assert large[1:3] == ["23.9", "0.737"]
    assert [row[7] for row in (small, middle, large)] == ["4", "2", "0"]
    assert "missing" in large[5]
    assert "**Too large for it: Qwen3.6 35B-A3B, its file (0.286 GB missing).** Where less" in (
        card.which().data
    )
    assert "left" in rows_of(card.which(32))[2][5]
    assert "All of them fit." in card.which(32).data


def test_a_readers_own_models_can_be_compared():
    """100 GiB of weights on 24 GiB are no close call, and no window is small enough."""
    models = {"huge": Serving(shape=uniform_shape(1, 1, 1), weights_bytes=100 * GIB)}
    shown = card.which(24, 1000, 2, models)

    assert cells_of(shown, 0)[6:] == ["none", "0"]
    assert "2 sequences of 1,000 tokens" in shown.data
    assert "only a try" not in shown.data


def test_experts_are_all_in_memory():
    """23.9 x 8 / 35 = 5.46 bits; 3 billion of them would be 2.05 GB."""
    said = card.experts().data

    assert "5.46 bits" in said
    assert "2.05 GB" in said


def test_the_questions_backwards():
    """The experts' file has 5.46 bits a weight; 24 GiB leave room for 5.4, so q4_K."""
    said = card.backwards().data

    assert "not even one sequence fits" in said
    assert "may take 5.4 bits, and takes 5.46; the largest type within that is q4_K" in said
    assert "Not even one token fits" in card.backwards(16).data
    name = next(iter(card.three()))
    assert "no room for any weights" in card.backwards(24, 131_072, 4, name).data
    assert "at any bits; they take 16" in card.backwards(80, 1000, 1, name).data


def test_a_run_has_its_own_answers(tmp_path):
    """The sample's model on 1 GiB; a run that tells no shape or size gets a note."""
    run = runs.at_hand({"TWOHALVES_RUN": "sample-smollm2-135m"})
    said = card.own(run, 1).data

    assert "smollm2:135m, on 1 GiB" in said
    assert "trained for 8,192 tokens" in said
    model = run.session["model"]
    for broken, told in (
        (model | {"own_keys": {}}, "cannot be sized"),
        (model | {"size": None}, "size of"),
    ):
        other = Run(folder=tmp_path, session=run.session | {"model": broken}, timings=())
        assert told in card.own(other).data
    uncounted = Run(
        folder=tmp_path,
        session=run.session | {"model": model | {"parameter_count": None}},
        timings=(),
    )
    assert "a weight" not in card.own(uncounted).data


@pytest.mark.parametrize("show", [card.which, card.backwards])
@pytest.mark.parametrize(
    ("given", "named"),
    [
        *(((size,), "card_gib") for size in (0, -1, "24", float("inf"), float("nan"), 1e12)),
        *(((24, window), "window") for window in (0, -5, 1000.5, 10**12)),
        *(((24, 100, sequences), "sequences") for sequences in (0, -1, 2.5, 10**9)),
    ],
)
def test_no_card_and_no_window_are_refused(show, given, named):
    """By the name of what is wrong, with what to give instead."""
    with pytest.raises(QuantityUnusable, match=named) as refused:
        show(*given)
    assert f"Give {named} as " in refused.value.next_step


def test_a_card_of_no_size_is_refused_for_an_own_model_too():
    """And a model that is not one of the three is answered with their names."""
    run = runs.named("sample-smollm2-135m")
    for given in ((0,), (24, 0), (24, 100, 0)):
        with pytest.raises(QuantityUnusable):
            card.own(run, *given)
    with pytest.raises(UnknownName, match="Mistral Nemo 12B"):
        card.backwards(name="Mistral Nemo")
