"""The cache broken on purpose: what a second request changed, and who came in between."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import Markdown

from twohalves.measure.private import part
from twohalves.runs import Run
from twohalves.runs.reuse import Reuse, reuses
from twohalves.show.caching import known_from, tokens_read
from twohalves.show.markdown import say, table
from twohalves.show.needs import not_held
from twohalves.show.numbers import counted, fixed, seconds, times

EXPERIMENT = "cache_broken"
_CHANGES = {
    "warm": "nothing, the same again",
    "appended": "reply and new text appended",
    "ts_bottom": "the time at the bottom",
    "ts_top": "the time on top",
    "mid_changed": "one word at token 12",
}
"""What the second request changed."""
_SETUPS = {
    "": "your server as it is",
    "one_slot": "one slot",
    "two_slots": "two slots",
    "host_cache": "one slot, evicted prompts kept",
}
"""Servers that two users took turns on."""
_UNUSED = {
    "two_slots": "That a second slot was there did not help: the server picks a slot, and some "
    "versions (Ollama 0.24 among them) take the first one again whenever several are free and "
    "none fits better. Their second slot fills only when two requests are in flight at the same "
    "time.",
    "host_cache": "The main memory did not help: versions of Ollama before 0.30 keep no prompt "
    "there, whatever they are told.",
}
"""Why a layout that could have kept both conversations did not."""
_HEAD = ["pairs", "prompt tokens", "read", "prefill", "cold twin", "speedup"]


def changed(run: Run) -> Markdown:
    """One row for each change, cheapest first: tokens sent, tokens read, seconds, cold twin."""
    found = _changes(run)
    if not found:
        return not_held(run, EXPERIMENT)
    cells = [[_CHANGES[name], *_cells(line)] for name, line in found.items()]
    caption = (
        f"Run {run.id}, second request of each pair, sent right after the first; the cheapest on "
        "top. The cold twin is that first one's prefill. "
        f"{known_from([line.how for line in found.values()])}"
    )
    return table(["what the second request changed", *_HEAD], cells, caption)


def what_broke_it(run: Run) -> Markdown:
    """Which changes cost the prefix and which did not, and what one token cost."""
    found = _changes(run)
    if not found:
        return not_held(run, EXPERIMENT)
    kept = [_CHANGES[name] for name, line in found.items() if line.reused]
    lost = [_CHANGES[name] for name, line in found.items() if line.reused is False]
    said = [
        f"{head}: {'; '.join(names)}."
        for head, names in (("Mostly from cache", kept), ("Mostly read again", lost))
        if names
    ]
    middle = found.get("mid_changed")
    if middle is not None and middle.reused is False:
        said.append(
            f"One changed word near the top made the server read {tokens_read(middle)} of "
            f"{fixed(middle.prompt_tokens.median)} tokens again."
        )
    top, bottom = found.get("ts_top"), found.get("ts_bottom")
    if top is not None and bottom is not None and top.reused is False and bottom.reused:
        said.append(
            f"The time cost {seconds(top.later_s.median)} of prefill above the text and "
            f"{seconds(bottom.later_s.median)} below it."
        )
    return say(" ".join(said) or "Your server does not tell, and its times do not either.")


def users(run: Run) -> Markdown:
    """Two users taking turns, on each server that could be had for it."""
    found = _users(run)
    left = "\n".join(f"- {line}" for line in left_out(run))
    if not found:
        return not_held(run, "Two users taking turns") if not left else say(left)
    cells = [[_named(run, setup), *_cells(line)] for setup, line in found.items()]
    caption = (
        f"Run {run.id}. A and B ask, then each goes on with prompt, reply and new text: the table "
        "shows these second requests beside the first ones. They are longer, so a prompt that is "
        "read anew takes a little more time than its twin. "
        f"{known_from([line.how for line in found.values()])}"
    )
    shown = table(["two users on", *_HEAD], cells, caption)
    return say(shown.data, f"Left out:\n\n{left}") if left else shown


def turns(run: Run) -> Markdown:
    """What taking turns cost on each server, and why."""
    found = _users(run)
    if not found:
        return not_held(run, "Two users taking turns")
    said = []
    for setup, line in found.items():
        if line.reused is None:
            continue
        came = "found most of the prefix again" if line.reused else "read nearly everything again"
        said.append(f"With {_named(run, setup)}, whoever came back {came}.")
        if not line.reused and setup in _UNUSED:
            said.append(_UNUSED[setup])
    if run.session["model"].get("sliding_window") is not None:
        said.append(
            "Your model has a sliding window, so a prompt that left its slot may be lost to it "
            "for that reason alone."
        )
    return say(" ".join(said) or "Your server does not tell what it read again.")


def left_out(run: Run) -> tuple[str, ...]:
    """Servers that could not be asked, each with the reason, as sentences."""
    reasons = run.session.get("left_out", {})
    return tuple(
        f"{_SETUPS[setup]}: {reasons[key]}" for setup in _SETUPS if (key := part(setup)) in reasons
    )


def _changes(run: Run) -> dict[str, Reuse]:
    found = {line.variant: line for line in reuses(run, EXPERIMENT)}
    names = (name for name in _CHANGES if name in found)
    return {name: found[name] for name in sorted(names, key=lambda n: found[n].later_s.median)}


def _users(run: Run) -> dict[str, Reuse]:
    found = {line.setup: line for line in reuses(run, EXPERIMENT) if line.variant == "other_user"}
    return {setup: found[setup] for setup in _SETUPS if setup in found}


def _named(run: Run, setup: str) -> str:
    slots = run.session.get("server", {}).get("slots")
    if not setup and isinstance(slots, int):
        return f"your server with its {counted(slots, 'slot')}"
    memory = run.session.get("setups", {}).get(setup, {}).get("host_cache_mib")
    if setup == "host_cache" and isinstance(memory, int):
        return f"{_SETUPS[setup]} in {fixed(memory)} MiB of main memory"
    return _SETUPS[setup]


def _cells(line: Reuse) -> Sequence[str]:
    return [
        fixed(line.speedup.n),
        fixed(line.prompt_tokens.median),
        tokens_read(line),
        seconds(line.later_s.median),
        seconds(line.cold_s.median),
        times(line.speedup.median),
    ]
