"""The page of troubles, made from the table of checks and from the errors' own texts.

What people paste into a search is the message they see, so the messages stand there as text.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from twohalves import errors
from twohalves.doctor.examination import CHECK_BROKE, NO_ANSWER
from twohalves.doctor.findings import Trouble
from twohalves.doctor.table import CHECKS
from twohalves.errors import TwoHalvesError
from twohalves.runs.validity import INFORMATIVE, INVALID
from twohalves.server.builtin import differences
from twohalves.server.counters import COLUMNS, by_version

_HEAD = """\
---
title: "When something does not work"
---

`python3 -m twohalves doctor` looks at everything below in three seconds, also before anything is
installed, and says for each point OK, WARN or FAIL with the next command (on Windows:
`py -m twohalves doctor`). Here is all that it can say, with the messages that lead to it: search
this page for a piece of yours.

FAIL means that measuring, or making the pages, cannot work; WARN that it works, slower or with
something missing; WAIT that something before it has to be there first. With `--json` the same
comes for programs; the exit code is 1 with a FAIL, else 0. Commands for Windows are for PowerShell.
"""
_ERRORS = """\
## Messages of this book

What the program itself says when it stops, and what to do. Words in capitals stand for what
differs from case to case.
"""
_FLAGS = """\
## Flags of a row

What was noticed on an answer stands in the column `flags` of `timings.csv`. The request of a row
that does not count is asked again with new text, three times in all; the row itself stays in the
file. Nothing is flagged for being slow.
"""
_COUNTERS = """\
## What the counters mean, by version

Ollama's counters have kept their names and changed their sense. This book reads them by the
version that answers; whoever divides them by hand needs the table. On every version
`eval_duration` covers N - 1 steps for N tokens, and `eval_count` includes the token that ends an
answer. A model in safetensors form runs on another engine: there it is N steps, the last token is
not counted, and a prompt that is too long is refused.

A row holds until the next one. The columns: whether `prompt_eval_count` includes tokens from the
cache; what `prompt_eval_duration` covers; whether `eval_duration` covers the choice of each token;
to what a prompt longer than the window is cut; whether `truncate: false` makes it refused instead;
whether a prompt that left its slot stays in main memory; the window of a request that names none.
"""
_DIFFERENCES = """\
## How the built-in server differs from Ollama

It answers as Ollama 0.24 does, held to recordings of it, except for these points.
"""
_FACTS = {"int": 3, "float": 3.0, "bool": True}
_PLAUSIBLE = {
    "status": 503,
    "free_mb": 100,
    "needed_mb": 1000,
    "port": 11434,
    "window": 64,
    "shortest": 192,
}
_OF_AUTHORS = frozenset(
    {
        errors.TwoHalvesError,
        # a slip on the command line is answered where it is made
        errors.UnknownName,
        errors.WordsLeft,
        errors.RunsNotNamed,
        errors.SameRunTwice,
        errors.Interrupted,
        errors.MachineNotReady,
        errors.RequestRefused,
        # whoever changes a page or a notebook
        errors.AddressUnusable,
        errors.VariableUnknown,
        errors.RendererComplained,
        errors.PageLeftover,
        errors.PageNeedsNetwork,
        errors.LinksDead,
        errors.CalculatorUnusable,
        errors.SlidersUnusable,
    }
)
"""Errors that are not for this page."""


def page() -> str:
    """The whole page in Markdown that both renderers read."""
    parts = [_HEAD]
    told: set[str] = set()
    for check in CHECKS:
        parts.append(f"## {check.name.capitalize()}\n\n{check.about}\n")
        for trouble in check.troubles:
            if trouble.title in told:
                parts.append(f"See also “{trouble.title}”.\n")
            else:
                parts.append(_trouble(trouble))
            told.add(trouble.title)
    parts.append("## The doctor itself\n\nWhat keeps it from an answer.\n")
    parts += [_trouble(NO_ANSWER), _trouble(CHECK_BROKE)]
    parts += [_FLAGS, _flags(), _COUNTERS, _counters(), _DIFFERENCES, differences.as_markdown()]
    return "\n".join([*parts, _ERRORS, *_messages()])


def _flags() -> str:
    rows = [(f"`{flag}`", means, "no") for flag, means in INVALID.items()]
    rows += [(f"`{flag}`", means, "yes") for flag, means in INFORMATIVE.items()]
    return _table(("flag", "what was noticed", "the row counts"), rows)


def _counters() -> str:
    return _table(COLUMNS, [row.cells for row in by_version()])


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _trouble(trouble: Trouble) -> str:
    symptoms = "\n".join(f"- `{symptom}`" for symptom in trouble.symptoms)
    same: dict[str, list[str]] = {}
    for name in ("Linux", "macOS", "Windows"):
        same.setdefault(trouble.next_step(name.lower()), []).append(name)
    listed = "\n".join(
        f"- {' and '.join(names) if len(same) > 1 else 'On every system'}: {step}"
        for step, names in same.items()
    )
    return (
        f"### {trouble.title}\n\nYou see:\n\n{symptoms}\n\n{trouble.meaning}\n\n"
        f"What to do:\n\n{listed}\n"
    )


def _messages() -> Iterator[str]:
    kinds = (kind for kind in vars(errors).values() if inspect.isclass(kind))
    for kind in kinds:
        if not issubclass(kind, TwoHalvesError) or kind in _OF_AUTHORS:
            continue
        error = _example(kind)
        title = (inspect.getdoc(kind) or kind.__name__).splitlines()[0].rstrip(".")
        what = " ".join(error.what.split())
        yield f"### {title}\n\n> {what}\n\nWhat to do: {error.next_step}\n"


def _example(kind: type[TwoHalvesError]) -> TwoHalvesError:
    """An error of a kind, with the names of its facts in place of the facts."""
    wanted = list(inspect.signature(kind.__init__).parameters.values())[1:]
    facts = [_fact(each) for each in wanted if each.default is inspect.Parameter.empty]
    return kind(*facts)


def _fact(parameter: inspect.Parameter) -> object:
    word = parameter.name.upper()
    kind = str(parameter.annotation).partition("[")[0]
    if parameter.name == "likely":
        return ""
    if kind == "tuple":
        return (word.removesuffix("S"),)
    return _PLAUSIBLE.get(parameter.name, _FACTS.get(kind, word))
