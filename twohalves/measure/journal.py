"""What becomes known of a run while it is measured, put on record at once: session.json."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

from twohalves.measure.plan import Planned
from twohalves.measure.prompts import Calibration
from twohalves.runs import Run, Timing, fitting, machine
from twohalves.runs import session as session_file
from twohalves.runs.session import Session


class Journal:
    """The facts of one run and the file that holds them."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Take up the facts of a run that was begun.

        Raises:
            RunUnreadable: the file cannot be read.
        """
        for left in folder.glob(f"{session_file.FILE}.*.new"):  # of a process that was killed
            left.unlink(missing_ok=True)
        self.folder = folder
        self.session = session_file.read(folder)

    @property
    def model(self) -> str:
        """Name of the run's model."""
        return str(self.session["model"]["name"])

    @property
    def window(self) -> int:
        """Context window with which the server holds the model, tokens."""
        return window_held(self.session)

    def notice(self, kind: str, **facts: object) -> None:
        """Something happened while measuring."""
        noticed = {"kind": kind, "at": session_file.now(), **facts}
        self.session.setdefault("noticed", []).append(noticed)
        session_file.write(self.folder, self.session)

    def record(self, fact: str, **known: object) -> None:
        """Add to a fact that is made of named parts."""
        self.session.setdefault(fact, {}).update(known)
        session_file.write(self.folder, self.session)

    def finish(
        self, requests: Sequence[Planned], rows: Sequence[Timing], calibration: Calibration
    ) -> None:
        """The run is complete: what of its plan it holds, and the curves that its rows give."""
        asked = {request.seq: request for request in requests if request.in_blocks}
        there = [asked[row.seq] for row in rows if row.seq in asked]
        lengths = {request.prompt_tokens for request in asked.values()}
        experiments = {name for row in rows for name in row.experiments.split(";")}
        facts: dict[str, Any] = {
            "status": "complete",
            "ended_at": session_file.now(),
            "blocks": {
                "planned": len({request.block for request in asked.values()}),
                "measured": len({request.block for request in there}),
            },
            "no_time_for": sorted(lengths - {request.prompt_tokens for request in there}),
            "calibration": {"fixed": calibration.fixed, "per_unit": calibration.per_unit},
        }
        self.session |= facts
        for name in self.session["experiments"]:
            if name not in experiments:
                left_out = self.session.setdefault("left_out", {})
                left_out.setdefault(name, "no time was left for it")
        self.session["load_average"]["after"] = machine.load_average()
        whole = Run(folder=self.folder, session=self.session, timings=tuple(rows))
        self.session["fit"] = fitting.facts(whole)
        session_file.write(self.folder, self.session)


def window_held(session: Session) -> int:
    """Context window with which the server holds a run's model, tokens.

    It may be smaller than the one asked for, where memory was short.
    """
    asked = int(session["options"]["num_ctx"])
    return min(asked, session["model"].get("window") or asked)
