"""The table of checks, in the order of the report: what a reader needs first stands first."""

from __future__ import annotations

from twohalves.doctor import (
    disk,
    folder,
    installed,
    machine,
    model,
    place,
    port,
    programs,
    server,
    text,
    variables,
)
from twohalves.doctor.check import Check, Here

_PACKAGES = ("httpx", "ollama", "psutil", "pydantic")
"""What the client and our own modules around it import."""


def _server(here: Here) -> server.ServerFacts:
    from twohalves.doctor import asking  # noqa: PLC0415 — this file is read without packages

    return asking.who_answers(here)


def _counters(here: Here) -> server.CountersFacts:
    from twohalves.doctor import asking  # noqa: PLC0415 — this file is read without packages

    return asking.counters(here)


def _model(here: Here) -> model.ChosenFacts:
    from twohalves.doctor import asking  # noqa: PLC0415 — this file is read without packages

    return asking.chosen(here)


CHECKS: tuple[Check, ...] = (
    Check(
        name="python",
        about="The interpreter that runs this: 3.11 or newer, on 64 bits.",
        probe=installed.python,
        judge=installed.judge_python,
        troubles=(installed.TOO_OLD,),
    ),
    Check(
        name="environment",
        about="The folder .venv, into which everything is installed.",
        probe=installed.venv,
        judge=installed.judge_venv,
        troubles=(installed.BROKEN_VENV, installed.NO_VENV_MODULE),
    ),
    Check(
        name="packages",
        about="Whether the packages are there in exactly the versions that were tested.",
        probe=installed.packages,
        judge=installed.judge_packages,
        troubles=(installed.NOT_SET_UP, installed.PACKAGES_DIFFER, installed.INCOMPLETE),
    ),
    Check(
        name="disk",
        about="A little is written into the project's folder and into data/runs, and the room that "
        "is left is read.",
        probe=disk.disk,
        judge=disk.judge_disk,
        troubles=(disk.FULL, disk.READ_ONLY, disk.QUOTA_USED, installed.INCOMPLETE),
    ),
    Check(
        name="quota",
        about="The limit of your account on that disk, where the system tells it.",
        probe=disk.quota,
        judge=disk.judge_quota,
        troubles=(disk.QUOTA_USED,),
    ),
    Check(
        name="folder",
        about="Where the project lies: on a disk of this machine, with a short path. Spaces and "
        "umlauts are fine.",
        probe=folder.path,
        judge=folder.judge_path,
        troubles=(folder.SYNCED, folder.TOO_LONG),
    ),
    Check(
        name="cores",
        about="How many processors there are, and how many a container or a setting allows.",
        probe=machine.cores,
        judge=machine.judge_cores,
        troubles=(machine.FEW_CORES,),
    ),
    Check(
        name="memory",
        about="How much is free, of the machine's or of what a container allows.",
        probe=machine.memory,
        judge=machine.judge_memory,
        troubles=(machine.LITTLE_MEMORY,),
    ),
    Check(
        name="power",
        about="Charger or battery, and whether the processor saves power.",
        probe=machine.power,
        judge=machine.judge_power,
        troubles=(machine.ON_BATTERY,),
    ),
    Check(
        name="hosted",
        about="Whether this is a hosted notebook, what becomes of its files, and whose machine "
        "localhost is.",
        probe=place.service,
        judge=place.judge_service,
        troubles=(place.FILES_VANISH,),
    ),
    Check(
        name="account",
        about="Whether you work as root.",
        probe=place.account,
        judge=place.judge_account,
        troubles=(place.ROOT,),
    ),
    Check(
        name="container",
        about="Whether this is a container or WSL, with an Ollama outside of it.",
        probe=place.outside,
        judge=place.judge_outside,
        troubles=(place.HOST_OUTSIDE,),
    ),
    Check(
        name="proxy",
        about="Proxies that the environment names.",
        probe=variables.proxy,
        judge=variables.judge_proxy,
        troubles=(variables.BEHIND_PROXY, variables.SOCKS),
    ),
    Check(
        name="settings",
        about="Environment variables of Ollama and of this book.",
        probe=variables.settings,
        judge=variables.judge_settings,
        troubles=(
            variables.LISTENS_EVERYWHERE,
            variables.UNKNOWN_VARIABLE,
            variables.BAD_RENDERER,
            variables.NO_RUN,
        ),
    ),
    Check(
        name="text",
        about="Whether console, file names and files are UTF-8.",
        probe=text.text,
        judge=text.judge_text,
        troubles=(text.NOT_UTF8,),
        serves="pages",
    ),
    Check(
        name="port",
        about="Who listens on 11434, Ollama's usual port.",
        probe=port.port,
        judge=port.judge_port,
        troubles=(port.PORT_TAKEN,),
    ),
    Check(
        name="server",
        about="Who answers by the rules of this book, where, and whose process it is.",
        probe=_server,
        judge=server.judge_server,
        troubles=(
            server.NOT_RUNNING,
            server.NO_ENGINE,
            server.ADDRESS,
            server.NO_HOST,
            variables.BEHIND_PROXY,
            server.VARIABLES,
            server.SILENT,
            server.OTHERS_SERVER,
            server.OTHER_MACHINE,
        ),
        packages=_PACKAGES,
        silence=server.SILENT,
    ),
    Check(
        name="counters",
        about="What the counts and durations of that version mean.",
        probe=_counters,
        judge=server.judge_counters,
        troubles=(server.OLD_COUNTERS,),
        packages=_PACKAGES,
        follows="server",
    ),
    Check(
        name="model",
        about="Which model is asked, by its name and digest.",
        probe=_model,
        judge=model.judge_model,
        troubles=(model.NO_MODEL, model.SEVERAL, model.NOT_BUILT_IN),
        packages=_PACKAGES,
        follows="server",
        silence=server.SILENT,
    ),
    Check(
        name="window",
        about="Whether the model's window holds the prompts of the experiment.",
        probe=_model,
        judge=model.judge_window,
        troubles=(model.SHORT_WINDOW,),
        packages=_PACKAGES,
        follows="model",
    ),
    Check(
        name="room",
        about="Whether weights and KV cache fit into the memory that is free, by this book's own "
        "formula.",
        probe=_model,
        judge=model.judge_room,
        troubles=(model.NO_ROOM,),
        packages=_PACKAGES,
        follows="model",
    ),
    Check(
        name="pages",
        about="What renders the pages: Quarto, else smalldocs.",
        probe=programs.renderer,
        judge=programs.judge_renderer,
        troubles=(programs.NO_RENDERER, programs.QUARTO_SILENT),
        serves="pages",
    ),
    Check(
        name="browser",
        about="A Chromium for the tests of the pages; reading them needs no certain browser.",
        probe=programs.browser,
        judge=programs.judge_browser,
        troubles=(programs.NO_BROWSER,),
        serves="tests",
    ),
)
