"""What is particular to /api/chat: a conversation, cut to what the window holds."""

from __future__ import annotations

from twohalves.errors import RequestRefused
from twohalves.server.builtin.engine import Engine
from twohalves.server.builtin.model import ServedModel
from twohalves.server.builtin.requests import Chat
from twohalves.server.builtin.templates import render, render_what_fits


def chat_prompt(asked: Chat, model: ServedModel, engine: Engine) -> str:
    """The text that the model is given.

    Raises:
        RequestRefused: the template refuses the conversation, with its own words.
    """
    fit = render_what_fits if asked.truncate else render
    return fit(asked.messages, model, engine)


def refuse_chat(asked: Chat, name: str) -> None:
    """Refuse what /api/chat does not offer here.

    Args:
        asked: the request.
        name: the model's full name.

    Raises:
        RequestRefused: 400, with Ollama's words.
    """
    if asked.tools:
        raise RequestRefused(400, f"{name} does not support tools")
