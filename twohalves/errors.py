"""Everything this project raises on purpose, and the words it uses for it.

    TwoHalvesError
      (subclasses below, grouped by who raises them)

A subclass takes facts and builds two texts itself: ``what`` happened and the ``next_step``
to take. All wording can so be reviewed in this one file, and no call site writes prose.
"""

from __future__ import annotations


class TwoHalvesError(Exception):
    """Base of every error that is meant for a reader.

    Subclasses hand their facts by position to ``super().__init__`` (so that they pickle)
    and set ``what`` and ``next_step``.
    """

    what: str = ""
    next_step: str = ""

    def __str__(self) -> str:
        return f"{self.what}\nNext: {self.next_step}"
