"""The text of each request: new, or made from an earlier one of its group in a way that is named.

A cache keeps the beginning that two prompts have in common, so what counts is where they begin
to differ. All but the first request of a group are made from what was sent and answered before.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
import re

from twohalves.measure.plan import APPENDED, Planned
from twohalves.measure.prompts import Calibration, Prompt, entry, fresh, prose
from twohalves.measure.traffic import Traffic
from twohalves.runs.reuse import LAYOUTS

STAMP_TOKENS = 16
"""About what a time of day counts; it varies by a few with the tokenizer."""
CHANGED_TOKEN = 12
"""Place of the one changed token, from 1: the chapter's example."""
_HELD = 4
"""Prompts that a server may hold at once: Ollama has had up to so many slots unasked."""

_WORD = re.compile(r"[A-Za-z]+")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """One conversation so far."""

    prompt: Prompt
    head: str
    """Entry number."""
    body: str
    """Prose."""
    reply: str = ""
    """What the model answered."""


class Script:
    """Writes the prompts of one group after another."""

    def __init__(self) -> None:
        self._recent: tuple[str, ...] = ()
        self._told: dict[str, _Told] = {}
        self._traffic: Traffic | None = None

    def begin(self) -> None:
        """Start a group, or start it again: what was sent before is no longer built upon."""
        self._told = {}

    def answered(self, request: Planned, reply: str) -> None:
        """Take down what the model answered, for whatever goes on from there."""
        if request.user in self._told:
            told = self._told[request.user]
            self._told[request.user] = dataclasses.replace(told, reply=reply)

    def prompt(self, request: Planned, calibration: Calibration) -> Prompt:
        """The text of the next request.

        Args:
            request: what is planned; see `Planned.variant`.
            calibration: how the model counts our prose.
        """
        if request.variant in LAYOUTS:
            return self._of_traffic(request.variant)
        told = self._told.get(request.user)
        if told is None or (request.variant == "cold" and request.role == "measure"):
            return self._new(request, calibration)
        text = _derived(request, told, calibration)
        return Prompt(text=text, nonce=told.prompt.nonce, units=0)

    def _new(self, request: Planned, calibration: Calibration) -> Prompt:
        tokens = request.prompt_tokens - (STAMP_TOKENS if request.stamp else 0)
        made = fresh(tokens, calibration, *self._recent)
        self._remember(made.nonce)
        head = f"{made.nonce}."
        body = made.text.removeprefix(f"{head} ")
        if request.stamp:
            made = dataclasses.replace(made, text=_stamped(head, body, request.stamp), units=0)
        self._told[request.user] = _Told(prompt=made, head=head, body=body)
        return made

    def _of_traffic(self, layout: str) -> Prompt:
        if self._traffic is None:
            self._traffic = Traffic()
        if not self._told:  # the first of its layout
            nonce = entry(*self._recent)
            self._remember(nonce)
            self._traffic.begin(f"{nonce}.")
            self._told[""] = _Told(prompt=Prompt(text="", nonce=nonce, units=0), head="", body="")
        nonce = self._recent[-1]
        return Prompt(text=self._traffic.next(layout, _now()), nonce=nonce, units=0)

    def _remember(self, nonce: str) -> None:
        self._recent = (*self._recent, nonce)[-_HELD:]


def exchange_word(text: str, place: int) -> str:
    """The text with another word of its own where one word stood.

    Args:
        text: words and marks.
        place: which word, from 1; below that the first.

    Raises:
        ValueError: the text has no two different words.
    """
    words = list(_WORD.finditer(text))
    old = words[max(0, min(place, len(words)) - 1)]
    others = sorted({word[0] for word in words if word[0].lower() != old[0].lower()})
    if not others:
        msg = f"text must hold two different words, got {text[:40]!r}"
        raise ValueError(msg)
    return f"{text[: old.start()]}{random.SystemRandom().choice(others)}{text[old.end() :]}"


def _derived(request: Planned, told: _Told, calibration: Calibration) -> str:
    """What follows on an earlier request; an audit's repeat is the same text, called cold."""
    match request.variant:
        case "appended" | "other_user":
            return f"{told.prompt.text}{told.reply} {prose(APPENDED)}"
        case "mid_changed":
            place = CHANGED_TOKEN - round(calibration.fixed)
            return f"{told.head} {exchange_word(told.body, place)}"
        case "ts_top" | "ts_bottom":
            return _stamped(told.head, told.body, request.stamp)
        case _:
            return told.prompt.text


def _stamped(head: str, body: str, place: str) -> str:
    """The time above or below the text, never twice the same."""
    return f"{head} {_now()} {body}" if place == "top" else f"{head} {body} {_now()}"


def _now() -> str:
    return f"It is {datetime.datetime.now().astimezone():%H:%M:%S.%f}"[:-3] + "."
