"""The command line: verbs, their options, and what a slip of the finger probably meant.

Standard library only: the command line is read before anything is installed.
"""

from __future__ import annotations

import argparse

from twohalves.errors import RunsNotNamed, UnknownName, WordsLeft
from twohalves.terminal import legible

VERBS = {
    "site": "everything: set up, measure, execute the notebooks, render to _site/",
    "edition": "render the stored outputs to _site/; needs no model",
    "measure": "ask the server, time the answers, keep the rows in data/runs/",
    "runs": "the runs that are kept: list them, show one, compare two",
    "serve": "run the built-in server",
    "lab": "open the notebooks in JupyterLab",
    "doctor": "look at this machine and say what is missing, with the next command",
    "preview": "show _site/ in the browser",
    "test": "run the tests and the notebooks; further arguments go to pytest",
    "address": "write the project's address from pyproject.toml into the notebooks",
    "clean": "remove what can be made again; never a run",
}

RUNS_FORMS = {"list": 0, "show": 1, "compare": 2}
"""What `runs` does, and how many runs each takes."""
ALONE = frozenset({"address", "clean", "doctor"})
"""Verbs that need nothing installed."""


class Options(argparse.Namespace):
    """What the reader asked for; a verb reads only what its own options set."""

    verb: str
    """One of VERBS."""
    profile: str
    """measure: quick, chapter or thorough."""
    experiment: str | None
    """measure: one experiment only; None = all that the profile holds."""
    model: str | None
    """measure: a model's name; serve: a GGUF file; None = chosen by the rules."""
    host: str | None
    """measure: the server's URL, None = found by the rules; serve: the address to listen on."""
    port: int | None
    """serve, preview: port to listen on; None = a free one."""
    private: bool
    """measure: a second Ollama may be started where an experiment needs one."""
    resume: str | None
    """measure: id of the run to go on with; None = a new run or the last unfinished one."""
    out: str | None
    """measure, runs: folder of the runs; None = data/runs."""
    form: str
    """runs: one of RUNS_FORMS."""
    ids: list[str]
    """runs: names of runs, as many as the form takes."""
    run: str | None
    """edition: id of the run to promote; None = render what is stored."""
    venv: bool
    """clean: remove .venv too."""
    json: bool
    """doctor: for programs."""
    page: bool = False
    """doctor: print the page of troubles instead; that needs the packages."""
    pytest: list[str]
    """test: arguments for pytest, as given."""


def parse(arguments: list[str]) -> Options:
    """Read the command line.

    Raises:
        UnknownName: A verb, or an option of a verb, that does not exist; with the nearest.
        WordsLeft: More words than the verb takes.
        RunsNotNamed: More or fewer runs than it takes.
        SystemExit: After ``--help`` (0) or a malformed value (2), as argparse does.
    """
    words = _verb_first([legible(word) for word in arguments])
    parser, verbs = _parser()
    if words[:1] == ["test"] and words[1:2] not in (["-h"], ["--help"]):
        return Options(verb="test", pytest=words[1:])
    options, unknown = parser.parse_known_args(words, namespace=Options())
    wrong = next((word for word in unknown if word.startswith("-")), None)
    if wrong is not None:
        kind = f"option of {options.verb}"
        raise UnknownName(kind, wrong, _options(verbs[options.verb]))
    if unknown:
        raise WordsLeft(options.verb, tuple(unknown), _options(verbs[options.verb]))
    if options.verb == "runs":
        _check_runs(options)
    return options


def _check_runs(options: Options) -> None:
    if options.form not in RUNS_FORMS:
        kind = "form of runs"
        raise UnknownName(kind, options.form, tuple(RUNS_FORMS))
    if len(options.ids) != RUNS_FORMS[options.form]:
        raise RunsNotNamed(options.form, RUNS_FORMS[options.form], tuple(options.ids))


def _verb_first(words: list[str]) -> list[str]:
    """Options that were typed before the verb, moved behind it."""
    if not words or words[0] in {"-h", "--help"}:
        return words
    if not words[0].startswith("-"):
        verb = words[0]
    else:  # the value of an option may stand before the verb, too
        others = [word for word in words if not word.startswith("-")]
        verb = next((word for word in others if word in VERBS), others[0] if others else "")
    if verb and verb not in VERBS:
        kind = "verb"
        raise UnknownName(kind, verb, tuple(VERBS))
    at = words.index(verb) if verb else 0
    return words[at : at + 1] + words[:at] + words[at + 1 :]


def help_text() -> str:
    """What ``--help`` prints."""
    return _parser()[0].format_help()


def _options(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    actions = parser._actions  # noqa: SLF001 — argparse offers no public list
    return tuple(text for action in actions for text in action.option_strings)


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser = argparse.ArgumentParser(
        prog="python3 -m twohalves",
        description="Ask a server, time the answer, keep the row, compute from the rows.",
        epilog="Exit codes: 0 done, 1 it ran and failed, 2 not understood, 3 could not be run, "
        "130 stopped by Ctrl-C.",
        allow_abbrev=False,
    )
    adder = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs = {
        name: adder.add_parser(name, help=text, description=text, allow_abbrev=False)
        for name, text in VERBS.items()
    }
    _measure(verbs["measure"])
    _runs(verbs["runs"])
    _serve(verbs["serve"])
    verbs["preview"].add_argument(
        "--port", type=_port, metavar="N", help="port to listen on; without it, a free one"
    )
    verbs["edition"].add_argument(
        "--run", metavar="ID", help="re-execute in replay of this run first and store the outputs"
    )
    verbs["doctor"].add_argument("--json", action="store_true", help="the same for programs")
    verbs["doctor"].add_argument(
        "--page", action="store_true", help="print the source of the page of troubles instead"
    )
    verbs["clean"].add_argument("--venv", action="store_true", help="remove .venv too")
    verbs["test"].usage = "python3 -m twohalves test [pytest's arguments]"
    return parser, verbs


def _measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        choices=("quick", "chapter", "thorough"),
        default="quick",
        help="quick (default): some minutes; chapter: the chapter's own calls and ours; thorough: "
        "six blocks or more, until the intervals are narrow",
    )
    parser.add_argument(
        "--experiment",
        metavar="NAME",
        help="one experiment only: prefill_decode, ttft, decode_vs_context, prompt_cache, "
        "streaming, cache_broken or traffic",
    )
    parser.add_argument(
        "--private",
        action="store_true",
        help="start a second Ollama for the experiments that need a server laid out on purpose",
    )
    parser.add_argument("--model", metavar="NAME", help="a model that the server has")
    parser.add_argument(
        "--host", metavar="URL", help="the server; without it, found by the usual rules"
    )
    parser.add_argument("--resume", metavar="ID", help="go on with this run")
    parser.add_argument(
        "--out", metavar="FOLDER", help="where to keep the run (default: data/runs)"
    )


def _runs(parser: argparse.ArgumentParser) -> None:
    parser.usage = "python3 -m twohalves runs [list | show ID | compare A B] [--out FOLDER]"
    parser.epilog = "A or B may be `reference`, the run that the chapter printed."
    parser.add_argument("form", nargs="?", default="list", help="list (default), show or compare")
    parser.add_argument("ids", nargs="*", metavar="ID", help="names of runs, as listed")
    parser.add_argument(
        "--out", metavar="FOLDER", help="where the runs are kept (default: data/runs)"
    )


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "It reads the variables that Ollama reads: OLLAMA_CONTEXT_LENGTH, OLLAMA_NUM_PARALLEL, "
        "OLLAMA_KV_CACHE_TYPE, OLLAMA_FLASH_ATTENTION, OLLAMA_KEEP_ALIVE, OLLAMA_MAX_QUEUE; and "
        "LLAMA_ARG_CACHE_RAM, in MiB. OLLAMA_HOST it leaves alone: it listens on this machine only."
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=_port, default=11434, metavar="N", help="port to listen on (default: 11434)"
    )
    parser.add_argument(
        "--model", metavar="FILE", help="a GGUF file; without it, the built-in model"
    )


def _port(text: str) -> int:
    if text.isdecimal() and int(text) < 65536:
        return int(text)
    message = f"{text} is not a port: a whole number from 0 to 65535 is"
    raise argparse.ArgumentTypeError(message)
