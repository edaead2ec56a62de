"""Sentences, tables and pictures of section 31.1, on rows small enough to check by hand."""

import re

import pytest

from tests.tables import cells_of
from twohalves.runs import Timing
from twohalves.runs.load import Run
from twohalves.show import crude, diagram, figures, rates, repeats

# prompt tokens: (prefill seconds, decode seconds for 31 steps, total seconds), three repeats
ROWS = {
    96: [(0.64, 0.62, 1.36), (0.60, 0.62, 1.30), (0.80, 0.775, 1.70)],
    298: [(1.49, 0.62, 2.21), (1.49, 0.62, 2.21), (1.49, 0.62, 2.21)],
    4247: [(25.0, 1.55, 26.7), (21.235, 1.24, 22.6), (21.235, 1.24, 22.6)],
}
SESSION = {
    "schema": 1,
    "profile": "quick",
    "started_at": "2026-11-29T10:00:00+00:00",
    "server": {"kind": "builtin", "version": "1"},
    "model": {"name": "m"},
    "counters": {"steps_less": 1},
    "skipped_lengths": [],
    "options": {"num_ctx": 8192},
    "predictions": {"31-01-ratio": {"value": 4.0, "at": "2026-11-29"}},
}


def _row(seq, asked, parts, role="measure", experiments="prefill_decode"):
    prefill, decode, total = parts
    return Timing(
        run_id="r", seq=seq, role=role, condition=str(asked), experiments=experiments,
        prompt_eval_count=asked, prompt_eval_cached_count=0,
        prompt_eval_duration=round(prefill * 1e9), eval_count=32,
        eval_duration=round(decode * 1e9), sent_ns=0, done_ns=round(total * 1e9),
    )  # fmt: skip


@pytest.fixture
def run(tmp_path):
    rows = [
        _row(10 * number + asked, asked, parts)
        for asked, repeated in ROWS.items()
        for number, parts in enumerate(repeated)
    ]
    controls = [_row(900 + n, 1000, (p, d, 6.0), "control") for n, (p, d) in enumerate(
        [(5.0, 1.0), (5.1, 1.0), (4.9, 1.1)])]  # fmt: skip
    return Run(folder=tmp_path / "r", session=SESSION, timings=(*rows, *controls))


def test_the_own_table(run):
    """Median of 0.60, 0.64, 0.80 s is 0.64 s; 96 / 0.64 = 150; 31 / 0.62 = 50; ratio 3.0."""
    assert cells_of(rates.own_table(run), 0) == ["96", "3", "640 ms", "150", "50.0", "3.0×"]
    assert cells_of(rates.own_table(run), 2) == ["4,247", "3", "21.2 s", "200", "25.0", "8.0×"]


def test_the_table_beside_the_chapter_counts_as_the_chapter(run):
    """Raw decode is 32 / 0.62 = 51.6 tok/s, so the ratio is 150 / 51.6 = 2.9; chapter 7.5."""
    cells = cells_of(rates.beside_the_chapter(run), 0)

    assert cells == ["96", "2.9×", "7.5×", "150", "1,433", "51.6", "191.3"]


def test_the_headline_takes_one_row(run):
    """200 to read and 25 to write on the longest row: 5 ms, 40 ms, 8.0 times."""
    said = rates.headline(run).data

    for part in (
        "4,247",
        "**200 tokens",
        "**25.0**",
        "5.00 ms",
        "40.0 ms",
        "**8.0 times**",
        "11.5",
    ):
        assert part in said


def test_the_headline_is_no_single_shot(run):
    """A length that was asked once does not make the headline."""
    once = Run(
        folder=run.folder,
        session=run.session,
        timings=tuple(row for row in run.timings if row.seq < 4250),
    )

    assert "298 prompt tokens" in rates.headline(once).data


def test_mixing_rows_is_shown_for_what_it_is(run):
    """Best prefill 200 is on the row of the worst decode 25 here: 8.0 either way, by luck."""
    assert "a single row, 8.0×. That is luck" in rates.same_row(run).data


def test_the_shortest_row_carries_the_fixed_cost(run):
    """96 tokens at 200 tok/s are 0.48 s; it took 0.64 s; 0.16 s is paid once."""
    said = repeats.shortest_row(run).data

    for part in ("480 ms", "640 ms", "160 ms", "1,433"):
        assert part in said


def test_stopping_after_one_run(run):
    """The first decode on the longest row was 31 / 1.55 = 20 against a median of 25: 20% off."""
    said = repeats.single_shot(run).data

    for part in ("20.0 decode tok/s", "4,247-token", "is 25.0", "20.0%", "35%", "105", "161"):
        assert part in said


def test_spread_is_range_over_median(run):
    """Prefill (0.80 - 0.60) / 0.64 = 31.3%; decode (50 - 40) / 50 = 20.0%."""
    cells = cells_of(repeats.spreads(run), 0)

    assert cells[:4] == ["96", "3", "31.3%", "20.0%"]
    assert "With 3 repeats no 95% interval" in repeats.spreads(run).data


def test_separate_medians_need_not_divide(run):
    """96 over the median 0.64 s is 150, as is the median rate; the chapter's is 1,500 and 1,433."""
    said = repeats.separate_medians(run).data

    assert "1,500" in said
    assert "1,433" in said


def test_the_control_scores_prefill_and_decode_apart(run):
    """Prefill rates 200, 196.1, 204.1: (204.1 - 196.1) / 200 = 4.0%; decode 31, 31, 28.2: 9.1%."""
    said = repeats.control(run).data

    assert "4.0%" in said
    assert "9.1%" in said
    assert "3 times" in said


def test_single_answers_are_not_called_medians(run):
    """A run of one block says so, in the singular."""
    once = Run(folder=run.folder, session=run.session, timings=(*run.timings[:9:3],))

    assert "each asked once" in rates.design(once).data
    assert "single answers, and no medians" in rates.own_table(once).data
    assert "With 1 repeat no" in repeats.spreads(once).data
    assert "asked each length once" in repeats.single_shot(once).data


def test_ratios_are_compared_at_the_same_length(run):
    """A run that ends at 298 tokens stands beside the chapter's 298, which is 10.4."""
    short = Run(
        folder=run.folder,
        session=run.session,
        timings=tuple(row for row in run.timings if row.condition != "4247"),
    )

    assert "7.5× and 10.4×" in rates.why_size_differs(short).data


def test_the_ratio_is_that_of_the_two_rates_beside_it(run):
    """Whoever divides the printed rates of a row gets the printed ratio."""
    for line in rates.lines(run):
        assert line.ratio == line.prefill_rate.median / line.decode_rate.median


def test_one_step_fewer(run):
    """32 / 31 is 3.2% too high: 51.6 against 50.0."""
    said = repeats.one_step_fewer(run).data

    for part in ("31 steps", "3.2%", "51.6", "50.0", "<details>"):
        assert part in said


def test_the_crude_model_on_own_rates(run):
    """Medians over rows: prefill 150, 200, 200 gives 200; decode 50, 50, 25 gives 50."""
    own = crude.own_rates(run)

    assert (200, 50) == (pytest.approx(own.prefill_tok_s), pytest.approx(own.decode_tok_s))
    cells = cells_of(crude.against_measured(run), 0)
    # 96 / 200 + 32 / 50 = 1.12 s against the median 1.36 s: 0.24 s or 17.6% too low
    assert cells == ["96", "32", "1.12 s", "1.36 s", "−240 ms", "−17.6%"]


def test_the_crude_models_worst_row_and_the_chapters(run):
    """The chapter's: 7427 / 2000 + 64 / 190 = 4.05 s against 5.182 s, 22% too low."""
    said = crude.error(run).data

    for part in ("17.6% too low", "4.05 s", "5.18 s", "22% too low"):
        assert part in said


def test_the_formula_shows_the_rates(run):
    """The constants stand in the fractions, thousands separated."""
    assert r"{\text{200}}" in crude.formula(crude.own_rates(run)).data
    assert r"{\text{2,000}}" in crude.formula(crude.chapter_rates()).data


def test_the_bars_are_to_scale(run):
    """21.235 s of 22.475 s is 94%; the chapter's 4.715 of 5.182 s is 91%: widths agree."""
    svg = diagram.to_scale(run).data
    widths = [float(w) for w in re.findall(r'<rect[^>]* width="([\d.]+)"', svg)]

    assert widths[0] / (widths[0] + widths[1]) == pytest.approx(21.235 / 22.475, abs=1e-3)
    assert widths[2] / (widths[2] + widths[3]) == pytest.approx(4.715 / 5.182, abs=1e-3)
    assert "94%" in svg
    assert "91%" in svg


def test_the_shape_has_one_box_a_token(run):
    """One prefill box and 32 decode boxes, with a title for those who cannot see it."""
    svg = diagram.shape(run).data

    assert svg.count("<rect") == 33
    assert "<title>A request as one pass and 32 steps" in svg


def test_decode_at_the_scale_of_prefill(run):
    """1.24 s over 21.235 s are 6%; the chapter's 25 of 286 pixels are 9%."""
    said = diagram.how_unfair(run).data

    for part in ("32 answer tokens", "6% as wide", "9%", "0.20 s", "2.29 s"):
        assert part in said


def test_the_chart_is_clean_svg(run):
    """Real text, the page's colors, a title, no date, no prolog, no style that leaks."""
    svg = figures.rates_by_length(run).data

    assert svg.startswith("<svg")
    assert 'role="img"' in svg
    assert "var(--th-prefill" in svg
    for unwanted in ("<style", "<metadata", "<?xml", "#010101", "2026"):
        assert unwanted not in svg
    assert svg == figures.rates_by_length(run).data


def test_no_sentence_shows_what_is_no_number(run):
    """Nothing prints nan, inf, None or an exponent."""
    shown = [
        function(run).data
        for module in (rates, repeats)
        for name, function in vars(module).items()
        if getattr(function, "__module__", "") == module.__name__
        and not name.startswith("_")
        and function.__annotations__.get("return") == "Markdown"
    ]

    for text in shown:
        assert not re.search(r"\bnan\b|\binf\b|None|\dE[-+]\d", text)
