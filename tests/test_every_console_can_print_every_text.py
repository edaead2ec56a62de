"""Every console can print every text: what it lacks is replaced by something readable."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from twohalves import terminal

PROJECT = Path(__file__).resolve().parent.parent
TEXT = "Žofie: 5 µs ≤ 2 × 3 … “é” → 測"
PROGRAM = f"from twohalves import terminal as t; t.prepare(); t.say({TEXT!a}); t.step({TEXT!a})"


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("ascii", 'Zofie: 5 us <= 2 x 3 ... "e" -> ?'),
        ("cp1252", "Žofie: 5 µs <= 2 × 3 … “é” -> ?"),
        ("utf-8", TEXT),
    ],
)
def test_a_console_shows_what_it_can(encoding, expected):
    """No traceback, and nothing is replaced that the console can show."""
    variables = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=PROJECT,
        env=variables,
        capture_output=True,
        check=True,
    )

    assert expected == answer.stdout.decode(encoding).rstrip()
    assert f"* {expected}" == answer.stderr.decode(encoding).rstrip()


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_where_nobody_reads_any_more_the_work_goes_on(tmp_path, stream):
    """As behind `head`: no traceback, and what is measured is not lost with the window."""
    verb = "say" if stream == "stdout" else "step"
    program = (
        "import pathlib; from twohalves import terminal as t; t.prepare(); "
        f"[t.{verb}('x') for _ in range(9)]; pathlib.Path({str(tmp_path / 'end')!r}).touch()"
    )
    reading, writing = os.pipe()
    os.close(reading)
    try:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writing}
        answer = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, check=True, **pipes)
    finally:
        os.close(writing)

    assert (tmp_path / "end").exists()
    assert not answer.stdout
    assert not answer.stderr


def test_a_log_gets_one_line_at_the_start_and_one_at_the_end(capsys):
    """Where nobody watches, a status line is not rewritten."""
    status = terminal.Status("Working")
    for _ in range(50):
        status.tick("half done")
    status.done()

    began, ended = capsys.readouterr().err.splitlines()
    assert "* Working …" == began
    assert ended.startswith("* Working: done (")


def test_a_terminal_gets_one_line_that_changes(capsys, monkeypatch):
    """On a terminal the line is rewritten in place and never longer than the window."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    status = terminal.Status("Working on something with a long name")
    status.tick("and with much to say about it")
    status.done()

    said = capsys.readouterr().err
    assert 1 == said.count("\n")
    assert 39 == max(len(line) for line in said.strip("\r\n").split("\r"))
