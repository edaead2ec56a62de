"""What a notebook opens first: somebody to ask, and the run its pages show.

Live, that is the reader's own server, and an experiment that the reader's run lacks is
measured. In replay (TWOHALVES_RUN is set) nothing is measured: rows and answers come from the
run that is named.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx

from twohalves.errors import CannotResume
from twohalves.measure.begin import begin, new_folder
from twohalves.measure.profiles import EXPERIMENT, profile
from twohalves.measure.progress import Report, silent
from twohalves.measure.replay import RECORD_VARIABLE, ReplayTransport
from twohalves.measure.work import carry_out, same_server
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


def prefill_decode(
    book: Book, *, profile_name: str = "quick", again: bool = False, report: Report = silent
) -> Run:
    """The run that holds the experiment of section 31.1: replayed, kept, or measured now.

    Args:
        book: an open book.
        profile_name: how much to measure if it must be measured.
        again: measure anew although a run is there.
        report: told of progress between requests.

    Raises:
        TwoHalvesError: the run cannot be measured or read.
    """
    kept = None if again and book.replayed is None else kept_run(book)
    return kept or measure(book, profile_name=profile_name, report=report)


def kept_run(book: Book) -> Run | None:
    """The run that is there already: the one replayed, or the reader's own; None = neither."""
    return book.replayed or readers_run(whose(book), EXPERIMENT, book.runs)


def measure(
    book: Book,
    *,
    profile_name: str = "quick",
    folder: pathlib.Path | None = None,
    report: Report = silent,
) -> Run:
    """Measure the experiment of section 31.1, going on with an interrupted run if there is one.

    Args:
        book: an open, live book.
        profile_name: quick or chapter.
        folder: where to keep the run; None = the unfinished run of the same plan, else a new one.
        report: told of progress between requests.

    Raises:
        UnknownName: no such profile.
        RunBusy: another process measures with this server, or adds to this run.
        CannotResume: the folder holds a run that is finished, or somebody else's.
        TwoHalvesError: see `begin` and `carry_out`.
    """
    chosen = profile(profile_name)
    server, model = _live_parts(book)
    reader = whose(book)
    with claim_server(server.url) as claim:
        if folder is None:
            begun = unfinished(reader, EXPERIMENT, profile_name, book.runs, version=server.version)
            name = begun["run_id"] if begun else None
            folder = book.runs / name if name else new_folder(book.runs, chosen, book.model)
        claim.tell(str(folder))
        if (folder / "session.json").exists():
            _check_resumable(folder, reader, profile_name, server)
        else:
            begin(server, model, chosen, folder, predictions.kept(book.runs))
        return carry_out(server, folder, chosen, report)


def _check_resumable(
    folder: pathlib.Path, reader: Whose, profile_name: str, server: Server
) -> None:
    """Refuse to add rows to a run that another server, model, machine or plan began."""
    session = session_file.read(folder)
    if session["status"] != "unfinished":
        raise CannotResume(folder.name, "it is finished")
    if session["profile"] != profile_name:
        raise CannotResume(folder.name, f"it was begun with --profile {session['profile']}")
    if not (belongs_to(session, reader) and same_server(session["server"], server)):
        raise CannotResume(folder.name, f"it was begun with {run_line(session)}")


def whose(book: Book) -> Whose:
    """Machine, server and model of a live book."""
    server, model = _live_parts(book)
    return Whose(
        machine_id=machine.facts()["id"], server_kind=server.kind, model_digest=model.digest
    )


def _live_parts(book: Book) -> tuple[Server, ModelFacts]:
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
