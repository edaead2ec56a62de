"""A real built-in server of a test's own, seen from outside."""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.parse

import httpx
import psutil

PROJECT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-X", "utf8", "-m", "twohalves.server.builtin"]
MODEL = "smollm2:135m"


class Started:
    """A built-in server of a test's own."""

    def __init__(self, *options, env=None, log=os.devnull):
        with pathlib.Path(log).open("wb") as errors:
            self.process = self._start(options, env or {}, errors)
        self.url = self.process.stdout.readline().removeprefix("ready ").strip()
        self.seen = psutil.Process(self.process.pid)

    @staticmethod
    def _start(options, env, errors):
        return subprocess.Popen(
            [*COMMAND, *map(str, options)],
            cwd=PROJECT,
            env=os.environ | env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(20)
        self.process.stdin.close()
        self.process.stdout.close()

    def ask(self, **more):
        body = {"model": MODEL, "raw": True, "stream": False} | more
        return httpx.post(f"{self.url}/api/generate", json=body, timeout=120, trust_env=False)

    def begin(self, n_words=6000, **more):
        """Send a long request and do not wait for the answer."""
        address = urllib.parse.urlsplit(self.url)
        options = {"num_ctx": 8192, "num_predict": 4000, "temperature": 0}
        body = {"model": MODEL, "raw": True, "prompt": " one" * n_words, "options": options}
        request = httpx.Request("POST", f"{self.url}/api/generate", json=body | more)
        wire = socket.create_connection((address.hostname, address.port), timeout=60)
        head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
        start = f"POST /api/generate HTTP/1.1\r\n{head}\r\n".encode()
        wire.sendall(start + request.read())
        return wire

    def engine(self):
        """The engine's process; None while nothing is loaded."""
        return next(iter(self.seen.children()), None)

    def is_computing(self):
        engine = self.engine()
        if engine is None:
            return False
        before = sum(engine.cpu_times()[:2])
        time.sleep(0.4)
        return engine.is_running() and sum(engine.cpu_times()[:2]) - before > 0.05


@contextlib.contextmanager
def builtin(model=None, **variables):
    """The URL of one that serves a GGUF file (None = the built-in model), stopped at the end."""
    chosen = () if model is None else ("--model", model)
    with Started("--stop-at-end-of-input", *chosen, env=variables) as server:
        assert server.url.startswith("http://127.0.0.1:"), "the built-in server did not start"
        yield server.url
