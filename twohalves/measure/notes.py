"""What a reader should know of a run before reading its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from twohalves.measure.trust import audit_notes, drift_note, uneven_note
from twohalves.runs import Run, Timing, machine
from twohalves.runs.choose import SAMPLE
from twohalves.runs.session import Session
from twohalves.runs.validity import INFORMATIVE, INVALID


def notes(run: Run) -> tuple[str, ...]:
    """One sentence each: what is invalid, what is missing, and why."""
    said = list(run.notes)
    if run.id.startswith(SAMPLE):
        said.append(
            "This is the book's sample run. Where the page says “your”, read: the sample's, "
            "until you have measured yourself."
        )
    said += _counting(run.session.get("counters", {}))
    said += _flagged(run.timings)
    said += [note for note in (drift_note(run), uneven_note(run)) if note]
    said += audit_notes(run)
    said += interruptions(run.session)
    if without := missing_lengths(run):
        said.append(f"No valid row was had at {_listed(without)} tokens.")
    if skipped := run.session["skipped_lengths"]:
        window = run.session["options"]["num_ctx"]
        said.append(f"Left out, because the window is {window:,} tokens: {_listed(skipped)}.")
    said += _window(run.session)
    said += _left_out(run.session.get("left_out", {}))
    if late := run.session.get("no_time_for"):
        said.append(
            f"No time was left for {_listed(late)} tokens on this machine; "
            "`--profile chapter` takes it."
        )
    before, cores = run.session["load_average"]["before"], run.session["machine"]["logical_cores"]
    if machine.was_busy(run.session):
        said.append(
            f"The machine was busy when this run began (load {before:.1f} on {cores} cores): "
            "its rates are too low, and its ratios may be off."
        )
    blocks = run.session.get("blocks")
    if blocks and blocks["measured"] < blocks["planned"]:
        said.append(
            f"{blocks['measured']} of {blocks['planned']} blocks were measured in the time that "
            f"the profile {run.session['profile']} allows on this machine."
        )
    return tuple(said)


def _window(session: Session) -> list[str]:
    """Whether the server gave the model a smaller window than it was asked for."""
    asked, given = session["options"]["num_ctx"], session["model"].get("window")
    if not given or given >= asked:
        return []
    held = f"The server holds the model with a window of {given:,} tokens"
    return [
        f"{held} where {asked:,} were asked for: memory was short, and no longer prompt counts."
    ]


def _left_out(reasons: dict[str, str]) -> list[str]:
    """Experiments, or parts of them, that were not measured, and why."""
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons.items():
        by_reason.setdefault(why.rstrip("."), []).append(name)
    return [f"Not measured: {', '.join(names)} ({why})." for why, names in by_reason.items()]


def _counting(counters: dict[str, Any]) -> list[str]:
    """What is unusual about this server's counters, and what was made of it."""
    said = []
    if not counters.get("counts_cached", True):
        said.append(
            "This version of Ollama leaves cached tokens out of `prompt_eval_count`: the counts "
            "here are of tokens that were really read, and the rates are right as they stand."
        )
    if counters.get("prefill_clock") == "wall":
        said.append(
            "On this version of Ollama the prefill clock runs from accepting the request: short "
            "prompts look slower than they are."
        )
    return said


def _flagged(rows: Iterable[Timing]) -> list[str]:
    """What was noticed on answers, each flag with its meaning and how often."""
    asked = [row for row in rows if row.role not in {"warmup", "audit"}]
    said = []
    invalid = [row for row in asked if not row.valid]
    if invalid:
        answers = "1 answer was" if len(invalid) == 1 else f"{len(invalid)} answers were"
        said.append(f"{answers} invalid and left out: {_counted(invalid, INVALID)}.")
    noticed = [row for row in asked if row.valid and row.flags]
    if noticed:
        answers = "1 answer counts" if len(noticed) == 1 else f"{len(noticed)} answers count"
        said.append(f"{answers} although something was noticed: {_counted(noticed, INFORMATIVE)}.")
    return said


def _counted(rows: Iterable[Timing], meanings: dict[str, str]) -> str:
    found = Counter(flag for row in rows for flag in row.flags.split(";"))
    return ", ".join(
        f"{flag} ({count}: {meanings[flag]})" if flag in meanings else f"{flag} ({count})"
        for flag, count in sorted(found.items())
    )


def interruptions(session: Session) -> list[str]:
    """What happened between and during the requests of a run, a sentence a kind."""
    noticed = session.get("noticed", [])
    counts = Counter(str(each.get("kind")) for each in noticed)
    sentences = {
        "resumed": "The run was stopped and gone on with",
        "server_lost": "The server went away and came back",
        "other_window": "Another program loaded the model with another window",
        "unloaded": "The model was found unloaded",
        "slept": "The machine slept",
        "clock_set": "The system's clock was set, which no duration depends on,",
    }
    return [
        f"{sentence} {_times(counts[kind])} while it was measured."
        for kind, sentence in sentences.items()
        if counts[kind]
    ]


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def missing_lengths(run: Run) -> list[int]:
    """Lengths that were asked for and have no valid row, shortest first."""
    asked = {int(row.condition) for row in run.timings if row.role == "measure"}
    answered = {int(row.condition) for row in run.timings if row.role == "measure" and row.valid}
    return sorted(asked - answered)


def _listed(lengths: list[int]) -> str:
    return ", ".join(f"{length:,}" for length in lengths)
