"""The model, its window, and the memory that it will take."""

from __future__ import annotations

from dataclasses import dataclass

from twohalves.doctor.findings import (
    Finding,
    Trouble,
    everywhere,
    fail,
    ok,
    setting,
    unix,
    unset,
    wait,
    warn,
)
from twohalves.doctor.machine import GIB

_DIGITS = 12

NO_MODEL = Trouble(
    title="The model is not there",
    symptoms=(
        "ollama._types.ResponseError: model 'llama3.2:3b' not found (status code: 404)",
        "model not found, try pulling it first",
        "No plain local chat model is installed",
        "Error: pull model manifest: file does not exist",
    ),
    meaning="Ollama has no model that writes text on this machine, or not the one that was named. "
    "The book's is about 2 GB.",
    steps=everywhere("`ollama pull {model}`"),
    example={"model": "llama3.2:3b"},
)
SEVERAL = Trouble(
    title="Several models are installed",
    symptoms=("Several models are installed:",),
    meaning="Which one is measured is your choice: a notebook shows a list, a command in a "
    "terminal asks.",
    steps=setting("TWOHALVES_MODEL", "{model}"),
    example={"model": "llama3.2:3b"},
)
NOT_BUILT_IN = Trouble(
    title="A model is named that the built-in server does not have",
    symptoms=("The built-in server has no model", "fetches none"),
    meaning="The built-in server has the one model that it came with.",
    steps=unset("TWOHALVES_MODEL"),
)
SHORT_WINDOW = Trouble(
    title="The model's window is short",
    symptoms=(
        "the input length exceeds the context length",
        "prompt_eval_count is smaller than the prompt",
        "the shortest prompt of the experiment needs",
    ),
    meaning="Prompts that do not fit are left out, and what is left out is said: a server would "
    "cut them without a word.",
    steps=setting("TWOHALVES_MODEL", "llama3.2:3b", "after `ollama pull llama3.2:3b`"),
)
NO_ROOM = Trouble(
    title="The model with its window needs more memory than is free",
    symptoms=(
        "model requires more system memory",
        "cudaMalloc failed: out of memory",
        "size_vram is smaller than size",
        "llama runner process has terminated",
    ),
    meaning="Weights and KV cache together do not fit into what is free of main memory. The server "
    "then reads weights from the disk for every token, or is ended by the system. Where a graphics "
    "card holds the model, its own memory counts, which the doctor does not see.",
    steps=unix(
        "`ollama ps` and `ollama stop NAME` free what is loaded; or the small built-in model: "
        "`export TWOHALVES_SERVER=builtin`.",
        windows="`ollama ps` and `ollama stop NAME` free what is loaded; or the small built-in "
        'model: `$env:TWOHALVES_SERVER = "builtin"`.',
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenFacts:
    """The model that the rules choose, and what it will need."""

    error: str
    """Name of the error that asking ended in; "" = none."""
    what: str
    """What that error says, in one line."""
    names: tuple[str, ...] = ()
    """Models to choose from."""
    wanted: str = ""
    """The model that was named; "" = none was."""
    name: str = ""
    """The chosen one; "" = none."""
    digest: str | None = None
    """Hexadecimal; None = not told."""
    window: int | None = None
    """Trained window in tokens; None = not told."""
    planned: int = 0
    """Window of the requests in tokens."""
    left_out: tuple[int, ...] = ()
    """Prompt lengths of the profiles that the window does not hold, tokens."""
    fits_none: bool = False
    """Whether it holds none at all."""
    needed: int | None = None
    """Bytes that the formula asks for; None = it cannot be applied."""
    unknown: str = ""
    """Why it cannot; "" = it can."""
    loaded: int = 0
    """Bytes that the server holds for this model already."""
    available: int | None = None
    """Bytes of memory free; None = not told, or the server is elsewhere."""


def judge_model(facts: ChosenFacts) -> Finding:
    """One model, and it is there."""
    if facts.name:
        digest = f", digest {facts.digest[:_DIGITS]}" if facts.digest else ""
        return ok(f"{facts.name}{digest}")
    if facts.error == "NoServer":
        return wait("waits for the built-in server, which brings its own")
    if facts.error == "SeveralModels":
        said = f"{len(facts.names)} to choose from: {', '.join(facts.names)}"
        return warn(said, SEVERAL, model=facts.names[0])
    if facts.error == "NotBuiltIn":
        return fail(facts.what, NOT_BUILT_IN)
    if facts.error in {"NoModelInstalled", "ModelMissing"}:
        values = {"model": facts.wanted} if facts.wanted else {}
        return fail(facts.what, NO_MODEL, **values)
    return wait("waits for the server")


def judge_window(facts: ChosenFacts) -> Finding:
    """As long as the longest prompt needs."""
    if not facts.name:
        return wait("waits for the model")
    if facts.window is None:
        return ok(f"not told; asked for are {facts.planned:,} tokens")
    said = f"{facts.window:,} tokens, asked for are {facts.planned:,}"
    if facts.fits_none:
        return fail(f"{said}: no prompt fits", SHORT_WINDOW)
    if facts.left_out:
        lengths = ", ".join(f"{length:,}" for length in facts.left_out)
        return warn(f"{said}: prompts of {lengths} tokens are left out", SHORT_WINDOW)
    return ok(said)


def judge_room(facts: ChosenFacts) -> Finding:
    """Weights and KV cache beside what is in use already."""
    if not facts.name:
        return wait("waits for the model")
    if facts.needed is None:
        return ok(f"not computed: {facts.unknown}")
    said = f"{facts.needed / GIB:.1f} GiB for weights and {facts.planned:,} tokens of KV cache"
    if facts.loaded:
        return ok(f"{said}; loaded already ({facts.loaded / GIB:.1f} GiB)")
    if facts.available is None:
        return ok(f"{said}; the server's memory is not told")
    said = f"{said}, {facts.available / GIB:.1f} GiB free"
    return ok(said) if facts.needed <= facts.available else warn(said, NO_ROOM)
