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
from twohalves.doctor.variables import named_server
from twohalves.errors import NoServer, NotBuiltIn, SeveralModels, TwoHalvesError
from twohalves.formulas import memory_needed
from twohalves.measure.plan import skipped
from twohalves.measure.profiles import NUM_CTX, PROFILES
from twohalves.server import ModelFacts, Server, choose, facts, find, meaning, models
from twohalves.server.builtin.model import read_model
from twohalves.server.builtin.weights import installed_weights
from twohalves.server.endpoint import parse_endpoint
from twohalves.server.loopback import is_loopback
from twohalves.server.model_facts import read_facts
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
    parts = _host(url or named_server(here.environ) or "127.0.0.1")
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
    except NoServer as error:
        return _built_in(here, wanted) if has_engine() else _refused(error)
    except SeveralModels as error:
        return ChosenFacts(error="SeveralModels", what=one_line(error), names=error.names)
    except TwoHalvesError as error:
        return _refused(error, wanted)
    available = memory(here).available if is_loopback(_host(found.url).hostname) else None
    return _needs(told, available, _loaded(found, told.name))


def _built_in(here: Here, wanted: str) -> ChosenFacts:
    """The model that the built-in server will have once it is started."""
    try:
        model = read_model(installed_weights())
    except TwoHalvesError as error:
        return _refused(error)
    if wanted and not model.answers_to(wanted):
        return _refused(NotBuiltIn(wanted, (model.name,)))
    described = read_facts(model.tag(), model.show(verbose=True), model.name)
    return _needs(described, memory(here).available, 0)


def _refused(error: TwoHalvesError, wanted: str = "") -> ChosenFacts:
    return ChosenFacts(error=type(error).__name__, what=one_line(error), wanted=wanted)


def _needs(told: ModelFacts, available: int | None, loaded: int) -> ChosenFacts:
    planned = min(NUM_CTX, told.context_length or NUM_CTX)
    out = {profile: skipped(profile, planned) for profile in PROFILES.values()}
    needed, unknown = _memory(told, planned)
    return ChosenFacts(
        error="",
        what="",
        name=told.name,
        digest=told.digest,
        window=told.context_length,
        planned=planned,
        left_out=tuple(sorted({length for lengths in out.values() for length in lengths})),
        fits_none=all(
            {point.tokens for point in profile.points} <= set(lengths)
            for profile, lengths in out.items()
        ),
        needed=needed,
        unknown=unknown,
        loaded=loaded,
        available=available,
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


def likely(environ: Mapping[str, str]) -> str:
    """The address that was probably meant by the one that is named; "" = that one.

    It is the same one without a slip, or the usual one if somebody answers there.
    """
    with contextlib.suppress(TwoHalvesError):
        named = parse_endpoint(named_server(environ) or "127.0.0.1", "")
        return named.likely or find(environ={}, start_builtin=False).url
    return ""


def _host(named: str) -> urllib.parse.SplitResult:
    try:
        return urllib.parse.urlsplit(named if "://" in named else f"http://{named}")
    except ValueError:  # an address that nobody can read
        return urllib.parse.urlsplit("")


def one_line(error: TwoHalvesError) -> str:
    """What happened, without line breaks."""
    return " ".join(error.what.split())
