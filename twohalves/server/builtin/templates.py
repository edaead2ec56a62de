"""From messages to the one text that a model is given, in the model's own chat template."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from twohalves.errors import RequestRefused
from twohalves.server.builtin.engine import Engine
from twohalves.server.builtin.model import ServedModel
from twohalves.server.builtin.requests import Message


def render(messages: Sequence[Message], model: ServedModel, engine: Engine) -> str:
    """The prompt for a conversation.

    A file without a template gets the bare texts, as in Ollama: no marks, no system message.

    Args:
        messages: oldest first.
        model: whose template it is.
        engine: runs the template.

    Raises:
        RequestRefused: the template refuses the conversation, with its own words.
    """
    if model.template is None:
        return _bare(messages)
    return engine.render([{"role": each.role, "content": each.content} for each in messages])


def render_what_fits(messages: Sequence[Message], model: ServedModel, engine: Engine) -> str:
    """The prompt for as much of a conversation as the window holds.

    Whole messages are dropped, oldest first. System messages stay, and the last one, even if
    they alone are too long.

    Args:
        messages: oldest first, at least one.
        model: whose template it is.
        engine: runs the template, and counts.

    Raises:
        RequestRefused: the template refuses what is left, with its own words.
    """
    last = len(messages) - 1
    for first in range(last):
        system = [each for each in messages[:first] if each.role == "system"]
        try:
            prompt = render([*system, *messages[first:]], model, engine)
        except RequestRefused:
            if first == 0:
                raise
            continue  # a template may insist on the user's turn: drop one more
        if len(engine.tokenize(prompt)) <= engine.settings.num_ctx:
            return prompt
    system = [each for each in messages[:last] if each.role == "system"]
    return render([*system, messages[last]], model, engine)


def _bare(messages: Sequence[Message]) -> str:
    spoken = [each for each in messages if each.role in {"user", "assistant"}]
    turns = itertools.groupby(spoken, key=lambda each: each.role)
    return "".join("\n\n".join(each.content for each in turn) for _, turn in turns)
