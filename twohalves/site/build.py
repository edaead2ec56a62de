"""The whole way from sources to a site: stage, execute, store, render."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from twohalves.errors import SiteNotWritten, TwoHalvesError
from twohalves.site.execute import execute, store_outputs
from twohalves.site.render import Rendered, find_renderer, render
from twohalves.site.stage import other_kernels, refuse_live, stage


def _silent(_: str) -> None:
    """Say nothing."""


def build(
    project: Path,
    *,
    run_id: str | None = None,
    store: bool = False,
    renderer: str | None = None,
    say: Callable[[str], None] = _silent,
) -> Rendered:
    """Build the site into ``_site`` of the project.

    Args:
        project: the project's folder.
        run_id: execute the notebooks in replay of this run first; None renders the outputs
            that they hold.
        store: also write the new outputs into the project's notebooks (promotes a run).
        renderer: ``quarto`` or ``smalldocs``; None takes what is there.
        say: called with one line before each step.

    Raises:
        TwoHalvesError: what went wrong and what to do; the site that stood before is kept.
    """
    try:
        return _build(project, run_id, store=store, renderer=renderer, say=say)
    except TwoHalvesError:
        raise  # some of these are an OSError, too, and say more
    except OSError as error:
        path = str(error.filename or project / "_site")
        raise SiteNotWritten(path, error.strerror or str(error)) from error


def _build(
    project: Path,
    run_id: str | None,
    *,
    store: bool,
    renderer: str | None,
    say: Callable[[str], None],
) -> Rendered:
    with tempfile.TemporaryDirectory(prefix="twohalves-site-", ignore_cleanup_errors=True) as name:
        staging = Path(name).resolve()
        notebooks = stage(project, staging)
        if run_id is None:
            refuse_live(notebooks, staging)
        else:
            for foreign, kernel in other_kernels(project).items():
                say(f"notebooks/{foreign} names the kernel {kernel}; it runs under the book's own")
            for path in notebooks:
                say(f"Executing notebooks/{path.name} in replay of {run_id}")
                execute([path], staging, run_id)
            if store:
                for path in notebooks:
                    store_outputs(project / "notebooks" / path.name, path)
        say("Rendering the pages")
        return _render(staging, project / "_site", renderer=renderer, say=say)


def _render(
    staging: Path, out: Path, *, renderer: str | None, say: Callable[[str], None]
) -> Rendered:
    """Render; where Quarto was only preferred and fails, a reader gets the pages all the same."""
    insists = renderer or os.environ.get("TWOHALVES_RENDERER")
    try:
        return render(staging, out, renderer=renderer)
    except TwoHalvesError as error:
        if insists or find_renderer().name != "quarto":
            raise
        say(f"Quarto is here but did not make the site: {error.what}")
        say("smalldocs makes it instead (TWOHALVES_RENDERER=quarto insists on Quarto)")
        shutil.rmtree(staging / "_site", ignore_errors=True)
        return render(staging, out, renderer="smalldocs")
