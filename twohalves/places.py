"""Where things are: the folders of this checkout."""

from __future__ import annotations

import pathlib

PROJECT = pathlib.Path(__file__).resolve().parent.parent
"""The checkout's top folder."""
DATA = PROJECT / "data"
"""Reference tables, texts and runs."""
RUNS = DATA / "runs"
"""One folder a run: the reader's own, and the committed sample."""
NOTEBOOKS = PROJECT / "notebooks"
"""The chapter, one notebook a section."""
