"""What is asked, in which order: randomized complete blocks with controls between."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from typing import Any

from twohalves.measure.profiles import CONTROL_PREDICT, CONTROL_TOKENS, WARMUP_TOKENS, Profile

MARGIN = 64
"""Tokens of the window kept free beside prompt and answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One request to come."""

    seq: int
    """Number in the run, from 1."""
    role: str
    """measure, control or warmup."""
    prompt_tokens: int
    """Prompt length wanted, the entry number included."""
    num_predict: int
    """Answer length wanted, tokens."""
    block: int | None = None
    """Block, from 1; None for warm-ups and the controls around the blocks."""

    @property
    def condition(self) -> str:
        """Name of the condition: the length asked for."""
        return str(self.prompt_tokens)


def plan(profile: Profile, window: int, seed: int) -> tuple[Planned, ...]:
    """The whole run in order.

    Each block holds every length once, in an order of its own drawn from the seed, so that
    no length always comes early or late. Controls stand at the start, after every few
    requests, and at the end. Lengths that the window cannot hold are left out: see `skipped`.

    Args:
        profile: how much to measure.
        window: context window of the requests, tokens.
        seed: of the order alone; texts are never seeded.
    """
    order = random.Random(seed)  # noqa: S311  # an order is no secret, and must be repeatable
    left_out = skipped(profile, window)
    room = window - CONTROL_PREDICT - MARGIN
    control = min(CONTROL_TOKENS, room)
    requests = [_warmup(tokens) for tokens in warmups(room)]
    requests.append(_control(control, None))
    since_control = 0
    for block in range(1, profile.blocks + 1):
        lengths = list(profile.lengths)
        if block == profile.blocks:
            lengths += profile.once
        lengths = [length for length in lengths if length not in left_out]
        order.shuffle(lengths)
        for length in lengths:
            if since_control == profile.control_every:
                requests.append(_control(control, block))
                since_control = 0
            requests.append(_measure(length, profile.num_predict, block))
            since_control += 1
    requests.append(_control(control, None))
    return tuple(
        dataclasses.replace(request, seq=number) for number, request in enumerate(requests, 1)
    )


def skipped(profile: Profile, window: int) -> tuple[int, ...]:
    """Lengths of the profile that do not fit the window beside the answer."""
    room = window - profile.num_predict - MARGIN
    return tuple(length for length in (*profile.lengths, *profile.once) if length > room)


def as_facts(requests: tuple[Planned, ...]) -> list[dict[str, Any]]:
    """The plan for session.json."""
    return [dataclasses.asdict(request) for request in requests]


def from_facts(facts: list[dict[str, Any]]) -> tuple[Planned, ...]:
    """The plan from session.json."""
    return tuple(Planned(**fact) for fact in facts)


def _measure(tokens: int, num_predict: int, block: int) -> Planned:
    return Planned(
        seq=0, role="measure", prompt_tokens=tokens, num_predict=num_predict, block=block
    )


def warmups(room: int) -> tuple[int, ...]:
    """Two lengths that fit, as far apart as two points of a calibration should be."""
    longest = min(max(WARMUP_TOKENS), room)
    return (min(*WARMUP_TOKENS, longest // 2), longest)


def _control(tokens: int, block: int | None) -> Planned:
    return Planned(
        seq=0,
        role="control",
        prompt_tokens=tokens,
        num_predict=CONTROL_PREDICT,
        block=block,
    )


def _warmup(tokens: int) -> Planned:
    return Planned(seq=0, role="warmup", prompt_tokens=tokens, num_predict=CONTROL_PREDICT)
