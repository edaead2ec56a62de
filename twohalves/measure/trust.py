"""What a run's control and its planted faults say of the rest, a sentence each."""

from __future__ import annotations

from twohalves.runs import Run
from twohalves.runs.audits import FAR_FASTER, Audits, audits
from twohalves.runs.drift import TOO_MUCH, UNEVEN, Drift, unevenness, worst
from twohalves.stats import points_needed


def drift_note(run: Run) -> str:
    """The verdict of the control; empty if it was steady, or if there is none."""
    drift = worst(run)
    if drift is None or drift.verdict == "steady":
        return ""
    if drift.verdict == "unknown":
        return _undecided(drift)
    interval = drift.interval
    within = f" (95% interval {interval.low:+.1%} to {interval.high:+.1%})" if interval else ""
    changed = (
        f"The control's {drift.of} became {abs(drift.change):.1%} "
        f"{'slower' if drift.change > 0 else 'faster'} over the run{within}"
    )
    if drift.verdict == "moved":
        return f"{changed}: too little to spoil a comparison with another run."
    return (
        f"{changed}: the machine drifted. Seconds and rates of this run are no measure for "
        "another run's; ratios within a block stand."
    )


def uneven_note(run: Run) -> str:
    """That something else was computing, if the control shows it; empty otherwise."""
    found = unevenness(run)
    if found is None or found[1] < UNEVEN:
        return ""
    return (
        f"The control, always of one shape, took up to {found[1]:.1f} times as long for its "
        f"{found[0]} as at its best: something else used this machine, or it grew hot. Single "
        "rows may be far off; measure again when it is quiet."
    )


def _undecided(drift: Drift) -> str:
    start = f"The {drift.controls} controls of this run cannot tell whether the machine drifted"
    if drift.interval is None:
        return f"{start}: an interval for the change takes {points_needed()}."
    return (
        f"{start} by more than {TOO_MUCH:.0%}: the change of {drift.of} lies between "
        f"{drift.interval.low:+.1%} and {drift.interval.high:+.1%}."
    )


def audit_notes(run: Run) -> list[str]:
    """What the planted faults and the times of the cold rows say against the run."""
    found = audits(run)
    said = [_duplicate(found)]
    if found.reload_flagged is False:
        said.append(
            "The model was unloaded on purpose and its reload was not noticed: this run cannot "
            "show that no other row waited for one."
        )
    if found.grows is False:
        said.append(
            "Prefill takes no longer for long prompts than for short ones: the cold rows were "
            "served from a cache, and their rates of prefill mean nothing."
        )
    if found.fast:
        requests = ", ".join(str(row.seq) for row in found.fast)
        said.append(
            f"Read in less than {FAR_FASTER:.0%} of the time of their like in other blocks, and "
            f"counted all the same, since the server tells no cached tokens: request {requests}."
        )
    return [sentence for sentence in said if sentence]


def _duplicate(found: Audits) -> str:
    if found.duplicate_flagged is not False:
        return ""
    if found.sliding_window:
        return (
            "A prompt that was sent twice on purpose was read anew. That is expected of a model "
            f"with a sliding window ({found.sliding_window:,} tokens): of its cache only the end "
            "of a prompt is left."
        )
    return (
        "A prompt that was sent twice on purpose was not noticed: this run cannot show that its "
        "cold rows were cold."
    )
