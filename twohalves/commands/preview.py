"""``preview``: show ``_site/`` over http, where the site's search works too.

Standard library only.
"""

from __future__ import annotations

import functools
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from twohalves import terminal
from twohalves.commands.exits import Exit
from twohalves.commands.parser import Options
from twohalves.errors import PortTaken, SiteMissing
from twohalves.places import PROJECT

USUAL_PORT = 8000


class _Pages(SimpleHTTPRequestHandler):
    """The site's files, without a line on the terminal for each."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def run(options: Options) -> Exit:
    """Serve the site until Ctrl-C."""
    site = PROJECT / "_site"
    if not (site / "index.html").is_file():
        raise SiteMissing(str(site))
    pages = functools.partial(_Pages, directory=str(site))
    host = options.host or "127.0.0.1"
    with listen(host, options.port, pages) as server:
        terminal.say(f"http://{host}:{server.server_address[1]}/ shows {site}; Ctrl-C ends it.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            terminal.note("Ended.")
    return Exit.DONE


def listen(host: str, port: int | None, pages: functools.partial[_Pages]) -> ThreadingHTTPServer:
    """Listen on ``port``; without one on the usual port, or a free one where that is taken.

    Raises:
        PortTaken: The port that was asked for cannot be listened on.
    """
    try:
        return ThreadingHTTPServer((host, USUAL_PORT if port is None else port), pages)
    except OSError as error:
        if port is not None:
            raise PortTaken(host, port, error.strerror or str(error)) from error
        return ThreadingHTTPServer((host, 0), pages)
