"""``python3 -m twohalves VERB``: the one way in, from nothing installed.

This file is read by every Python a reader may have, also by one too old for the rest, so that
it can say so: it keeps to syntax that Python 2.7 parses. Everything that it imports is of the
standard library until ``.venv`` exists.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (the one place that an older Python reaches)
    sys.exit(
        "Two Halves needs Python 3.11 or newer; this is Python %d.%d (%s).\n"  # noqa: UP031 (no f-strings there)
        "Next: install a newer one (https://www.python.org/downloads/) and name it, for example "
        "`python3.13 -m twohalves site`."
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )

# Only now is it certain that what follows parses.
from twohalves.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
