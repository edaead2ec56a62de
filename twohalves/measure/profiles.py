"""How much is measured: the experiments, and the profiles that hold them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from twohalves.errors import UnknownName

TABLES = ("prefill_decode", "ttft", "decode_vs_context", "prompt_cache")
"""Experiments behind the chapter's tables: conditions of the randomized blocks."""
OURS = ("streaming", "cache_broken", "traffic")
"""Experiments that the chapter tells without a table; they come after the blocks."""
EXPERIMENTS = (*TABLES, *OURS)
"""All experiments, in the order in which they are measured."""
NUM_CTX = 8192
"""Window of every request, tokens; equal everywhere, since changing it reloads the model."""
CONTROL_TOKENS = 1000
"""Prompt length of the control, tokens: the chapter's."""
CONTROL_PREDICT = 64
"""Tokens asked for in the control's answer: the chapter's."""
WARMUP_TOKENS = (300, 1000)
"""Prompt lengths of the warm-ups, tokens: two points calibrate tokens against words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One condition of a block."""

    tokens: int
    """Prompt length, tokens."""
    experiments: tuple[str, ...] = ("prefill_decode",)
    """What its row serves."""
    num_predict: int = 32
    """Tokens asked for in the answer."""
    twin: bool = False
    """Whether the same prompt is sent once more at once, for the experiment prompt_cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One answer to the question how much patience the reader has."""

    name: str
    """What the command line calls it."""
    points: tuple[Point, ...]
    """Conditions of each block."""
    blocks: int
    """Randomized complete blocks at most."""
    enough: int | None = None
    """Blocks after which to stop as soon as all intervals are tight; None = ask all blocks."""
    once: tuple[Point, ...] = ()
    """Longer prompts, asked once, in the last block."""
    control_every: int = 3
    """Conditions between two controls; one more stands at the start and one at the end."""
    budget_s: float | None = None
    """Seconds that a run should take at most, see `budget`; None for no limit."""
    streaming_tokens: int = 0
    """Prompt length of the trial with and without streaming; 0 = no trial."""
    broken_tokens: int = 0
    """Prompt length at which the cache is broken on purpose; 0 = it is not."""
    broken_blocks: int = 1
    """How often each way of breaking it is tried."""
    traffic: int = 0
    """Requests of the small traffic, in each layout."""
    audits: bool = False
    """Whether a repeated prompt and a reload are planted, which must be noticed."""

    def holds(self, experiment: str) -> bool:
        """True if the profile measures it."""
        extras = {
            "streaming": self.streaming_tokens,
            "cache_broken": self.broken_tokens,
            "traffic": self.traffic,
        }
        named = any(experiment in point.experiments for point in self.points)
        return named or bool(extras.get(experiment))

    @property
    def experiments(self) -> tuple[str, ...]:
        """What the profile measures, in order."""
        return tuple(name for name in EXPERIMENTS if self.holds(name))

    def only(self, experiment: str) -> Profile:
        """This profile with one experiment alone.

        Raises:
            UnknownName: the profile does not hold it.
        """
        if not self.holds(experiment):
            kind = "experiment"
            raise UnknownName(kind, experiment, self.experiments)
        return dataclasses.replace(
            self,
            points=_serving(self.points, experiment),
            once=_serving(self.once, experiment),
            streaming_tokens=self.streaming_tokens if experiment == "streaming" else 0,
            broken_tokens=self.broken_tokens if experiment == "cache_broken" else 0,
            traffic=self.traffic if experiment == "traffic" else 0,
        )


def _serving(points: tuple[Point, ...], experiment: str) -> tuple[Point, ...]:
    twins = experiment == "prompt_cache"
    return tuple(
        dataclasses.replace(point, experiments=(experiment,), twin=twins)
        for point in points
        if experiment in point.experiments
    )


def points(  # noqa: D417  # the rest are the fields of Point
    lengths: tuple[int, ...], *experiments: str, num_predict: int = 32, twin: bool = False
) -> tuple[Point, ...]:
    """One point a length.

    Args:
        lengths: prompt lengths, tokens.
        experiments: what their rows serve; none = prefill_decode.
    """
    serve = experiments or ("prefill_decode",)
    return tuple(
        Point(tokens=tokens, experiments=serve, num_predict=num_predict, twin=twin)
        for tokens in lengths
    )


_CHAPTER = Profile(
    name="chapter",
    points=(
        *points((96, 298, 572, 1095, 2156, 4247), "prefill_decode"),
        *points((90, 960, 3731, 7427), "ttft", num_predict=64),
        *points((83, 965, 3731, 7414), "decode_vs_context", num_predict=64),
        *points((95, 303, 564, 1090, 2149, 4247), "prompt_cache", twin=True),
    ),
    blocks=5,
    control_every=10,
    streaming_tokens=3731,
    broken_tokens=1095,
    broken_blocks=3,
    traffic=20,
    audits=True,
)
"""The chapter's twenty conditions, six of them with a twin; then ours."""

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="quick",
            points=points((96, 298, 572, 1095, 2156), *TABLES, twin=True),
            blocks=3,
            once=points((4247,), *TABLES, twin=True),
            control_every=5,  # five controls: fewer carry no interval for a drift
            budget_s=180,
            streaming_tokens=1095,
            broken_tokens=572,
            traffic=20,
            audits=True,
        ),
        _CHAPTER,
        dataclasses.replace(_CHAPTER, name="thorough", blocks=12, enough=6, broken_blocks=6),
    )
}


def profile(name: str) -> Profile:
    """A profile by name.

    Raises:
        UnknownName: no such profile.
    """
    if name not in PROFILES:
        kind = "profile"
        raise UnknownName(kind, name, tuple(PROFILES))
    return PROFILES[name]
