"""The hit rate of a small traffic, measured request by request, in two layouts."""

from __future__ import annotations

from IPython.display import SVG, Markdown

from twohalves.runs import Run, derive
from twohalves.runs.coldline import ColdLine, cold_line
from twohalves.runs.reuse import HitRate, Layout, hit_rate, reading
from twohalves.runs.schema import Timing
from twohalves.show.caching import known_from, lines
from twohalves.show.markdown import say, table
from twohalves.show.needs import not_held
from twohalves.show.numbers import fixed, percent, seconds, times
from twohalves.show.svg import FAINT, PREFILL, box, drawing, label

EXPERIMENT = "traffic"
_LAYOUTS: dict[Layout, str] = {
    "volatile_top": "what changes on top",
    "stable_top": "what stays on top",
}
_WIDTH, _STRIP, _LEFT = 640, 110, 8


def measured(run: Run) -> dict[Layout, HitRate]:
    """The layouts whose hit rate the run can tell."""
    found = {layout: hit_rate(run, layout) for layout in _LAYOUTS}
    return {layout: rate for layout, rate in found.items() if rate is not None}


def hit_rates(run: Run) -> Markdown:
    """Cached over all prompt tokens, a line a layout, with how it is known."""
    found = measured(run)
    if not found:
        return not_held(run, EXPERIMENT)
    cells = [
        [
            _LAYOUTS[layout],
            fixed(len(rate.requests)),
            fixed(rate.prompt_tokens),
            f"{_about(rate)}{fixed(rate.cached_tokens)}",
            f"{_about(rate)}{percent(rate.share, 1)}",
        ]
        for layout, rate in found.items()
    ]
    caption = (
        f"Run {run.id}. Every request counts, the first and cold one too. Which document each asks "
        "about was left to chance: another run's rate may lie some percentage points away. "
        f"{known_from([rate.how for rate in found.values()])}"
    )
    header = ["layout", "requests", "prompt tokens", "from cache", "hit rate"]
    return table(header, cells, caption)


def by_time_alone(run: Run) -> Markdown:
    """What the clock alone says of the hit rate, and how far it errs where nothing was cached."""
    found, line = measured(run), cold_line(run)
    if not found:
        return not_held(run, EXPERIMENT)
    if line is None:
        return not_held(run, "A cold prompt, to look times up on,")
    error = percent(_false_share(run, line))
    if all(rate.how == "timed" for rate in found.values()):
        return say(
            "How good is that estimate? Put to the test on this run's cold prompts, of which "
            f"nothing was cached, it claims up to {error}. Differences of that size mean nothing."
        )
    guessed = ", ".join(
        f"{percent(_timed_share(run, layout, line))} for {_LAYOUTS[layout]}" for layout in found
    )
    return say(
        "Could the clock alone have told? From the time of prefill and this run's cold prompts "
        f"one would have said: {guessed}. Where nothing was cached, that estimate claims up to "
        f"{error}. A server that tells the count spares you the guess."
    )


def for_the_worksheet(run: Run) -> Markdown:
    """The one number that goes on to the bill."""
    found = measured(run)
    if set(found) != set(_LAYOUTS):
        return not_held(run, EXPERIMENT)
    top, stable = found["volatile_top"], found["stable_top"]
    return say(
        f"The same texts, only in another order: {percent(top.share)} of the prompt tokens came "
        f"from cache with what changes on top, **{percent(stable.share)} with what stays on top**. "
        "The second is the hit rate that the worksheet of "
        "[section 31.6](31-06-cost-worksheet.ipynb) takes, until you measure your own traffic."
    )


def hit_percent(run: Run) -> float | None:
    """Percent of prompt tokens from cache with what stays on top; None = not known."""
    rate = hit_rate(run, "stable_top")
    return None if rate is None else 100 * rate.share


def at_best(run: Run, *, stable: int, total: int) -> Markdown:
    """What a cache can do at most for a request of the reader's own.

    Args:
        run: whose cold prefill is used.
        stable: tokens at the top that never change.
        total: tokens of the whole prompt.

    Raises:
        ValueError: no tokens, or more stable ones than there are.
    """
    if not 0 <= stable <= total or total == 0:
        msg = f"stable must lie between 0 and total, and total above 0, got {stable} of {total}"
        raise ValueError(msg)
    line = cold_line(run)
    if line is None:
        return not_held(run, "A cold prompt")
    cold, saved = line.at(total), line.at(stable) - line.at(0)
    if saved >= cold:
        return say("All of your prompt is stable: then it is not a prompt but an answer to keep.")
    return say(
        f"At best {percent(stable / total)} of your prompt tokens come from cache. On your rows a "
        f"cold prefill of {fixed(total)} tokens takes about {seconds(cold)}; the cache saves "
        f"{seconds(saved)} of it and leaves {seconds(cold - saved)}: the prefill becomes "
        f"{times(cold / (cold - saved))} as fast.{_not_here(run, total)}"
    )


def _not_here(run: Run, total: int) -> str:
    """A warning where the run shows that prompts of that length are not reused."""
    missed = [line for line in lines(run) if line.reused is False and line.asked <= total]
    if not missed:
        return ""
    return (
        f" **But not here**: where this run sent the same prompt of "
        f"{fixed(missed[-1].prompt_tokens.median)} tokens again, it was read from its beginning."
    )


def each_request(run: Run) -> SVG | Markdown:
    """One bar a request, as high as its prompt: what was cached below, what was read above."""
    found = measured(run)
    if not found:
        return not_held(run, EXPERIMENT)
    most = max(each.prompt_tokens for rate in found.values() for each in rate.requests)
    parts = []
    for number, (layout, rate) in enumerate(found.items()):
        parts += _strip(rate, f"{_LAYOUTS[layout]}: {percent(rate.share)}", number, most)
    foot = _STRIP * len(found) + 16
    parts += [box(_LEFT, foot - 10, 12, 12, PREFILL), label(_LEFT + 18, foot, "read"),
              box(_LEFT + 80, foot - 10, 12, 12, FAINT),
              label(_LEFT + 98, foot, "from cache")]  # fmt: skip
    shares = "; ".join(f"{_LAYOUTS[name]}: {percent(rate.share)}" for name, rate in found.items())
    title = f"Prompt tokens read and from cache, request by request. From cache, {shares}"
    return SVG(drawing(_WIDTH, foot + 10, title, parts))


def _strip(rate: HitRate, said: str, number: int, most: int) -> list[str]:
    """The bars of one layout."""
    bottom = _STRIP * (number + 1) - 6
    step = (_WIDTH - 2 * _LEFT) / len(rate.requests)
    tall = (_STRIP - 36) / most
    parts = [label(_LEFT, bottom - _STRIP + 24, said)]
    for place, each in enumerate(rate.requests):
        x, cached = _LEFT + place * step, each.cached_tokens or 0.0
        read = each.prompt_tokens - cached
        if cached > 0:
            parts.append(box(x, bottom - cached * tall, step * 0.8, cached * tall, FAINT))
        parts.append(box(x, bottom - each.prompt_tokens * tall, step * 0.8, read * tall, PREFILL))
    return parts


def _about(rate: HitRate) -> str:
    return "≈ " if rate.how == "timed" else ""


def _false_share(run: Run, line: ColdLine) -> float:
    """The largest share that the estimate from time calls cached on rows where nothing was."""
    cold = [row for row in run.measured("prompt_cache") if row.variant == "cold"]
    return max((_guessed(row, row.prompt_eval_count, line) for row in cold), default=0.0)


def _timed_share(run: Run, layout: Layout, line: ColdLine) -> float:
    rows = [row for row in run.measured(EXPERIMENT) if row.variant == layout]
    whole = [reading(run, row, line).prompt_tokens for row in rows]
    shares = [_guessed(row, tokens, line) for row, tokens in zip(rows, whole, strict=True)]
    return sum(share * tokens for share, tokens in zip(shares, whole, strict=True)) / sum(whole)


def _guessed(row: Timing, tokens: int | None, line: ColdLine) -> float:
    """The share of a prompt of so many tokens, cached ones among them, that time alone tells."""
    spent_s = derive.prefill_s(row)
    return line.cached(tokens, spent_s) / tokens if tokens and spent_s else 0.0
