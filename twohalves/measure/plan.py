"""What is asked, in which order: randomized complete blocks with controls between.

The blocks come first, then what the chapter tells without a table: streaming on and off, the
cache broken on purpose, a small traffic. Last come the audits, faults planted on purpose.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from twohalves.measure.profiles import (
    CONTROL_PREDICT,
    CONTROL_TOKENS,
    OURS,
    WARMUP_TOKENS,
    Point,
    Profile,
)
from twohalves.runs.audits import DUPLICATE, RELOAD
from twohalves.runs.reuse import LAYOUTS

MARGIN = 64
"""Tokens of the window kept free beside prompt and answer."""
APPENDED = 40
"""Tokens of new text that a conversation goes on with."""
AUDIT_TOKENS = 600
"""Prompt length of a planted fault, tokens: long enough for its time to tell of a cache."""
TRAFFIC_TOKENS = 460
"""About what a prompt of the small traffic counts, tokens: its texts are of fixed length."""
TRAFFIC_PREDICT = 8
"""Tokens asked for in an answer of the traffic: only its prompts are looked at."""
_BREAKING = ("warm", "ts_top", "ts_bottom", "mid_changed", "appended")
_BREAKING_PREDICT = 16  # tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One request to come."""

    seq: int = 0
    """Number in the run, from 1."""
    role: str
    """measure, control, warmup or audit."""
    prompt_tokens: int
    """Prompt length wanted, the entry number included."""
    num_predict: int = CONTROL_PREDICT
    """Answer length wanted, tokens."""
    block: int | None = None
    """Block, from 1; None for warm-ups and the controls around the blocks."""
    experiments: str = "prefill_decode"
    """What its row serves, separated by semicolons."""
    variant: str = "cold"
    """What its prompt shares with the earlier ones of its pair."""
    pair: str = ""
    """Requests that are asked one right after the other carry the same name."""
    setup: str = ""
    """The private server to ask; empty = the run's own."""
    user: str = ""
    """Whose conversation it belongs to, where there are two."""
    stamp: str = ""
    """Where the prompt tells the time: top, bottom, or nowhere."""
    streamed: bool = True
    """Whether the answer is asked for token by token."""

    @property
    def condition(self) -> str:
        """Name of the condition: the length asked for."""
        return str(self.prompt_tokens)

    @property
    def in_blocks(self) -> bool:
        """True for a condition of the chapter's blocks."""
        return self.role == "measure" and self.experiments not in OURS


Group = tuple[Planned, ...]
"""Requests that belong together: all of them count, or all are asked again."""


def plan(
    profile: Profile, window: int, seed: int, setups: Sequence[str] = ("",)
) -> tuple[Planned, ...]:
    """The whole run in order.

    Each block holds every condition once, in an order of its own drawn from the seed, so that
    no length always comes early or late. Controls stand at the start, after every few
    conditions, and at the end. Lengths that the window cannot hold are left out: see `skipped`.

    Args:
        profile: how much to measure.
        window: context window of the requests, tokens.
        seed: of the order alone; texts are never seeded.
        setups: servers that two users take turns on; empty = the run's own.
    """
    order = random.Random(seed)  # noqa: S311  # an order is no secret, and must be repeatable
    room = window - CONTROL_PREDICT - MARGIN
    control = Planned(role="control", prompt_tokens=min(CONTROL_TOKENS, room), experiments="")
    requests: list[Planned] = [_warmup(tokens) for tokens in warmups(room)]
    requests.append(control)
    requests += _blocks(profile, window, order, control)
    requests.append(control)
    requests += _extras(profile, window, order, setups)
    return tuple(
        dataclasses.replace(request, seq=number) for number, request in enumerate(requests, 1)
    )


def _blocks(
    profile: Profile, window: int, order: random.Random, control: Planned
) -> Iterator[Planned]:
    since_control = 0
    for block in range(1, profile.blocks + 1):
        held = profile.points + (profile.once if block == profile.blocks else ())
        conditions = [point for point in held if _fits(point, window)]
        order.shuffle(conditions)
        for point in conditions:
            if since_control == profile.control_every:
                yield dataclasses.replace(control, block=block)
                since_control = 0
            yield from _condition(point, block)
            since_control += 1


def _condition(point: Point, block: int) -> Iterator[Planned]:
    first = Planned(
        role="measure",
        prompt_tokens=point.tokens,
        num_predict=point.num_predict,
        block=block,
        experiments=";".join(point.experiments),
        pair=f"cache-{point.tokens}-b{block}" if point.twin else "",
    )
    yield first
    if point.twin:
        yield dataclasses.replace(first, experiments="prompt_cache", variant="warm")


def _extras(
    profile: Profile, window: int, order: random.Random, setups: Sequence[str]
) -> Iterator[Planned]:
    if _room(profile.streaming_tokens, CONTROL_PREDICT, window):
        yield from _streaming(profile.streaming_tokens, order)
    longest = profile.broken_tokens + APPENDED + _BREAKING_PREDICT
    if profile.broken_tokens and _room(longest, _BREAKING_PREDICT, window):
        yield from _broken(profile, order, setups)
    if profile.traffic and _room(TRAFFIC_TOKENS, TRAFFIC_PREDICT, window):
        yield from _traffic(profile.traffic)
    if profile.audits and _room(AUDIT_TOKENS, CONTROL_PREDICT, window):
        yield from _audits()


def _streaming(tokens: int, order: random.Random) -> Iterator[Planned]:
    """One request streamed and one in one piece, in an order left to chance."""
    for streamed in order.sample((True, False), 2):
        yield Planned(
            role="measure",
            prompt_tokens=tokens,
            experiments="streaming",
            pair="streaming",
            streamed=streamed,
        )


def _broken(profile: Profile, order: random.Random, setups: Sequence[str]) -> Iterator[Planned]:
    """Each way of breaking the cache, beside a cold request; then two users taking turns."""
    tokens, blocks = profile.broken_tokens, range(1, profile.broken_blocks + 1)
    for block in blocks:
        for variant in order.sample(_BREAKING, len(_BREAKING)):
            first = _breaking(tokens, block, f"{variant}-b{block}")
            first = dataclasses.replace(first, stamp=variant[3:] if variant[:3] == "ts_" else "")
            yield first
            yield _going_on(first) if variant == "appended" else _changed(first, variant)
    for setup in setups:
        if setup:
            yield dataclasses.replace(_warmup(min(WARMUP_TOKENS), "cache_broken"), setup=setup)
        for block in blocks:
            first = _breaking(tokens, block, f"users-{setup or 'own'}-b{block}")
            turns = [dataclasses.replace(first, setup=setup, user=user) for user in ("a", "b")]
            yield from turns
            yield from (_changed(_going_on(turn), "other_user") for turn in turns)


def _breaking(tokens: int, block: int, pair: str) -> Planned:
    return Planned(
        role="measure",
        prompt_tokens=tokens,
        num_predict=_BREAKING_PREDICT,
        block=block,
        experiments="cache_broken",
        pair=f"broken-{pair}",
    )


def _changed(request: Planned, variant: str) -> Planned:
    return dataclasses.replace(request, variant=variant)


def _going_on(request: Planned) -> Planned:
    """The same conversation with its answer and some new text."""
    longer = request.prompt_tokens + request.num_predict + APPENDED
    return dataclasses.replace(request, variant="appended", prompt_tokens=longer)


def _traffic(count: int) -> Iterator[Planned]:
    for layout in LAYOUTS:
        yield from itertools.repeat(
            Planned(
                role="measure",
                prompt_tokens=TRAFFIC_TOKENS,
                num_predict=TRAFFIC_PREDICT,
                experiments="traffic",
                variant=layout,
                pair=f"traffic-{layout}",
            ),
            count,
        )


def _audits() -> Iterator[Planned]:
    """A prompt and the same again, which is called cold; then one after an unloading."""
    for pair in (DUPLICATE, DUPLICATE, RELOAD):
        yield Planned(role="audit", prompt_tokens=AUDIT_TOKENS, experiments="", pair=pair)


def skipped(profile: Profile, window: int) -> tuple[int, ...]:
    """Lengths of the profile that do not fit the window beside the answer, shortest first."""
    lengths = {
        point.tokens for point in (*profile.points, *profile.once) if not _fits(point, window)
    }
    return tuple(sorted(lengths))


def _fits(point: Point, window: int) -> bool:
    return _room(point.tokens, point.num_predict, window)


def _room(tokens: int, num_predict: int, window: int) -> bool:
    return 0 < tokens <= window - num_predict - MARGIN


def warmups(room: int) -> tuple[int, ...]:
    """Two lengths that fit, as far apart as two points of a calibration should be."""
    longest = min(max(WARMUP_TOKENS), room)
    return (min(*WARMUP_TOKENS, longest // 2), longest)


def _warmup(tokens: int, experiment: str = "") -> Planned:
    return Planned(role="warmup", prompt_tokens=tokens, experiments=experiment)


def groups(requests: Iterable[Planned]) -> list[Group]:
    """The requests by what belongs together, in their order."""
    found: list[Group] = []
    for pair, members in itertools.groupby(requests, key=lambda request: request.pair):
        together = tuple(members)
        found += [together] if pair else [(member,) for member in together]
    return found


def as_facts(requests: tuple[Planned, ...]) -> list[dict[str, Any]]:
    """The plan for session.json."""
    return [dataclasses.asdict(request) for request in requests]


def from_facts(facts: list[dict[str, Any]]) -> tuple[Planned, ...]:
    """The plan from session.json."""
    return tuple(Planned(**fact) for fact in facts)
