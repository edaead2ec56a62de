"""The modelled Ollama in a process of its own, so that it can really die.

It keeps one model in memory as Ollama does: /api/ps tells its window and digest, and a request
with another window loads it anew.

    server = Process()
    server.kill()      # SIGKILL: connections break, the port is free
    server.start()     # the same port again
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys

from tests.servers import modelled, scripted

PROJECT = pathlib.Path(__file__).resolve().parents[2]
LOAD_NS = 900_000_000


class Loading(modelled.Modelled):
    """A modelled server that knows what it has in memory."""

    def __init__(self, *, digest=modelled.DIGEST, dies_at=None, **how):
        super().__init__(**how)
        self.digest, self.dies_at = digest, dies_at
        self.loaded = None
        """(window, digest) in memory."""

    def routes(self):
        """The modelled routes, with what is in memory."""
        return super().routes() | {"/api/ps": self.ps, "/api/tags": self.tags}

    def tags(self, _):
        """The one model, under the digest of the moment."""
        name = "llama3.2:3b"
        entry = {"name": name, "model": name, "digest": self.digest, "details": self.details}
        return scripted.Answer(body={"models": [entry | {"size": 2_000_000_000}]})

    def ps(self, _):
        """What is in memory."""
        if self.loaded is None:
            return scripted.Answer(body={"models": []})
        window, digest = self.loaded
        name = "llama3.2:3b"
        entry = {"name": name, "model": name, "digest": digest, "context_length": window}
        return scripted.Answer(body={"models": [entry]})

    def generate(self, asked):
        """One answer; loads first what is not in memory."""
        wanted = (asked.json["options"]["num_ctx"], self.digest)
        load_ns = 60_000_000 if self.loaded == wanted else LOAD_NS
        self.loaded = wanted
        number = self.answered + 1
        earlier = self.faults.get(number, dict)
        self.faults[number] = lambda final: earlier(final | {"load_duration": load_ns})
        answer = super().generate(asked)
        if number == self.dies_at:
            return scripted.Answer(chunks=_dying(answer.body.splitlines(keepends=True)))
        return answer


def _dying(lines):
    for line in lines[:3]:
        yield 0, line.encode()
    os.kill(os.getpid(), signal.SIGKILL)


class Process:
    """Starts at once; `url` stays the same over deaths."""

    def __init__(self, **how):
        self.port = scripted.unused_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start(**how)

    def start(self, **how):
        """Start it (again), with the arguments of `Loading`."""
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.process", str(self.port), json.dumps(how)],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._child.stdout.readline() == b"ready\n"

    def kill(self):
        """No goodbye."""
        self._child.kill()
        self._gone()

    def stop(self):
        """At the end of a test."""
        self.kill()

    def _gone(self):
        self._child.wait()
        self._child.stdin.close()
        self._child.stdout.close()


if __name__ == "__main__":
    with scripted.Scripted(Loading(**json.loads(sys.argv[2])).routes(), port=int(sys.argv[1])):
        print("ready", flush=True)  # noqa: T201  # the parent waits for it
        sys.stdin.read()
