"""How far the worksheet's seconds can be trusted: constant rates and curves, and the one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from IPython.display import Markdown

from twohalves.measure.reply import Answered
from twohalves.runs import Run, fitting
from twohalves.runs.fitting import Compared
from twohalves.runs.material import of_chapter, of_run
from twohalves.show.calculator import RateSet, Start
from twohalves.show.calculator.rates import chosen
from twohalves.show.markdown import say
from twohalves.show.numbers import fixed, percent, seconds
from twohalves.show.worksheet_own import values


def constants(run: Run) -> Markdown:
    """The longest measured request by two constant rates and by the curves, run and chapter."""
    sources = (("On your run", of_run(run)), ("On the chapter's tables", of_chapter()))
    told = [
        _missed(where, found[-1])
        for where, material in sources
        if (found := fitting.compare(material))
    ]
    return say(" ".join(told))


def the_call(answered: Answered, rates: Sequence[RateSet], start: Mapping[str, Start]) -> Markdown:
    """The reader's one call beside what the chosen rates say of it, without a cache."""
    used = chosen(values(rates, start), rates)
    said = used.curve.total_s(answered.prompt_tokens, answered.output_tokens)
    off = said / answered.total_s - 1
    side = "more" if off > 0 else "less"
    return say(
        f"Your one call is a request that no curve has seen, {fixed(answered.prompt_tokens)} "
        f"tokens in and {fixed(answered.output_tokens)} out. It took "
        f"{seconds(answered.total_s)}; the rates of {used.label} say {seconds(said)}, "
        f"{_size(off)} {side}. One call proves little, and one whose prompt the server had kept "
        "proves nothing: it skips what the rates count."
    )


def _missed(where: str, found: Compared) -> str:
    tokens = fixed(found.total.prompt_tokens)
    return (
        f"{where} two constant rates miss the longest request, {tokens} tokens, by "
        f"{_size(found.crude_off)}, the curves by {_size(found.fitted_off)}."
    )


def _size(off: float) -> str:
    return percent(abs(off), 0 if abs(off) >= 0.1 else 1)
