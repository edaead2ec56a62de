"""Executing notebooks in replay: they compute from one kept run and measure nothing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from twohalves.errors import NotebookCellFailed, NotebookChanged, NotebookNotRun
from twohalves.site.stage import plain

_PROJECT = Path(__file__).resolve().parents[2]
_CELL_SECONDS = 300
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class _OwnKernel(KernelSpecManager):
    """Every kernel name is this interpreter: a notebook may have been saved under any other."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """The kernel of the interpreter that runs this, whatever name is asked for."""
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        argv += ["--log-level=40"]  # errors; its warnings are for whoever runs a kernel for others
        return KernelSpec(argv=argv, display_name=kernel_name, language="python")


def execute(notebooks: Iterable[Path], staging: Path, run_id: str) -> list[Path]:
    """Execute notebooks in place, each in a fresh kernel, in replay of one run.

    Args:
        notebooks: staged notebooks; their outputs are replaced.
        staging: the staged project; each notebook runs in its own folder inside it.
        run_id: the run that every cell computes from (``TWOHALVES_RUN``).

    Returns:
        The notebooks, in the order they were executed.

    Raises:
        NotebookCellFailed: a cell raised: its source, what it printed, the traceback.
        NotebookNotRun: the kernel did not start, died, or a cell took too long.
    """
    done = []
    for path in notebooks:
        name = path.relative_to(staging).as_posix()
        notebook = _read(path)
        _run(notebook, name, path.parent, run_id)
        normalize(notebook)
        _write(notebook, path)
        done.append(path)
    return done


def _run(notebook: NotebookNode, name: str, folder: Path, run_id: str) -> None:
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=_OwnKernel())
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=_CELL_SECONDS,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute(env=_environment(run_id), cleanup_kc=True)  # the kernel is ours to end
    except CellExecutionError as error:
        raise _failed(notebook, name, error) from error
    except CellTimeoutError as error:
        raise NotebookNotRun(name, f"a cell took more than {_CELL_SECONDS} s") from error
    except DeadKernelError as error:
        raise NotebookNotRun(name, "its kernel died (out of memory?)") from error
    except (OSError, RuntimeError) as error:
        raise NotebookNotRun(name, str(error) or type(error).__name__) from error


def _environment(run_id: str) -> dict[str, str]:
    """The environment of a kernel: replay of one run, and our library found from any folder."""
    found = os.environ.get("PYTHONPATH", "")
    return {
        **os.environ,
        "TWOHALVES_RUN": run_id,
        "PYTHONPATH": f"{_PROJECT}{os.pathsep}{found}" if found else str(_PROJECT),
        "PYTHONUTF8": "1",
        "MPLBACKEND": "agg",
    }


def _failed(notebook: NotebookNode, name: str, error: CellExecutionError) -> NotebookCellFailed:
    """The error with its cell: the first one that holds an error output."""
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        if any(out.output_type == "error" for out in outputs):
            printed = "".join(out.text for out in outputs if out.output_type == "stream")
            return NotebookCellFailed(name, cell.source, printed, _ANSI.sub("", error.traceback))
    return NotebookCellFailed(name, "(not known)", "", _ANSI.sub("", error.traceback))


def normalize(notebook: NotebookNode) -> None:
    """Make outputs independent of chance: how a stream was cut, which widgets were made.

    Consecutive outputs of one stream become one; the order of different streams stays.
    """
    plain(notebook)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        merged: list[NotebookNode] = []
        for out in cell.outputs:
            last = merged[-1] if merged else None
            if last is not None and _one_stream(last, out):
                last.text += out.text
            else:
                merged.append(out)
        cell.outputs = merged


def _one_stream(first: NotebookNode, second: NotebookNode) -> bool:
    return bool(first.output_type == second.output_type == "stream" and first.name == second.name)


def store_outputs(notebook: Path, executed: Path) -> None:
    """Write the outputs of an executed copy into the project's notebook.

    Only outputs and execution counts move: sources, names and order stay as they are.

    Raises:
        NotebookChanged: the two do not hold the same cells.
    """
    kept, fresh = _read(notebook), _read(executed)
    sources = [[(cell.cell_type, cell.source) for cell in book.cells] for book in (kept, fresh)]
    if sources[0] != sources[1]:
        raise NotebookChanged(notebook.name)
    for cell, new in zip(kept.cells, fresh.cells, strict=True):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = new.outputs, new.execution_count
    plain(kept)
    _write(kept, notebook)


def _read(path: Path) -> NotebookNode:
    book: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # its gap
    return book


def _write(notebook: NotebookNode, path: Path) -> None:
    """Write whole or not at all."""
    beside = path.with_name(f".{path.name}.part")
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]  # its gap
    beside.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")
    beside.replace(path)
