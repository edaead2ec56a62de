"""What is particular to /api/generate: one prompt, as it is or inside the model's template."""

from __future__ import annotations

from twohalves.errors import RequestRefused
from twohalves.server.builtin.engine import Engine
from twohalves.server.builtin.model import ServedModel
from twohalves.server.builtin.requests import Generate, Message
from twohalves.server.builtin.templates import render


def generate_prompt(asked: Generate, model: ServedModel, engine: Engine) -> str:
    """The text that the model is given.

    Raises:
        RequestRefused: the template refuses it, with its own words.
    """
    if asked.raw:
        return asked.prompt
    messages = [Message(role="user", content=asked.prompt)]
    if asked.system:
        messages.insert(0, Message(role="system", content=asked.system))
    before = engine.detokenize(list(asked.context)) if asked.context else ""
    # the engine puts the beginning's own token in front of whatever it reads
    return before.removeprefix(model.first_token) + render(messages, model, engine)


def refuse_generate(asked: Generate, name: str) -> None:
    """Refuse what /api/generate does not offer here.

    Args:
        asked: the request.
        name: the model's full name.

    Raises:
        RequestRefused: 400, with Ollama's words where Ollama refuses it too.
    """
    if asked.raw and (asked.template or asked.system or asked.context):
        raise RequestRefused(400, "raw mode does not support template, system, or context")
    if asked.suffix:
        raise RequestRefused(400, f"{name} does not support insert")
    if asked.template:
        text = "the built-in server does not offer template: use raw and write it out"
        raise RequestRefused(400, text)
