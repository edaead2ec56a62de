"""What a notebook opens first: somebody to ask, and the run its pages show.

Live, that is the reader's own server, and an experiment that the reader's run lacks is
measured. In replay (TWOHALVES_RUN is set) nothing is measured: rows and answers come from the
run that is named.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import httpx

from twohalves.errors import CannotResume
from twohalves.measure.begin import begin, new_folder
from twohalves.measure.lines import same_server
from twohalves.measure.profiles import EXPERIMENTS, Profile, profile
from twohalves.measure.progress import Report, silent
from twohalves.measure.replay import RECORD_VARIABLE, ReplayTransport
from twohalves.measure.work import carry_out
from twohalves.places import RUNS
from twohalves.runs import (
    Run,
    Whose,
    belongs_to,
    claim_server,
    fixed_run,
    machine,
    named,
    predictions,
    readers_run,
    unfinished,
)
from twohalves.runs import session as session_file
from twohalves.runs.session import Session
from twohalves.server import Model, ModelFacts, Server, choose, client, facts, find, models, who
from twohalves.server.official import ollama

PLAIN_URL = "http://127.0.0.1:11434"


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """An open book: who answers, and from where the rows come."""

    client: ollama.Client
    """The official client, ready to ask."""
    model: str
    """Name of the model it asks."""
    says: str
    """One line: who answers with which model, or which run is replayed."""
    replayed: Run | None
    """The run that is replayed; None when live."""
    server: Server | None
    """The live server; None in replay."""
    facts: ModelFacts | None
    """What the live server says of the model; None in replay."""
    runs: pathlib.Path = RUNS
    """Folder of the runs."""


def open_book(environ: Mapping[str, str] | None = None, runs: pathlib.Path = RUNS) -> Book:
    """Find out who answers: the run that TWOHALVES_RUN names, else a server.

    Raises:
        TwoHalvesError: no such run; no server; no model, or several to choose from.
    """
    environ = os.environ if environ is None else environ
    run_id = fixed_run(environ)
    if run_id is not None:
        return _replayed(named(run_id, runs), environ.get(RECORD_VARIABLE), runs)
    return live(find(environ=environ), environ.get("TWOHALVES_MODEL"), runs)


def live(
    server: Server,
    wanted: str | None = None,
    runs: pathlib.Path = RUNS,
    *,
    choice: Callable[..., Model] = choose,
) -> Book:
    """A book that asks a running server.

    Args:
        server: who answers.
        wanted: the model asked for; None = the rules decide.
        runs: folder of the runs.
        choice: takes the server's models and `wanted`; may ask the reader.

    Raises:
        TwoHalvesError: no model, or several to choose from.
    """
    model = choice(models(server), wanted=wanted)
    return Book(
        client=client(server),
        model=model.name,
        says=who(server, model),
        replayed=None,
        server=server,
        facts=facts(server, model.name),
        runs=runs,
    )


def kept_run(book: Book, experiments: Collection[str] = EXPERIMENTS) -> Run | None:
    """The run that is there already: the one replayed, or the reader's own; None = neither.

    Args:
        book: an open book.
        experiments: what the reader's own run must hold; a replayed one is shown as it is.
    """
    return book.replayed or readers_run(whose(book), experiments, book.runs)


def measure(
    book: Book,
    *,
    profile_name: str = "quick",
    experiment: str | None = None,
    folder: pathlib.Path | None = None,
    agreed: bool = False,
    report: Report = silent,
) -> Run:
    """Measure, going on with an interrupted run if there is one.

    Args:
        book: an open, live book.
        profile_name: quick, chapter or thorough.
        experiment: one experiment alone; None = all that the profile holds.
        folder: where to keep the run; None = the unfinished run of the same plan, else a new one.
        agreed: True if the reader wants a second Ollama where an experiment needs one.
        report: told of progress between requests.

    Raises:
        UnknownName: no such profile, or it does not hold the experiment.
        RunBusy: another process measures with this server, or adds to this run.
        CannotResume: the folder holds a run that is finished, or somebody else's.
        TwoHalvesError: see `begin` and `carry_out`.
    """
    chosen = profile(profile_name) if experiment is None else profile(profile_name).only(experiment)
    server, model = live_parts(book)
    with claim_server(server.url) as claim:
        folder = folder or _folder(book, chosen)
        claim.tell(str(folder))
        if (folder / "session.json").exists():
            chosen = _resumed(folder, whose(book), profile_name, server)
        else:
            begin(server, model, chosen, folder, predictions.kept(book.runs), agreed=agreed)
        return carry_out(server, folder, chosen, report)


def _folder(book: Book, chosen: Profile) -> pathlib.Path:
    """That of the unfinished run of the same plan, else a new one."""
    server, _ = live_parts(book)
    experiments, version = chosen.experiments, server.version
    begun = unfinished(whose(book), experiments, chosen.name, book.runs, version=version)
    return book.runs / begun["run_id"] if begun else new_folder(book.runs, chosen, book.model)


def _resumed(folder: pathlib.Path, reader: Whose, profile_name: str, server: Server) -> Profile:
    """The profile that a run was begun with.

    Raises:
        CannotResume: another server, model, machine or plan began it.
    """
    session = session_file.read(folder)
    if session["status"] != "unfinished":
        raise CannotResume(folder.name, "it is finished")
    if session["profile"] != profile_name:
        raise CannotResume(folder.name, f"it was begun with --profile {session['profile']}")
    if not (belongs_to(session, reader) and same_server(session["server"], server)):
        raise CannotResume(folder.name, f"it was begun with {run_line(session)}")
    chosen, experiments = profile(profile_name), session["experiments"]
    alone = len(experiments) == 1 and chosen.holds(experiments[0])
    return chosen.only(experiments[0]) if alone else chosen


def whose(book: Book) -> Whose:
    """Machine, server and model of a live book."""
    server, model = live_parts(book)
    return Whose(
        machine_id=machine.facts()["id"], server_kind=server.kind, model_digest=model.digest
    )


def live_parts(book: Book) -> tuple[Server, ModelFacts]:
    """The server of a live book, and what it says of the model.

    Raises:
        ValueError: the book replays a run.
    """
    if book.server is None or book.facts is None:
        msg = "a replayed book has no server to ask"
        raise ValueError(msg)
    return book.server, book.facts


def _replayed(run: Run, record_from: str | None, runs: pathlib.Path) -> Book:
    alone = httpx.Limits(max_keepalive_connections=0)  # a call or two: nothing to keep open
    beyond = httpx.HTTPTransport(limits=alone, trust_env=False) if record_from else None
    transport = ReplayTransport(run.folder, beyond)
    return Book(
        client=ollama.Client(host=record_from or PLAIN_URL, transport=transport, trust_env=False),
        model=run.session["model"]["name"],
        says=f"Replayed from the run {run.id}: {run_line(run.session)}.",
        replayed=run,
        server=None,
        facts=None,
        runs=runs,
    )


def run_line(session: Session) -> str:
    """Who answered in a run, in a few words."""
    kind = session["server"]["kind"]
    name = {"ollama": "Ollama", "builtin": "the built-in server"}.get(kind, "a server")
    version = session["server"]["version"] or "of unknown version"
    date = str(session["started_at"])[:10]
    return f"{name} {version} with {session['model']['name']}, {date}"
