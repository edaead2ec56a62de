"""What a server's counters mean: they have the same names everywhere and not the same sense.

One table, oldest version first. A row says what changed with that version of Ollama; what it
does not name stays as it was. Read in Ollama's sources, tag by tag; 0.24.0 was observed as well.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, Literal

from twohalves.server.answering import Server

Clock = Literal["work", "wall", "last batch"]
Cut = Literal["window", "one less", "half"]

_Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """How to read the counters of one server."""

    versions: str
    """Which servers are read so, in words."""
    steps_less: int
    """Answer tokens that `eval_duration` does not cover: 1 where the first token comes with the
    prompt (GGUF engines), else 0."""
    counts_cached: bool
    """True if `prompt_eval_count` includes tokens served from the cache."""
    reports_cached: bool | None
    """True if the answer has `prompt_eval_cached_count`; None = the answer itself shows it."""
    prefill_clock: Clock
    """What `prompt_eval_duration` covers: the work on uncached tokens; all the time from
    accepting the request to the first token; or the work of the last batch alone."""
    times_sampling: bool | None
    """True if choosing each token is part of `eval_duration`; None = it depends on the model."""
    cut: Cut | None
    """Where a prompt too long for the window is cut without a word: to the window, to one token
    less, to about half of it; None = not known, or never."""
    obeys_truncate: bool | None
    """True if a request with `truncate: false` is refused instead of cut; None = not known."""
    default_window: str
    """Tokens that a request gets which names no window, in words."""
    keeps_evicted: bool | None
    """True if prompts that left their slot stay in main memory and can come back; None = not
    known."""

    @property
    def prefill_is_whole(self) -> bool:
        """False if no prefill rate can be computed."""
        return self.prefill_clock != "last batch"

    @property
    def sentence(self) -> str:
        """What a rate is made of here, for a reader."""
        counted = (
            "`prompt_eval_count` includes cached tokens"
            if self.counts_cached
            else "`prompt_eval_count` leaves cached tokens out and is missing if none are left"
        )
        apart = {
            True: ", told apart in `prompt_eval_cached_count`",
            False: "",
            None: ", perhaps told apart in `prompt_eval_cached_count`: the answer shows it",
        }[self.reports_cached]
        timed = {
            "work": "`prompt_eval_duration` is the work on tokens that were not cached",
            "wall": "`prompt_eval_duration` runs from accepting the request to the first token",
            "last batch": "`prompt_eval_duration` is the last batch's alone: no prefill rate",
        }[self.prefill_clock]
        steps = "N - 1 steps" if self.steps_less else "N steps"
        return (
            f"{self.versions}: {counted}{apart}; {timed}; "
            f"`eval_duration` covers {steps} for N tokens."
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of a table under COLUMNS, for a reader."""
        clock = {"work": "uncached tokens", "wall": "all since the request"}
        cut = {"window": "to the window", "one less": "to the window less 1", "half": "to half"}
        known = {True: "yes", False: "no", None: "not known"}
        apart = "" if self.reports_cached is False else ", perhaps told apart"
        return (
            self.versions.removeprefix("Ollama ").partition(", before")[0],
            ("included" if self.counts_cached else "left out") + apart,
            clock.get(self.prefill_clock, "the last batch: unusable"),
            known[self.times_sampling] if self.times_sampling is not None else "for some models",
            cut.get(self.cut or "", "not known"),
            known[self.obeys_truncate],
            known[self.keeps_evicted],
            self.default_window,
        )


COLUMNS = (
    "Ollama",
    "cached tokens",
    "prefill clock",
    "sampling timed",
    "a long prompt is cut",
    "or refused if asked to",
    "evicted prompts kept",
    "default window",
)
"""Heads of `Meaning.cells`."""

_OLDEST = Meaning(
    versions="",
    steps_less=1,
    counts_cached=False,
    reports_cached=False,
    prefill_clock="work",
    times_sampling=True,
    cut="window",
    obeys_truncate=False,
    default_window="2,048",
    keeps_evicted=False,
)

_CHANGES: tuple[tuple[_Version, dict[str, Any]], ...] = (
    ((0, 0, 1), {}),
    # the whole prompt is counted (ollama#5371)
    ((0, 2, 0), {"counts_cached": True}),
    # runners of Ollama's own in Go
    ((0, 4, 0), {"prefill_clock": "wall"}),
    ((0, 6, 7), {"default_window": "4,096"}),
    # each batch restarts the clock: 32,768 tokens "at" 139,356 a second, in truth 4,212
    ((0, 12, 5), {"prefill_clock": "last batch"}),
    ((0, 12, 6), {"obeys_truncate": True}),
    # models on Ollama's own engine are timed without sampling, those on llama.cpp with it
    ((0, 12, 7), {"prefill_clock": "work", "times_sampling": None}),
    (
        (0, 15, 5),
        {"default_window": "4,096 to 262,144, by video memory"},
    ),
    # llama.cpp's own server; the cached part is lost (ollama#16414) ...
    (
        (0, 30, 0),
        {"counts_cached": False, "times_sampling": True, "cut": "one less", "keeps_evicted": True},
    ),
    # ... and added again (ollama#16428)
    ((0, 30, 1), {"counts_cached": True}),
    # a prompt too long loses half the window at once (ollama#17427)
    ((0, 30, 11), {"cut": "half"}),
    # cached tokens told apart (ollama#17943): not yet in 0.33.2, the first tag is not confirmed
    ((0, 33, 3), {"reports_cached": None}),
)

_BUILTIN = dataclasses.replace(
    _OLDEST,
    versions="The built-in server",
    counts_cached=True,
    reports_cached=True,
    obeys_truncate=True,
    default_window="4,096",
    keeps_evicted=None,
)


def by_version() -> tuple[Meaning, ...]:
    """The table for Ollama and GGUF models, oldest version first."""
    rows, now = [], _OLDEST
    for position, (since, change) in enumerate(_CHANGES):
        later = _CHANGES[position + 1 :]
        until = f", before {_text(later[0][0])}" if later else ""
        versions = f"Ollama from {_text(since)}{until}" if position else f"Ollama{until[1:]}"
        now = dataclasses.replace(now, versions=versions, **change)
        rows.append(now)
    return tuple(rows)


def meaning(server: Server, model_format: str | None = "gguf") -> Meaning:
    """How to read the counters.

    A candidate or a build after a release is read as that release.

    Args:
        server: who answers.
        model_format: `gguf` or `safetensors`; None = not told, taken for GGUF.
    """
    meant = _BUILTIN if server.kind == "builtin" else _by_its_version(server)
    if server.settings is not None and meant.keeps_evicted is not False:
        meant = dataclasses.replace(meant, keeps_evicted=server.settings.host_cache_mib > 0)
    return _on_mlx(meant) if model_format == "safetensors" else meant


def _by_its_version(server: Server) -> Meaning:
    version = _numbers(server.version) if server.kind == "ollama" else None
    rows = by_version()
    if version is None:
        return _unsure(rows[-1], server)
    since = [row for row, (first, _) in zip(rows, _CHANGES, strict=True) if first <= version]
    return since[-1]


def cut_counts(window: int, cut: Cut | None) -> frozenset[int]:
    """The values of `prompt_eval_count` that betray a prompt cut without a word.

    A cut to half keeps the first 4 tokens, or 5 where a token marks the beginning, and drops
    half of what is left.

    Args:
        window: in tokens.
        cut: of the server's meaning; None = all that are known.

    >>> sorted(cut_counts(4096, "half")), sorted(cut_counts(4096, None))
    ([2050, 2051], [2050, 2051, 4095, 4096])
    """
    half = {window - (window - kept) // 2 for kept in (4, 5)}
    known: dict[Cut, set[int]] = {"window": {window}, "one less": {window - 1}, "half": half}
    return frozenset(known[cut] if cut else set().union(*known.values()))


def _unsure(newest: Meaning, server: Server) -> Meaning:
    """For a server that tells no version, or is not Ollama: what is common, and no more."""
    named = "Ollama of a version that is not told" if server.kind == "ollama" else "A server"
    if server.kind == "ollama" and server.version:
        named = f"Ollama as a development build ({server.version})"
    return dataclasses.replace(
        newest,
        versions=f"{named}, read like the newest Ollama",
        times_sampling=None,
        cut=None,
        obeys_truncate=None,
        default_window="not known",
        keeps_evicted=None,
    )


def _on_mlx(meant: Meaning) -> Meaning:
    """The same version with a safetensors model, which runs on another engine.

    Its decode clock covers the last prompt token too, and it refuses a prompt that is too long.
    """
    return dataclasses.replace(
        meant,
        versions=f"{meant.versions}, safetensors model",
        steps_less=0,
        counts_cached=True,
        cut=None,
        keeps_evicted=None,
    )


def _numbers(version: str | None) -> _Version | None:
    """The three numbers of a version; None for 0.0.0, which a development build calls itself."""
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+)", version or "")
    if found is None:
        return None
    first, second, third = (int(part) for part in found.groups())
    return (first, second, third) if (first, second, third) > (0, 0, 0) else None


def _text(version: _Version) -> str:
    return ".".join(str(part) for part in version)
