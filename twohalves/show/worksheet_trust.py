"""Why the worksheet computes seconds from curves: what constant rates make of a long request."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.runs import Run, fitting
from twohalves.runs.fitting import Compared
from twohalves.runs.material import of_chapter, of_run
from twohalves.show.markdown import say
from twohalves.show.numbers import fixed, percent


def constants(run: Run) -> Markdown:
    """The longest measured request by two constant rates and by the curves, run and chapter."""
    sources = (("On your run", of_run(run)), ("On the chapter's tables", of_chapter()))
    told = [
        _missed(where, found[-1])
        for where, material in sources
        if (found := fitting.compare(material))
    ]
    return say(" ".join(told))


def _missed(where: str, found: Compared) -> str:
    tokens = fixed(found.total.prompt_tokens)
    return (
        f"{where} two constant rates miss the longest request, {tokens} tokens, by "
        f"{_size(found.crude_off)}, the curves by {_size(found.fitted_off)}."
    )


def _size(off: float) -> str:
    return percent(abs(off), 0 if abs(off) >= 0.1 else 1)
