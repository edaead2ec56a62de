"""Which run a page shows.

`TWOHALVES_RUN` fixes it. Otherwise it is the reader's run: the newest one of this machine,
this server and this model that holds the experiment.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from twohalves.errors import RunMissing, RunUnreadable
from twohalves.places import RUNS
from twohalves.runs.load import Run, load
from twohalves.runs.schema import SCHEMA
from twohalves.runs.session import Session, read

VARIABLE = "TWOHALVES_RUN"
SAMPLE = "sample"
"""Names that begin so are the committed runs of the published edition, nobody's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """What has to agree for a run to be the reader's."""

    machine_id: str
    """Hash of the machine, `twohalves.runs.machine.facts()["id"]`."""
    server_kind: str
    """ollama, builtin or other."""
    model_digest: str | None
    """Digest of the model's file; None when the server does not tell."""


def fixed_run(environ: Mapping[str, str] | None = None) -> str | None:
    """The run that the environment fixes, or None."""
    return (os.environ if environ is None else environ).get(VARIABLE) or None


def named(run_id: str, folder: pathlib.Path = RUNS) -> Run:
    """A run by its name.

    Raises:
        RunMissing: no such run.
        RunUnreadable: it is there but cannot be read.
    """
    if run_id not in listed(folder):
        raise RunMissing(run_id, listed(folder))
    return load(folder / run_id)


def listed(folder: pathlib.Path = RUNS) -> tuple[str, ...]:
    """Names of all runs, sorted."""
    if not folder.is_dir():
        return ()
    return tuple(sorted(path.parent.name for path in folder.glob("*/session.json")))


def readers_run(
    whose: Whose, experiments: Collection[str], folder: pathlib.Path = RUNS
) -> Run | None:
    """The newest finished run of this reader that holds all the experiments, or None."""
    found = [
        session
        for session in _sessions(folder)
        if session["status"] == "complete"
        and set(experiments) <= set(session["experiments"])
        and belongs_to(session, whose)
    ]
    return load(folder / found[-1]["run_id"]) if found else None


def unfinished(
    whose: Whose,
    experiments: Collection[str],
    profile: str,
    folder: pathlib.Path = RUNS,
    *,
    version: str | None = None,
) -> Session | None:
    """The newest unfinished session of this reader for the same plan, or None.

    Args:
        whose: machine, server and model.
        experiments: what it measures.
        profile: how much.
        folder: folder of the runs.
        version: the server's; a run begun with another one is not gone on with. None = any.
    """
    found = [
        session
        for session in _sessions(folder)
        if session["status"] == "unfinished"
        and session["schema"] == SCHEMA  # the columns of an older one are not ours
        and set(session["experiments"]) == set(experiments)
        and session["profile"] == profile
        and version in {None, session["server"]["version"]}
        and belongs_to(session, whose)
    ]
    return found[-1] if found else None


def newest_sample(folder: pathlib.Path = RUNS) -> str | None:
    """Name of the newest committed sample run, or None."""
    samples = [run_id for run_id in listed(folder) if run_id.startswith(SAMPLE)]
    return max(samples, key=lambda run_id: str(read(folder / run_id)["started_at"]), default=None)


def at_hand(environ: Mapping[str, str] | None = None, folder: pathlib.Path = RUNS) -> Run:
    """The run of a page that asks nobody: the one that is fixed, else the newest, else the sample.

    Raises:
        RunMissing: no such run, or none at all.
        RunUnreadable: it is there but cannot be read.
    """
    own = [each["run_id"] for each in _sessions(folder) if each["status"] == "complete"]
    newest = own[-1] if own else newest_sample(folder)
    return named(fixed_run(environ) or newest or SAMPLE, folder)


def belongs_to(session: Session, whose: Whose) -> bool:
    """True when machine, server and model agree."""
    return whose == Whose(
        machine_id=session["machine"]["id"],
        server_kind=session["server"]["kind"],
        model_digest=session["model"]["digest"],
    )


def unreadable(folder: pathlib.Path = RUNS) -> tuple[RunUnreadable, ...]:
    """Why folders that hold rows cannot be read, for whoever wonders where a run has gone."""
    found = []
    for path in sorted(folder.glob("*/timings.csv")):
        try:
            read(path.parent)
        except RunUnreadable as error:
            found.append(error)
    return tuple(found)


def latest_number(folder: pathlib.Path = RUNS) -> int:
    """The highest number that a run of the folder carries; 0 for none.

    Runs are numbered in the order they are begun, because a clock may be set back.
    """
    return max((_order(session)[0] for session in _sessions(folder)), default=0)


def _order(session: Session) -> tuple[int, str]:
    """Sorts runs by their beginning; those without a number are older than all with one."""
    number = session.get("number")
    return (number if isinstance(number, int) else 0), str(session["started_at"])


def _sessions(folder: pathlib.Path) -> list[Session]:
    """The readable sessions but for samples, oldest first; a broken one hides no other."""
    sessions = []
    for run_id in listed(folder):
        if run_id.startswith(SAMPLE):
            continue
        try:
            sessions.append(read(folder / run_id) | {"run_id": run_id})
        except RunUnreadable:
            continue
    return sorted(sessions, key=_order)
