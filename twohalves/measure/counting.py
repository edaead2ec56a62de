"""How many tokens a reader's own request has, part by part: the model is asked, nothing estimated.

A part is what the count grows by when it is added, so that the parts add up to the whole to the
token. Every text that is counted begins with a line of digits of its own and is asked raw; the
digits are counted too, and taken off. Behind the digits a text stands as it does behind the
first line of a template, and a later request for an answer finds nothing of it in the cache.

Some versions leave cached tokens out of their count. Whoever does gives himself away when the
digits are sent twice: then each text gets digits that nobody has seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twohalves.errors import CountsUnusable
from twohalves.measure.book import Book
from twohalves.measure.prompts import entry
from twohalves.measure.request import Parts, beginnings, messages, read
from twohalves.measure.way import Way, way

_SEEN = 8
"""Of so many digits that were used before, the first one is avoided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a request."""

    name: str
    """System, tools, examples, context or question."""
    tokens: int
    """What the count grows by when it is added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A request, counted by the model that will read it."""

    model: str
    """Whose tokens they are."""
    parts: tuple[Part, ...]
    """In the order they are sent."""
    template_tokens: int
    """What the model's template adds: the marks of who speaks, perhaps a text of its own. Below 0
    if it leaves out a part."""

    @property
    def text_tokens(self) -> int:
        """Tokens of all parts."""
        return sum(part.tokens for part in self.parts)

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the whole request, as the model reads it."""
        return self.text_tokens + self.template_tokens


def count(book: Book, request: Mapping[str, Any], *, num_ctx: int | None = None) -> Counted:
    """Have the model count a request, part by part, and what its template adds.

    Args:
        book: an open book.
        request: text by part: system, tools, examples, context, question, or some of them; tools
            may be JSON data. They are sent in this order, whatever order they are given in.
        num_ctx: window to ask for, tokens; None = that of the measured requests. Another one
            makes the server load the model anew.

    Raises:
        UnknownName: there is no such part.
        RequestUnusable: a part is no text, or there is none.
        RequestTooLong: the window does not hold it.
        CountsUnusable: the server does not count, or its counts make no sense.
        NotInThisRun: the run that is replayed does not hold this request.
        TwoHalvesError: nobody answers, or not as one should.
    """
    parts = read(request)
    with way(book, num_ctx) as to:
        counter = _Counter(to, is_replay=book.replayed is not None)
        ends = [0, *(counter.of(text) for text in beginnings(parts))]
        whole = counter.of_chat(parts, at_least=ends[-1])
    grown = [after - before for before, after in itertools.pairwise(ends)]
    if min(grown) < 1:
        reason = "with more text they become fewer"
        raise CountsUnusable(book.model, reason)
    return Counted(
        model=book.model,
        parts=tuple(
            Part(name=name, tokens=tokens) for name, tokens in zip(parts, grown, strict=True)
        ),
        template_tokens=whole - ends[-1],
    )


class _Counter:
    """Asks a model, and takes off what the digits in front cost."""

    def __init__(self, to: Way, *, is_replay: bool) -> None:
        self._to = to
        self._is_replay = is_replay
        self._used: list[str] = []
        self._same = ""
        first = self._digits()
        once = self._raw(first)
        # two tokens, so that whoever records takes it for another request
        if self._asked(first, num_predict=2) == once:
            self._same = first
        else:  # cached tokens are left out, perhaps even those that begin every prompt
            once = self._raw(self._digits())
        self._alone = once
        self._digits_tokens = self._raw(self._digits() + self._digits()) - once

    def of(self, text: str) -> int:
        """Tokens of a text, raw."""
        tokens = self._raw(self._digits() + text)
        self._to.demand_whole(tokens, text)
        return tokens - self._alone

    def of_chat(self, parts: Parts, *, at_least: int) -> int:
        """Tokens of a whole request in the model's template.

        Fewer than its parts have: the template leaves one out, perhaps with the digits in it.
        Digits that are sent twice tell, for then there is nothing to take off.
        """
        told = messages(parts, self._digits())
        tokens = self._known(self._chat(told))
        self._to.demand_whole(tokens, told[-1]["content"])  # some templates drop the system's
        if tokens - self._digits_tokens >= at_least:
            return tokens - self._digits_tokens
        twice = self._chat(messages(parts, self._digits() + self._digits()))
        return tokens - max(0, (twice or 0) - tokens)

    def _chat(self, told: list[dict[str, str]]) -> int | None:
        with self._to.errors():
            answer = self._to.client.chat(messages=told, stream=False, **self._to.asked(1))
        return answer.prompt_eval_count

    def _digits(self) -> str:
        """A line of eight digits, a token each or nearly so, so that all lines cost the same.

        In replay they are always the same ones, since an answer is found by what was asked.
        """
        if self._same:
            return self._same
        fixed = f"{len(self._used) % 9 + 1}0000000"
        digits = fixed if self._is_replay else entry(*self._used[-_SEEN:])
        self._used.append(digits)
        return " ".join(digits) + "\n"

    def _raw(self, text: str) -> int:
        return self._known(self._asked(text))

    def _asked(self, text: str, num_predict: int = 1) -> int | None:
        with self._to.errors():
            answer = self._to.client.generate(
                prompt=text, raw=True, stream=False, **self._to.asked(num_predict)
            )
        return answer.prompt_eval_count

    def _known(self, tokens: int | None) -> int:
        if tokens is None:
            reason = "its answers lack prompt_eval_count"
            raise CountsUnusable(self._to.model, reason)
        return tokens
