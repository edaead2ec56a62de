"""All checks at once, each for so long and no longer.

Every probe runs in a thread of its own that nobody waits for: what is not back when the time is
up is reported as such, whatever it hangs on.
"""

from __future__ import annotations

import importlib.util
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from twohalves.doctor.check import Check, Here
from twohalves.doctor.findings import Finding, Trouble, everywhere, wait, warn
from twohalves.doctor.table import CHECKS

DEADLINE_S = 3.0

NO_ANSWER = Trouble(
    title="A check has no answer in 3 s",
    symptoms=("no answer in 3 s",),
    meaning="What was asked hangs: a network folder whose server is gone, a program that waits, a "
    "machine under heavy load.",
    steps=everywhere("`python3 -m twohalves doctor` once more when the machine is quiet."),
)
CHECK_BROKE = Trouble(
    title="A check itself failed",
    symptoms=("this check itself failed",),
    meaning="The doctor met something that it does not know. The other lines hold.",
    steps=everywhere(
        "`python3 -m twohalves doctor --json` shows what the others found; send it with a question."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What one check came to."""

    check: Check
    """Which."""
    finding: Finding
    """What it found."""
    facts: Any
    """What it found it from; None = nothing came back."""
    is_silent: bool
    """Whether its probe was given up and may still be at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Broke:
    """A probe that raised."""

    text: str
    """The error, in one line."""


def examine(
    here: Here | None = None,
    checks: Sequence[Check] = CHECKS,
    *,
    deadline_s: float = DEADLINE_S,
) -> tuple[Examined, ...]:
    """Run the checks.

    Args:
        here: where to look; None = this machine.
        checks: which, in the order of the report.
        deadline_s: seconds after which what is not back is given up.
    """
    where = here or Here()
    lacking = {check.name: _lacks(check) for check in checks}
    probes = dict.fromkeys(check.probe for check in checks if not lacking[check.name])
    back = _gather(tuple(probes), where, deadline_s)
    silent = {c.name for c in checks if not lacking[c.name] and c.probe not in back}
    return tuple(
        Examined(
            check=check,
            finding=_finding(check, back, lacking[check.name], silent, deadline_s),
            facts=_facts(back.get(check.probe)),
            is_silent=check.name in silent,
        )
        for check in checks
    )


def _gather(
    probes: Sequence[Callable[[Here], Any]], here: Here, deadline_s: float
) -> dict[Callable[[Here], Any], Any]:
    """What the probes return until the time is up; an error in place of what raised one."""
    answers: queue.SimpleQueue[tuple[Callable[[Here], Any], Any]] = queue.SimpleQueue()
    end = time.monotonic() + deadline_s

    def ask(probe: Callable[[Here], Any]) -> None:
        answers.put((probe, _guarded(probe, here)))

    for probe in probes:
        try:
            threading.Thread(target=ask, args=(probe,), daemon=True).start()
        except RuntimeError as error:  # this account may have no more threads
            answers.put((probe, _Broke(text=str(error))))
    back: dict[Callable[[Here], Any], Any] = {}
    while len(back) < len(probes):
        try:
            probe, answer = answers.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            break
        back[probe] = answer
    return back


def _guarded(act: Callable[[Any], Any], argument: object) -> Any:  # noqa: ANN401 — what it returns
    """The one place that goes on after any error: a doctor meets machines in every state."""
    try:
        return act(argument)
    except Exception as error:  # noqa: BLE001 — told in the check's own line
        return _Broke(text=" ".join(f"{type(error).__name__}: {error}".split()))


def _lacks(check: Check) -> str:
    """The first module that a check needs and that is not installed; "" = none."""
    names = (name for name in check.packages if importlib.util.find_spec(name) is None)
    return next(names, "")


def _finding(
    check: Check,
    back: dict[Callable[[Here], Any], Any],
    lacking: str,
    silent: set[str],
    deadline_s: float,
) -> Finding:
    if lacking:
        return wait(f"waits for the packages ({lacking} is not installed)")
    if check.name in silent:
        if check.follows in silent:
            return wait(f"waits for: {check.follows}")
        return warn(f"no answer in {deadline_s:g} s", check.silence or NO_ANSWER)
    facts = back[check.probe]
    found = facts if isinstance(facts, _Broke) else _guarded(check.judge, facts)
    if isinstance(found, Finding):
        return found
    return warn(f"this check itself failed: {found.text}", CHECK_BROKE)


def _facts(answer: object) -> Any:  # noqa: ANN401 — each probe has its own
    return None if isinstance(answer, _Broke) else answer
