"""A row in timings.csv says what the server said: no more, no less."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twohalves.runs import COLUMNS, Timing, derive
from twohalves.runs.schema import from_cells, to_cells

DESIGN = (
    "run_id, seq, block, experiments, condition, variant, pair, attempt, role, model, endpoint, "
    "slots, concurrency, stream_id, num_ctx, num_predict, nonce_hash, prompt_hash, "
    "prompt_eval_count, prompt_eval_cached_count, prompt_eval_duration, eval_count, "
    "eval_duration, load_duration, total_duration, done_reason, sent_ns, first_any_ns, "
    "first_text_ns, last_text_ns, done_ns, server_first_at, server_last_at, n_chunks, "
    "started_at, valid, flags, "
    "setup, streamed, server_done_at, loop_chunks"  # since schema 2
)

VALUES = {int: st.integers(0, 2**62), str: st.text(max_size=20), bool: st.booleans()}


def _some_row():
    fields = {}
    for field in dataclasses.fields(Timing):
        kind = field.type.partition(" ")[0]
        strategy = VALUES[{"int": int, "str": str, "bool": bool}[kind]]
        fields[field.name] = st.none() | strategy if "None" in field.type else strategy
    return st.builds(Timing, **fields)


def test_the_columns_are_those_of_the_design():
    """Whoever reads the file in ten years finds the columns in the documented order."""
    assert ", ".join(COLUMNS) == DESIGN


@given(_some_row())
def test_a_row_survives_the_file(row):
    """Writing a row and reading it back gives the same row."""
    assert row == from_cells(dict(zip(COLUMNS, to_cells(row), strict=True)))


def test_unknown_is_empty_and_zero_is_zero():
    """A counter the server left out is an empty cell; a counter of zero is a zero."""
    cells = dict(zip(COLUMNS, to_cells(Timing(run_id="r", seq=1, eval_count=0)), strict=True))

    assert cells["prompt_eval_count"] == ""
    assert cells["eval_count"] == "0"
    assert from_cells(cells).prompt_eval_count is None
    assert from_cells(cells).eval_count == 0


def test_a_cell_that_does_not_fit_names_its_column():
    """A hand-edited cell is an error that says where it is."""
    with pytest.raises(ValueError, match="column seq must be a whole number, got 'many'"):
        from_cells({"run_id": "r", "seq": "many"})


def test_missing_counters_give_no_rate():
    """An answer of one token carries no eval_duration: there is no rate, not a rate of zero."""
    row = Timing(run_id="r", seq=1, prompt_eval_count=3, eval_count=1)

    assert derive.decode_rate(row) is None
    assert derive.prefill_rate(row) is None
    assert derive.total_s(row) is None
    assert derive.rate_ratio(row) is None


def test_rates_from_the_recorded_exchange():
    """The recorded Ollama answer: 3 prompt tokens in 15.981224 ms, 8 tokens in 109.140981 ms."""
    row = Timing(
        run_id="r",
        seq=1,
        prompt_eval_count=3,
        prompt_eval_duration=15_981_224,
        eval_count=8,
        eval_duration=109_140_981,
    )

    assert derive.prefill_rate(row) == pytest.approx(187.7203, rel=1e-6)
    assert derive.decode_rate(row) == pytest.approx(7 / 0.109140981)
    assert derive.decode_rate_raw(row) == pytest.approx(8 / 0.109140981)


def test_cached_tokens_are_no_work():
    """Of 998 tokens 990 came from cache: prefill worked on 8."""
    row = Timing(
        run_id="r",
        seq=1,
        prompt_eval_count=998,
        prompt_eval_cached_count=990,
        prompt_eval_duration=40_000_000,
    )

    assert derive.prefill_rate(row) == pytest.approx(200.0)


def test_two_tokens_are_one_step():
    """With two answer tokens the rate is one step over the time, not two."""
    row = Timing(run_id="r", seq=1, eval_count=2, eval_duration=20_000_000)

    assert derive.decode_rate(row) == pytest.approx(50.0)
