"""The beginning of a run: its folder, and everything that is known before the first request.

Who writes which fact of session.json: `begin` what is known beforehand, `twohalves.measure.work`
what is noticed meanwhile and what is known only at the end. A session stays "unfinished" until
its last request is kept, so a killed run is found again and goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import importlib.metadata
import pathlib
import re
import secrets
from typing import Any

from twohalves.errors import CannotKeep, PrefillNotTimed, WindowTooShort
from twohalves.measure import plan as planning
from twohalves.measure.ask import KEEP_ALIVE, OPTIONS
from twohalves.measure.private import part, setups
from twohalves.measure.profiles import NUM_CTX, Profile
from twohalves.runs import SCHEMA, latest_number, machine
from twohalves.runs import session as session_file
from twohalves.runs.audits import RELOAD
from twohalves.runs.session import Session
from twohalves.server import ModelFacts, Server, meaning


def begin(
    server: Server,
    model: ModelFacts,
    profile: Profile,
    folder: pathlib.Path,
    predictions: dict[str, Any] | None = None,
    *,
    agreed: bool = False,
) -> Session:
    """Make the run's folder and write down all that is known before the first request.

    Args:
        server: who answers.
        model: which model, with its window.
        profile: how much to measure.
        folder: the folder to make; its name becomes the run's.
        predictions: what the reader guessed beforehand.
        agreed: True if the reader wants a second Ollama where an experiment needs one.

    Raises:
        WindowTooShort: no prompt of the profile fits the model's window.
        PrefillNotTimed: this server's prefill clock cannot be used.
        CannotKeep: the folder cannot be made.
    """
    session = {
        "schema": SCHEMA,
        "run_id": folder.name,
        "number": latest_number(folder.parent) + 1,
        "started_at": session_file.now(),
        "status": "unfinished",
        **_planned(server, model, profile, agreed=agreed),
        **_answering(server, model),
        "machine": machine.facts(),
        "packages": {name: importlib.metadata.version(name) for name in _packages(server)},
        "load_average": {"before": machine.load_average()},
        "predictions": predictions or {},
    }
    _make(folder, session)
    return session


def _make(folder: pathlib.Path, session: Session) -> None:
    try:
        folder.mkdir(parents=True)
        session_file.write(folder, session)
    except OSError as error:
        with contextlib.suppress(OSError):
            folder.rmdir()  # an empty folder would only puzzle
        raise CannotKeep(str(folder), error.strerror or str(error)) from error


def _planned(server: Server, model: ModelFacts, profile: Profile, *, agreed: bool) -> Session:
    """What will be asked, in which order and with which options."""
    window = min(NUM_CTX, model.context_length or NUM_CTX)
    left_out = planning.skipped(profile, window)
    if profile.points and len(left_out) == len({p.tokens for p in profile.points + profile.once}):
        raise WindowTooShort(model.name, window, min(point.tokens for point in profile.points))
    seed = secrets.randbelow(2**31)
    same = {"num_ctx": window, "raw": True, "truncate": False, "keep_alive": KEEP_ALIVE}
    asked, not_asked = setups(server, agreed=agreed)
    requests = planning.plan(profile, window, seed, asked)
    if server.kind == "other":  # nobody knows how it is told to unload a model
        requests = tuple(request for request in requests if request.pair != RELOAD)
    planned = {name for request in requests for name in request.experiments.split(";")}
    short = f"no prompt of it fits the window of {window:,} tokens"
    without = {name: short for name in profile.experiments if name not in planned}
    if "cache_broken" in planned:
        without |= {part(name): why for name, why in not_asked.items()}
    return {
        "profile": profile.name,
        "experiments": list(profile.experiments),
        "seed": seed,
        "plan": planning.as_facts(requests),
        "skipped_lengths": list(left_out),
        "left_out": without,
        "options": OPTIONS | same,
    }


def _answering(server: Server, model: ModelFacts) -> Session:
    """Who answers, and how its counters are to be read."""
    meant = meaning(server, model.format)
    if not meant.prefill_is_whole:
        raise PrefillNotTimed(server.version or "")
    return {
        "server": {"kind": server.kind, "version": server.version} | server.settings_as_facts(),
        "counters": dataclasses.asdict(meant),
        "model": model.as_facts(),
    }


def _packages(server: Server) -> tuple[str, ...]:
    """What of the installed packages took part."""
    engine = ("xllamacpp",) if server.kind == "builtin" and server.started else ()
    return ("ollama", "httpx", *engine)


def new_folder(runs: pathlib.Path, profile: Profile, model: str) -> pathlib.Path:
    """A name for a run that no other has: date, time, profile, model."""
    stamp = datetime.datetime.now().astimezone().strftime("%Y-%m-%d-%H%M")
    plain = re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-")
    base = f"{stamp}-{profile.name}-{plain}"
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, 1000))
    return next(runs / name for name in names if not (runs / name).exists())
