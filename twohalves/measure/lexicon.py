"""What the prompts' prose is made of: scenes, words and templates, read from ``data/text/``.

The files are INI files without values: one phrase a line, so that a teacher can read, change and
compare them. ``data/text/README.md`` says what each section means.
"""

from __future__ import annotations

import configparser
import functools
import pathlib
import re
from dataclasses import dataclass

__all__ = ["Filler", "Lexicon", "Scene", "Slot", "Template", "lexicon", "stems"]

_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "data" / "text"
_WORD = re.compile(r"[A-Za-z]+")
_SLOT = re.compile(r"\{([A-Za-z]+)(\d?)(?:\.(\w+))?\}")
_VERB_FORMS = ("do", "did", "done", "doing")
_NOUN_SECTIONS = ("things", "sights")
_SMALL_WORDS = frozenset(
    _WORD.findall(
        """
        above after along already always and are been before behind below between but can
        could did does down each every first for from had has have her him his how
        hundred into its last like more most much near never next nobody not nothing now off
        once one other out over shall she should side some than that the their them then
        there they this through too toward two under until upon was were what when where
        which while who why will with without would yet you your
        """
    )
)
"""Words that may stand twice in a sentence without being noticed."""


def stems(text: str) -> frozenset[str]:
    """Return the words of a text that a reader would notice twice, without a plural's s."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(
        word.rstrip("s") for word in words if len(word) > 2 and word not in _SMALL_WORDS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """One thing that can be put into a slot, in all its forms."""

    forms: dict[str, str]
    """Text by name of the form; the plain one is ``""``."""
    adjectives: tuple[str, ...] = ()
    """What a noun can be; empty for everything else."""
    stems: frozenset[str] = frozenset()
    """Words that should not come twice in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place in a template: ``{thing2.adj}`` is kind ``thing``, number ``2``, form ``adj``."""

    kind: str
    """What is wanted there."""
    number: str
    """Tells two of a kind apart; slots of equal kind and number share one filler."""
    form: str
    """Which form of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A sentence with slots."""

    text: str
    """As it stands in the file."""
    parts: tuple[str | Slot, ...]
    """The text, taken apart."""
    stems: frozenset[str]
    """Words of its own that no filler should repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A place with everything that can be said about it."""

    at: str
    """Where one is: "at the harbor"."""
    place: str
    """The place itself: "the harbor"."""
    jobs: tuple[str, ...]
    """What the two people of the scene may be."""
    fillers: dict[str, tuple[Filler, ...]]
    """Fillers by section of the scene's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """All of ``data/text/``."""

    scenes: tuple[Scene, ...]
    """In the order of their files' names."""
    openings: tuple[Template, ...]
    """Templates that begin a scene and say who is there."""
    templates: tuple[Template, ...]
    """All others."""
    words: dict[str, tuple[Filler, ...]]
    """Fillers that every scene shares, by section of ``words.ini``."""
    names: dict[str, tuple[str, ...]]
    """Plain lists: ``men``, ``women``, ``hours`` (in order), ``days``."""


def _read(path: pathlib.Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(
        allow_no_value=True,
        delimiters=("=",),
        comment_prefixes=("#",),
        interpolation=None,
        empty_lines_in_values=False,
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keep capitals as written
    with path.open(encoding="utf-8") as lines:
        parser.read_file(lines)
    return parser


def _phrase(text: str) -> Filler:
    return Filler(forms={"": text}, stems=stems(text))


def _noun(names: str, adjectives: str) -> Filler:
    one, _, many = names.partition("/")
    many = many or one + "s"
    return Filler(
        forms={"thing": one, "things": many, "sight": one, "sights": many},
        adjectives=tuple(adjectives.split()),
        stems=stems(f"{one} {many}"),
    )


def _act(phrase: str, verbs: configparser.SectionProxy) -> Filler:
    base, _, rest = phrase.partition(" ")
    verb = (base, *verbs[base].split())
    forms = {form: f"{word} {rest}".strip() for form, word in zip(_VERB_FORMS, verb, strict=True)}
    return Filler(forms=forms, stems=stems(" ".join((*verb, rest))))


def _scene(path: pathlib.Path, verbs: configparser.SectionProxy) -> Scene:
    file = _read(path)
    ((at, place),) = file["place"].items()
    fillers = {
        section: tuple(_phrase(text) for text in file[section])
        for section in ("people", "spots", "events", "states", "facts", "aims")
    }
    for section in _NOUN_SECTIONS:
        fillers[section] = tuple(_noun(*line) for line in file[section].items())
    fillers["acts"] = tuple(_act(text, verbs) for text in file["acts"])
    return Scene(at=at, place=place, jobs=tuple(file["jobs"]), fillers=fillers)


def _template(text: str) -> Template:
    parts: list[str | Slot] = []
    end = 0
    for match in _SLOT.finditer(text):
        parts.append(text[end : match.start()])
        kind, number, form = match.groups()
        parts.append(Slot(kind=kind, number=number, form=form or ""))
        end = match.end()
    parts.append(text[end:])
    words = " ".join(part for part in parts if isinstance(part, str))
    return Template(text=text, parts=tuple(part for part in parts if part), stems=stems(words))


@functools.cache
def lexicon() -> Lexicon:
    """Read ``data/text/`` once.

    Returns:
        Everything that prose is made of.
    """
    words = _read(_FOLDER / "words.ini")
    templates = {
        section: tuple(_template(text) for text in lines)
        for section, lines in _read(_FOLDER / "templates.ini").items()
    }
    openings = templates.pop("openings")
    lists = ("men", "women", "hours", "days")
    return Lexicon(
        scenes=tuple(
            _scene(path, words["verbs"]) for path in sorted((_FOLDER / "scenes").glob("*.ini"))
        ),
        openings=openings,
        templates=tuple(template for section in templates.values() for template in section),
        words={
            section: tuple(_phrase(text) for text in words[section])
            for section in words.sections()
            if section not in (*lists, "verbs")
        },
        names={section: tuple(words[section]) for section in lists},
    )
