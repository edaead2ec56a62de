"""Section 31.5: the same prompt sent twice, cold and warm."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.runs import Run, reference
from twohalves.runs.coldline import cold_line
from twohalves.runs.reference import PrintedCache, claim
from twohalves.runs.reuse import How, Reuse, reuses
from twohalves.runs.validity import LENGTH_TOLERANCE
from twohalves.show.markdown import say, table
from twohalves.show.needs import not_held
from twohalves.show.numbers import counted, fixed, from_to, percent, seconds, times
from twohalves.stats import Summary, median_interval

EXPERIMENT = "prompt_cache"
_LONGEST_SLIDER = 32_000
"""Prompt tokens at the end of the chapter's slider."""
_GREW = 1.5  # a warm prefill that grows by less over the lengths counts as flat


def lines(run: Run) -> tuple[Reuse, ...]:
    """The run's lengths that were sent cold and warm, shortest first; empty if none was."""
    return tuple(line for line in reuses(run, EXPERIMENT) if line.variant == "warm")


def prefills(run: Run) -> Markdown:
    """Cold and warm prefill: tokens processed and seconds, never a rate for a warm row."""
    rows = lines(run)
    if not rows:
        return not_held(run, EXPERIMENT)
    header = ["prompt tokens", "pairs", "read again", "cold prefill", "warm prefill", "speedup",
              "lowest to highest"]  # fmt: skip
    cells = [
        [
            fixed(line.prompt_tokens.median),
            fixed(line.speedup.n),
            tokens_read(line),
            seconds(line.cold_s.median),
            seconds(line.later_s.median),
            times(line.speedup.median),
            span(line.speedup),
        ]
        for line in rows
    ]
    caption = (
        f"Run {run.id}. Speedup is cold over warm within each pair, and the median of those. "
        f"{_claimable(rows)} {known_from([line.how for line in rows])}"
    )
    return table(header, cells, caption)


def whole_requests(run: Run) -> Markdown:
    """Cold and warm requests as a whole, by the client's clock."""
    rows = lines(run)
    if not rows:
        return not_held(run, EXPERIMENT)
    header = ["prompt tokens", "pairs", "cold request", "warm request", "speedup",
              "lowest to highest"]  # fmt: skip
    cells = [
        [
            fixed(line.prompt_tokens.median),
            fixed(line.total_speedup.n),
            seconds(line.cold_total_s.median),
            seconds(line.later_total_s.median),
            times(line.total_speedup.median),
            span(line.total_speedup),
        ]
        for line in rows
    ]
    caption = f"Run {run.id}. From sending to the last byte; the answer is written in both."
    return table(header, cells, caption)


def beside_the_chapter(run: Run) -> Markdown:
    """Both speedups beside the printed ones, at nearly the same lengths."""
    rows = lines(run)
    pairs = [(line, printed) for line in rows if (printed := _printed(line)) is not None]
    if not pairs:
        return not_held(run, "A prompt of one of the chapter's lengths, sent twice,")
    header = ["prompt tokens", "prefill, yours", "chapter", "whole request, yours", "chapter"]
    cells = [
        [
            fixed(printed.prompt_tokens),
            times(line.speedup.median),
            f"{fixed(printed.prefill_speedup_x)}×",
            times(line.total_speedup.median),
            f"{fixed(printed.total_speedup, 1)}×",
        ]
        for line, printed in pairs
    ]
    caption = (
        f"Run {run.id} beside the chapter's run, each cold over warm. Lengths are the chapter's; "
        f"yours lie within {percent(LENGTH_TOLERANCE)} of them."
    )
    return table(header, cells, caption)


def headline(run: Run) -> Markdown:
    """Warm prefill over all lengths, and both speedups of the longest prompt that was reused."""
    reused = [line for line in lines(run) if line.reused is not False]
    chapters = (
        f"The chapter's warm prefills lie between {fixed(claim('warm_low_ms'))} and "
        f"{fixed(claim('warm_high_ms'))} ms, and its longest prompt gains "
        f"{fixed(claim('cache_speedup'))}× on the prefill and "
        f"{fixed(claim('cache_total_speedup'), 1)}× on the whole request."
    )
    if not reused:
        return say(f"In your run no warm prompt came from cache. {chapters}")
    long = reused[-1]
    return say(
        f"{_warm(reused)} **At {fixed(long.prompt_tokens.median)} tokens the "
        f"cache made the prefill {times(long.speedup.median)} as fast and the whole request "
        f"{times(long.total_speedup.median)}.**",
        chapters,
    )


def _warm(reused: Sequence[Reuse]) -> str:
    """How long the warm prefills took, and whether that depends on the prompt's length."""
    short, long = reused[0], reused[-1]
    lengths = fixed(short.prompt_tokens.median), fixed(long.prompt_tokens.median)
    if long.later_s.median < _GREW * short.later_s.median:
        warm = [line.later_s.median for line in reused]
        return (
            f"Your warm prefills took {from_to(min(warm), max(warm))}, whether the prompt had "
            f"{lengths[0]} tokens or {lengths[1]}."
        )
    return (
        f"Your warm prefills took {seconds(short.later_s.median)} at {lengths[0]} tokens and "
        f"{seconds(long.later_s.median)} at {lengths[1]}: the one token that is always read looks "
        "back at the whole kept prompt, as a step of decode does."
    )


def longest_speedup(run: Run) -> float | None:
    """Cold over warm prefill of the longest prompt that was reused; None if none was."""
    reused = [line.speedup.median for line in lines(run) if line.reused is not False]
    return reused[-1] if reused else None


def why_it_grows(run: Run) -> Markdown:
    """The gain with length: what grows is the cold half of the fraction."""
    reused = [line for line in lines(run) if line.reused is not False]
    if len(reused) < 2:
        return not_held(run, "A second length that was sent twice and reused")
    short, long = reused[0], reused[-1]
    return say(
        f"From {fixed(short.prompt_tokens.median)} to {fixed(long.prompt_tokens.median)} tokens "
        f"your cold prefill grew {times(long.cold_s.median / short.cold_s.median)}, your warm one "
        f"{times(long.later_s.median / short.later_s.median)}. So their quotient went from "
        f"{times(short.speedup.median)} to {times(long.speedup.median)}. On the whole request it "
        f"went from {times(short.total_speedup.median)} to {times(long.total_speedup.median)}, "
        "for the answer still has to be written."
    )


def no_ceiling(run: Run) -> Markdown:
    """Why the largest speedup is a figure for its length, on both runs' own constants."""
    longest, rate = claim("longest_prompt"), claim("widget_prefill_rate")
    warm, hit = claim("widget_warm_s"), claim("ws_hit_pct") / 100
    full = _LONGEST_SLIDER / rate / warm
    part = (longest / rate) / ((1 - hit) * longest / rate + warm)
    return say(
        f"It is tempting to call {fixed(claim('cache_speedup'))}× the most a cache can do. It is "
        f"the figure for {fixed(longest)} tokens. With the chapter's own constants "
        f"({fixed(rate)} tokens per second cold, {seconds(warm)} warm) a prompt of "
        f"{fixed(_LONGEST_SLIDER)} tokens would gain {times(full)}. And it is the figure for a "
        f"prompt that is repeated whole: at {percent(hit)} cached the same "
        f"{fixed(longest)} tokens gain {times(part)}.",
        _own_ceiling(run),
    )


def _own_ceiling(run: Run) -> str:
    line = cold_line(run)
    reused = [each for each in lines(run) if each.reused is not False]
    if line is None or not reused:
        return "Your run holds no reused prompt to carry further."
    short, long = reused[0], reused[-1]
    longer = [each for each in lines(run) if each.reused is False and each.asked > long.asked]
    if longer:
        return (
            f"Yours ends with the {times(long.speedup.median)} at "
            f"{fixed(long.prompt_tokens.median)} tokens: the same prompt of "
            f"{fixed(longer[0].prompt_tokens.median)} tokens was read again from its beginning."
        )
    tokens = 2 * long.prompt_tokens.median
    between = long.prompt_tokens.median - short.prompt_tokens.median
    slope = (long.later_s.median - short.later_s.median) / between if between else 0.0
    gain = line.at(tokens) / (long.later_s.median + max(0.0, slope) * (tokens - tokens / 2))
    return (
        f"Yours at twice your longest length, {fixed(tokens)} tokens, if both prefills go on as "
        f"they did: {times(gain)} instead of {times(long.speedup.median)}."
    )


def sliding_window(run: Run) -> Markdown:
    """Whether this model can show no reuse although the server is in order, by its metadata."""
    window = run.session["model"].get("sliding_window")
    rows = lines(run)
    missed = [line for line in rows if line.reused is False]
    which = ", ".join(fixed(line.prompt_tokens.median) for line in missed)
    if window is None:
        if not missed:
            return say("Your model's metadata names no sliding window: any prefix can be reused.")
        return say(
            f"At {which} tokens your server read the same prompt again from its beginning. The "
            "model's metadata names no sliding window that would explain it. Another program may "
            "have asked in between, or the model keeps a running state that cannot be wound back."
        )
    meant = (
        f"**Your model's metadata names a sliding window of {fixed(window)} tokens**: some of its "
        "layers look back no further, so a server need not keep more of them. Sending the same "
        "prompt again asks the server to go back to the prompt's end, before its own answer. Once "
        "prompt and answer have run past the window, what those layers held there is gone, and "
        "the prompt is read anew. Only going on forward, prompt and reply and new text, still hits."
    )
    if not missed:
        return say(meant, "In your run every length was reused all the same.")
    return say(
        meant,
        f"In your run that happened at {which} tokens. Nothing is broken: this is what a cache "
        "can do for such a model.",
    )


def span(ratio: Summary) -> str:
    """From the lowest to the highest ratio; nothing for a single one."""
    return "–" if ratio.n == 1 else from_to(ratio.low, ratio.high, times)


def tokens_read(line: Reuse) -> str:
    """Tokens that the later prefill worked on, marked where they are an estimate."""
    if line.processed_tokens is None:
        return fixed(None)
    return f"{'≈ ' if line.how == 'timed' else ''}{fixed(line.processed_tokens.median)}"


def known_from(ways: Sequence[How]) -> str:
    """From where the processed tokens of a table are known, as a sentence."""
    said: dict[How, str] = {
        "told": "Tokens read: the server's count, less those it says came from cache.",
        "left out": "Tokens read: the server counts only those.",
        "timed": (
            "Tokens read (≈) are an estimate: this server does not tell what came from cache, so "
            "the time of prefill was looked up on the run's own cold prompts."
        ),
        "unknown": "How many tokens were read again, this server does not tell.",
    }
    return " ".join(said[way] for way in said if way in ways)


def _claimable(rows: Sequence[Reuse]) -> str:
    """An interval for the longest row, where the pairs can carry one."""
    most = max(rows, key=lambda line: (line.speedup.n, line.asked))
    found = median_interval(most.speedups)
    if found is None:
        return f"With {counted(most.speedup.n, 'pair')} no 95% interval can be claimed."
    return (
        f"At {fixed(most.prompt_tokens.median)} tokens the {percent(found.confidence, 1)} interval "
        f"of the median speedup is {times(found.low)} to {times(found.high)}."
    )


def _printed(line: Reuse) -> PrintedCache | None:
    near = min(reference.prompt_cache(), key=lambda row: abs(row.prompt_tokens - line.asked))
    off = abs(near.prompt_tokens - line.asked)
    return near if off <= LENGTH_TOLERANCE * near.prompt_tokens else None
