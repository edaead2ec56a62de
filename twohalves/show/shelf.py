"""The runs on the shelf, for a terminal: a line each, or one of them in full."""

from __future__ import annotations

from collections.abc import Iterator

from twohalves.measure.notes import notes
from twohalves.measure.profiles import EXPERIMENTS
from twohalves.measure.trust import drift_note
from twohalves.runs import Run, Timing, derive
from twohalves.runs.audits import Audits, audits
from twohalves.runs.choose import SAMPLE
from twohalves.runs.comparing import SETTINGS
from twohalves.runs.conditions import tokens_outside_the_clock
from twohalves.runs.drift import drifts
from twohalves.runs.session import Session
from twohalves.show.numbers import counted, fixed, percent, seconds, significant
from twohalves.show.plain import NOTHING, paragraph, table
from twohalves.stats import summarize

_HEADER = ("", "begun", "profile", "server", "model", "experiments", "valid rows", "status")


def shelf(runs: list[Run], width: int) -> list[str]:
    """One line a run, oldest first; on a narrow terminal a paragraph each."""
    ordered = sorted(runs, key=lambda run: str(run.session["started_at"]))
    return table(_HEADER, [_line(run) for run in ordered], width)


def _line(run: Run) -> list[str]:
    session = run.session
    server = session["server"]
    sample = " (sample)" if run.id.startswith(SAMPLE) else ""
    return [
        run.id,
        str(session["started_at"])[:16].replace("T", " "),
        session["profile"],
        " ".join(filter(None, (server["kind"], server["version"]))),
        session["model"]["name"],
        _experiments(session),
        _counts(run, "measure", "control"),
        session["status"] + sample,
    ]


def _experiments(session: Session) -> str:
    held = session["experiments"]
    return "all" if set(EXPERIMENTS) <= set(held) else ", ".join(held)


def _counts(run: Run, *roles: str) -> str:
    """Valid over attempted."""
    asked = [row for row in run.timings if row.role in roles]
    return f"{fixed(sum(row.valid for row in asked))}/{fixed(len(asked))}"


def whole(run: Run, width: int) -> list[str]:
    """Facts, counts of valid rows, notes, drift, audits, and a table an experiment."""
    told = [*_paragraphs(run)]
    lines = [line for text in told for line in (*paragraph(text, width), "")]
    for experiments in _served_alike(run):
        lines += [", ".join(experiments), *_table(run, experiments[0], width), ""]
    return lines[:-1]


def _served_alike(run: Run) -> list[list[str]]:
    """The run's experiments; those that the same rows serve stand together."""
    by_rows: dict[tuple[int, ...], list[str]] = {}
    for experiment in run.session["experiments"]:
        rows = tuple(row.seq for row in run.measured(experiment))
        by_rows.setdefault(rows, []).append(experiment)
    return list(by_rows.values())


def _paragraphs(run: Run) -> Iterator[str]:
    session = run.session
    machine, server, model = session["machine"], session["server"], session["model"]
    ended = session.get("ended_at")
    yield (
        f"{run.id}: profile {session['profile']}, {session['status']}, begun "
        f"{session['started_at']}{f', ended {ended}' if ended else ''}."
    )
    settings = ", ".join(f"{name} {server.get(name, 'unknown')}" for name in SETTINGS)
    yield f"Server: {server['kind']} {server['version'] or ''}; {settings}."
    described = filter(None, (model.get("parameter_size"), model.get("quantization")))
    yield (
        f"Model: {model['name']} ({', '.join(described)}), digest "
        f"{str(model['digest'])[:12]}; window {fixed(session['options']['num_ctx'])} tokens."
    )
    yield (
        f"Machine: {machine.get('processor', machine['id'])}, "
        f"{counted(machine['logical_cores'], 'core')}, {machine.get('system', '')}."
    )
    yield (
        f"Valid rows: measured {_counts(run, 'measure')}, controls {_counts(run, 'control')}, "
        f"warm-ups {_counts(run, 'warmup')}, audits {_counts(run, 'audit')} (planted faults "
        "shall be invalid)."
    )
    yield f"Drift: {_drift(run)}"
    yield f"Audits: {_audits(audits(run))}"
    known = drift_note(run)
    yield from (f"Note: {note}" for note in notes(run) if note != known)


def _drift(run: Run) -> str:
    parts = [
        each.of
        + (
            f" {percent(each.change, 1)} "
            f"({percent(each.interval.low, 1)} to {percent(each.interval.high, 1)})"
            if each.interval
            else ""
        )
        + f", {'cannot tell' if each.verdict == 'unknown' else each.verdict}"
        for each in drifts(run)
    ]
    if not parts:
        return "fewer than two controls, so nothing is known."
    told = drift_note(run)
    return f"change of the control's seconds over the run: {'; '.join(parts)}. {told}".strip()


def _audits(found: Audits) -> str:
    words = {True: "noticed", False: "not noticed", None: "not planted"}
    said = (
        f"repeated prompt {words[found.duplicate_flagged]}, reload {words[found.reload_flagged]}."
    )
    if found.tells_cached:
        return f"{said} The server tells how many tokens came from cache."
    return f"{said} The server does not tell cached tokens; the times of cold rows are looked at."


def _table(run: Run, experiment: str, width: int) -> list[str]:
    """Medians of the valid rows, a line each length, variant and server."""
    groups: dict[tuple[int, str, str, bool], list[Timing]] = {}
    for row in run.measured(experiment):
        key = (int(row.condition), row.setup, row.variant, row.streamed)
        groups.setdefault(key, []).append(row)
    if not groups:
        why = run.session.get("left_out", {}).get(experiment, "no valid row")
        return paragraph(f"Nothing to show: {why}.", width)
    header = [
        "tokens",
        "prompt",
        "rows",
        "prefill",
        "tok/s",
        "decode tok/s",
        "first token",
        "whole",
    ]
    free = tokens_outside_the_clock(run)
    rows = [
        [fixed(key[0]), _kind(key), *_cells(group, free)] for key, group in sorted(groups.items())
    ]
    return table(header, rows, width)


def _kind(key: tuple[int, str, str, bool]) -> str:
    _, setup, variant, streamed = key
    return ", ".join(filter(None, (variant, setup, "" if streamed else "in one piece")))


def _cells(rows: list[Timing], free: int) -> list[str]:
    def middle(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return summarize(known).median if known else None

    medians = (
        (seconds, middle([derive.prefill_s(row) for row in rows])),
        (significant, middle([_reading(row) for row in rows])),
        (significant, middle([derive.decode_rate(row, free) for row in rows])),
        (seconds, middle([derive.ttft_s(row) for row in rows])),
        (seconds, middle([derive.total_s(row) for row in rows])),
    )
    texts = [NOTHING if value is None else shown(value) for shown, value in medians]
    return [fixed(len(rows)), *texts]


def _reading(row: Timing) -> float | None:
    """Tokens per second of prefill; of a prompt that was held it would mean nothing."""
    return derive.prefill_rate(row) if row.variant == "cold" else None
