"""Run a long program behind one status line, and keep what it said for when it fails.

Standard library only.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from twohalves.terminal import Status

LAST_LINES = 12
TICK_S = 0.5
GRACE_S = 10.0
"""How long a program that is stopped may take to clean up, in s."""
CAUSES = {
    "disk": ("No space left on device", "not enough space on the disk"),
    "permission": ("Read-only file system", "Permission denied", "Access is denied"),
    "network": (
        "Temporary failure in name resolution",
        "Name or service not known",
        "getaddrinfo failed",
        "Failed to establish a new connection",
        "Cannot connect to proxy",
        "ProxyError",
        "Read timed out",
        "Connection refused",
        "Network is unreachable",
    ),
    "platform": ("No matching distribution found",),
}
"""Words in a program's last lines, and what they mean for a reader; the first match counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a program ended."""

    code: int | None
    """Its exit code; None = it was stopped because its time was up."""
    output: str
    """What it printed, both streams in order."""

    def explained(self) -> tuple[str, str]:
        """Its last lines, and the cause that they name ("unknown" = none that we know)."""
        lines = [line for line in self.output.splitlines() if _telling(line)]
        if self.code is None:
            lines.append("(stopped: its time was up)")
        last = "\n".join(f"  {line}" for line in lines[-LAST_LINES:]) or "  (it said nothing)"
        for cause, words in CAUSES.items():
            if any(word.lower() in self.output.lower() for word in words):
                return last, cause
        return last, "unknown"


def _telling(line: str) -> bool:
    return bool(line.strip()) and not (line.startswith("WARNING: Location") and "ignored" in line)


def run(
    command: Sequence[str],
    words: str,
    *,
    env: Mapping[str, str],
    limit_s: float | None = None,
    log: Path | None = None,
) -> Outcome:
    """Run ``command`` to its end.

    Args:
        command: The program and its arguments.
        words: What the status line says.
        env: Its environment variables.
        limit_s: Seconds after which it is stopped; None = no limit.
        log: File to which what it printed is appended; None = kept nowhere.

    Returns:
        How it ended. A program that cannot be started counts as ended with code 127.
    """
    status = Status(words)
    with tempfile.TemporaryFile() as printed:
        try:
            code = _wait(command, printed, status, env=env, limit_s=limit_s)
        except OSError as error:
            said = f"{error.strerror or error}: {command[0]}"
            printed.write(said.encode("utf-8", "surrogateescape"))
            code = 127
        except KeyboardInterrupt:
            status.done("stopped")
            raise
        printed.seek(0)
        output = printed.read().decode("utf-8", errors="replace")
    if log is not None and log.parent.is_dir():
        with log.open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"\n$ {' '.join(command)}\n{output}")
    status.done("done" if code == 0 else "not possible" if code is None else "failed")
    return Outcome(code=code, output=output)


def _wait(
    command: Sequence[str],
    printed: IO[bytes],
    status: Status,
    *,
    env: Mapping[str, str],
    limit_s: float | None,
) -> int | None:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=subprocess.STDOUT,
        env={**env, "PYTHONIOENCODING": "utf-8"},  # as it is read, whatever the console takes
    )
    try:
        while limit_s is None or status.elapsed_s < limit_s:
            try:
                return process.wait(timeout=TICK_S)
            except subprocess.TimeoutExpired:
                status.tick()
        return None
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a program that still runs; it gets a moment to remove what it left half done."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
