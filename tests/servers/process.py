"""The modelled Ollama in a process of its own, so that it can really die.

It keeps one model in memory as Ollama does: /api/ps tells its window and digest, and a request
with another window loads it anew.

    server = Process()
    server.kill()      # SIGKILL: connections break, the port is free
    server.start()     # the same port again
"""

from __future__ import annotations

import contextlib
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
        self.sizes = {"size": 2_500_000_000, "size_vram": 2_500_000_000}
        """Bytes in memory, and in the graphics memory of it."""

    def routes(self):
        """The modelled routes, with what is in memory."""
        return super().routes() | {"/api/ps": self.ps, "/api/tags": self.tags}

    @contextlib.contextmanager
    def serving(self):
        """The model itself, answering at `url` by its `server`."""
        with scripted.Scripted(self.routes()) as server:
            self.url, self.server = server.url, server
            yield self

    def tags(self, _):
        """The one model, under the digest of the moment."""
        entry = {"name": modelled.NAME, "model": modelled.NAME, "digest": self.digest}
        entry |= {"details": self.details, "size": 2_000_000_000}
        return scripted.Answer(body={"models": [entry]})

    def ps(self, _):
        """What is in memory."""
        if self.loaded is None:
            return scripted.Answer(body={"models": []})
        window, digest = self.loaded
        entry = {"name": modelled.NAME, "model": modelled.NAME, "digest": digest}
        entry |= self.sizes | {"context_length": window}
        return scripted.Answer(body={"models": [entry]})

    def load_ns(self, body):
        """Loads what is not in memory."""
        window = modelled.asked_for(body, "num_ctx", 4096)
        wanted = (min(window, self.holds or window), self.digest)
        is_loaded, self.loaded = self.loaded == wanted, wanted
        if is_loaded:
            return super().load_ns(body)
        super().unload()
        return LOAD_NS

    def unload(self):
        """Nothing is in memory any more."""
        super().unload()
        self.loaded = None

    def generate(self, asked):
        """One answer, or the beginning of one."""
        answer = super().generate(asked)
        if self.answered == self.dies_at and asked.json.get("prompt"):
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
