"""The built-in server as it is, except that it tells where its engine listens, and the key.

So that the same engine can be asked with the server between and without it.
"""

import json
import sys

from twohalves.server.builtin import launch
from twohalves.server.builtin.engine import Engine


class OpenEngine(Engine):
    """An engine that tells its secret."""

    def await_ready(self):
        """Load, then tell."""
        super().await_ready()
        told = {"netloc": self._netloc, "key": self._key}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


def main():
    """Serve until standard input ends."""
    launch.Engine = OpenEngine
    stop = launch.threading.Event()
    launch.stop_at_end_of_input(stop, None)
    launch.serve(ready=lambda url: sys.stdout.write(f"{url}\n"), stop=stop)


if __name__ == "__main__":
    main()
