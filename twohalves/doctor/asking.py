"""Asks the server for the doctor. Needs the packages, so it is read only where they are."""

from __future__ import annotations

import contextlib
import importlib.util
import urllib.parse
from collections.abc import Mapping

from twohalves.doctor.check import Here
from twohalves.doctor.listening import listener
from twohalves.doctor.machine import memory
from twohalves.doctor.model import ChosenFacts
from twohalves.doctor.server import CountersFacts, ServerFacts
from twohalves.errors import EndpointMalformed, NoServer, SeveralModels, TwoHalvesError
from twohalves.formulas import memory_needed
from twohalves.measure.plan import skipped
from twohalves.measure.profiles import NUM_CTX, PROFILES
from twohalves.server import ModelFacts, Server, choose, facts, find, meaning, models
from twohalves.server.builtin.weights import installed_weights
from twohalves.server.endpoint import parse_endpoint
from twohalves.server.loopback import is_loopback
from twohalves.server.wire import fetch_json

_ENGINE = "xllamacpp"
_MISSED = ("ServerUnreachable", "NotOllama")
"""Errors that an address written wrongly may be the cause of."""
_NAMES = {"ollama": "Ollama", "builtin": "the built-in server"}


def who_answers(here: Here) -> ServerFacts:
    """Find the server by the rules, and look whose process it is."""
    error = what = ""
    found = None
    try:
        found = find(environ=here.environ, start_builtin=False)
    except TwoHalvesError as caught:
        error, what = type(caught).__name__, one_line(caught)
    url = found.url if found else ""
    parts = _host(url or tried(here.environ))
    is_here = is_loopback(parts.hostname)
    name = _NAMES.get(found.kind, "a server that speaks Ollama's protocol") if found else ""
    return ServerFacts(
        url=url,
        host=parts.hostname or "",
        is_here=is_here,
        name=" ".join(filter(None, (name, found.version))) if found else "",
        notes=found.notes if found else (),
        error=error,
        what=what,
        likely=likely(here.environ) if error in _MISSED else "",
        has_engine=has_engine(),
        listener=listener(parts.port, here.root) if found and is_here and parts.port else None,
    )


def counters(here: Here) -> CountersFacts:
    """What the counters of whoever answers mean; of the built-in server if nobody does."""
    try:
        found = find(environ=here.environ, start_builtin=False)
    except NoServer:
        found = Server(url="", kind="builtin", version=None)
    except TwoHalvesError:  # what is wrong stands in the line of the server
        return CountersFacts(sentence="", is_whole=True)
    meant = meaning(found)
    return CountersFacts(sentence=meant.sentence, is_whole=meant.prefill_is_whole)


def chosen(here: Here) -> ChosenFacts:
    """Choose a model by the rules, and ask what it is and needs."""
    wanted = here.environ.get("TWOHALVES_MODEL", "").strip()
    try:
        found = find(environ=here.environ, start_builtin=False)
        model = choose(models(found), wanted=wanted)
        told = facts(found, model.name)
    except SeveralModels as error:
        return ChosenFacts(error="SeveralModels", what=one_line(error), names=error.names)
    except TwoHalvesError as error:
        return ChosenFacts(error=type(error).__name__, what=one_line(error), wanted=wanted)
    return _needs(here, found, told)


def _needs(here: Here, server: Server, told: ModelFacts) -> ChosenFacts:
    planned = min(NUM_CTX, told.context_length or NUM_CTX)
    out = {profile: skipped(profile, planned) for profile in PROFILES.values()}
    is_here = is_loopback(urllib.parse.urlsplit(server.url).hostname)
    machine = memory(here)
    needed, unknown = _memory(told, planned)
    return ChosenFacts(
        error="",
        what="",
        name=told.name,
        digest=told.digest,
        window=told.context_length,
        planned=planned,
        left_out=tuple(sorted({length for lengths in out.values() for length in lengths})),
        fits_none=all(set(profile.lengths) <= set(lengths) for profile, lengths in out.items()),
        needed=needed,
        unknown=unknown,
        loaded=_loaded(server, told.name),
        available=machine.available if is_here else None,
    )


def _memory(told: ModelFacts, window: int) -> tuple[int | None, str]:
    """Bytes by the formula, for one slot and an f16 cache; or None and why it cannot be applied."""
    if told.size is None:
        return None, "the size of the weights is not told"
    try:
        shape = told.kv_shape()
    except TwoHalvesError as error:
        return None, one_line(error)
    return memory_needed(shape, window, 1, "f16", told.size), ""


def _loaded(server: Server, name: str) -> int:
    """Bytes that the server holds for a model now; 0 = it is not loaded, or not told."""
    with contextlib.suppress(TwoHalvesError):
        for entry in fetch_json(server.url, "/api/ps").get("models") or []:
            if isinstance(entry, dict) and entry.get("name") == name:
                size = entry.get("size")
                return size if isinstance(size, int) else 0
    return 0


def has_engine() -> bool:
    """Whether the built-in server could be started."""
    with contextlib.suppress(TwoHalvesError):
        return importlib.util.find_spec(_ENGINE) is not None and installed_weights().is_file()
    return False


def tried(environ: Mapping[str, str]) -> str:
    """What the variables name, as it is written there."""
    named = environ.get("TWOHALVES_SERVER", "").strip()
    if named.lower() in {"", "ollama", "builtin"}:
        named = environ.get("OLLAMA_HOST", "").strip() or "127.0.0.1"
    return named


def likely(environ: Mapping[str, str]) -> str:
    """The address that was probably meant by the one that is named; "" = that one."""
    with contextlib.suppress(EndpointMalformed):
        return parse_endpoint(tried(environ), "").likely
    return ""


def _host(named: str) -> urllib.parse.SplitResult:
    try:
        return urllib.parse.urlsplit(named if "://" in named else f"http://{named}")
    except ValueError:  # an address that nobody can read
        return urllib.parse.urlsplit("")


def one_line(error: TwoHalvesError) -> str:
    """What happened, without line breaks."""
    return " ".join(error.what.split())
