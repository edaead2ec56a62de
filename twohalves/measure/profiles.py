"""How much is measured: the profiles of the experiment `prefill_decode`."""

from __future__ import annotations

from dataclasses import dataclass

from twohalves.errors import UnknownName

EXPERIMENT = "prefill_decode"
NUM_CTX = 8192
"""Window of every request, tokens; equal everywhere, since changing it reloads the model."""
CONTROL_TOKENS = 1000
CONTROL_PREDICT = 64
WARMUP_TOKENS = (300, 1000)
"""Two lengths, because two points calibrate tokens against words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One answer to the question how much patience the reader has."""

    name: str
    """What the command line calls it."""
    lengths: tuple[int, ...]
    """Prompt lengths of each block, tokens."""
    blocks: int
    """Randomized complete blocks at most."""
    once: tuple[int, ...] = ()
    """Longer prompts, asked once, in the last block."""
    num_predict: int = 32
    """Tokens asked for in each answer."""
    control_every: int = 3
    """Requests between two controls; one more stands at the start and one at the end."""
    budget_s: float | None = None
    """Seconds that a run should take at most, see `budget`; None for no limit."""


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="quick",
            lengths=(96, 298, 572, 1095, 2156),
            blocks=3,
            once=(4247,),
            control_every=6,
            budget_s=140,
        ),
        Profile(name="chapter", lengths=(96, 298, 572, 1095, 2156, 4247), blocks=5),
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
