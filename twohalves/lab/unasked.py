"""The first cell of a page that asks nobody: whose model it shows."""

from __future__ import annotations

from IPython.display import Markdown, display

from twohalves import runs
from twohalves.measure.book import run_line
from twohalves.runs import Run


def at_hand() -> Run:
    """The run whose model a page shows: replayed, else the newest of this machine, else the sample.

    Raises:
        TwoHalvesError: the run that is named is not there, or cannot be read.
    """
    run = runs.at_hand()
    whose = "sample" if run.id.startswith(runs.SAMPLE) else "yours"
    told = f"run {run.id} ({'replayed' if replayed() else whose}): {run_line(run.session)}"
    display(
        Markdown(f"> **Who answers** — Nobody is asked on this page. The model is that of {told}.")
    )
    return run


def replayed() -> bool:
    """True where a notebook is executed for its stored outputs, and no widget shall be made."""
    return runs.fixed_run() is not None
