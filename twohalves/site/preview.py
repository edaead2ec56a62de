"""Looking at the site: a small server on this machine only."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from twohalves.errors import PortTaken, SiteMissing

_HOST = "127.0.0.1"


class _Quiet(SimpleHTTPRequestHandler):
    """Files as they are, always fresh, and no line for each of them."""

    def end_headers(self) -> None:
        """Forbid the browser to keep what the next build replaces."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the base names it so
        """Say nothing."""


def _listen(folder: Path, port: int) -> ThreadingHTTPServer:
    if not (folder / "index.html").is_file():
        raise SiteMissing(str(folder))
    handler = functools.partial(_Quiet, directory=str(folder))
    try:
        return ThreadingHTTPServer((_HOST, port), handler)
    except OSError as error:
        raise PortTaken(_HOST, port, error.strerror or str(error)) from error


@contextmanager
def serving(folder: Path, *, port: int = 0) -> Iterator[str]:
    """Serve a site while the block runs; gives its address.

    Args:
        folder: the site.
        port: 0 takes a free one.

    Raises:
        SiteMissing: there is no site in the folder.
        PortTaken: the port cannot be listened on.
    """
    with _listen(folder, port) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{_HOST}:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def preview(folder: Path, *, port: int = 0, ready: Callable[[str], None]) -> None:
    """Serve a site until Ctrl-C.

    Args:
        folder: the site.
        port: 0 takes a free one.
        ready: called once with the address, when it answers.

    Raises:
        SiteMissing: there is no site in the folder.
        PortTaken: the port cannot be listened on.
    """
    with _listen(folder, port) as server, suppress(KeyboardInterrupt):
        ready(f"http://{_HOST}:{server.server_address[1]}/")
        server.serve_forever()
