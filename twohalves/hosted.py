"""Which hosted notebook this is, told from its environment, and what that means for a reader.

Standard library only: the doctor and the first cell of a notebook ask before anything is
installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

_BORROWED = "localhost is {}'s machine: an Ollama on your own computer is not reached from here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """A service on whose machine the notebook runs."""

    name: str
    """What its readers call it."""
    files: str
    """One sentence: what becomes of files written here."""
    localhost: str
    """One sentence: whose machine localhost is."""
    loses_files: bool
    """Whether files are gone after a disconnect unless they are downloaded."""


_KAGGLE = Hosted(
    name="Kaggle",
    files="Files are kept only by “Save Version”; an interactive session loses them at its end.",
    localhost=_BORROWED.format("Kaggle"),
    loses_files=True,
)
_COLAB = Hosted(
    name="Google Colab",
    files="The machine and all files on it are deleted when the session ends or stands idle.",
    localhost=_BORROWED.format("Google"),
    loses_files=True,
)
_BINDER = Hosted(
    name="Binder",
    files="The machine and all files on it are deleted when the session ends or stands idle.",
    localhost=_BORROWED.format("Binder"),
    loses_files=True,
)
_DEEPNOTE = Hosted(
    name="Deepnote",
    files="Files in the project's own folder (/work) are kept; all others go with the machine.",
    localhost=_BORROWED.format("Deepnote"),
    loses_files=True,
)
_PAPERSPACE = Hosted(
    name="Paperspace Gradient",
    files="Files in /notebooks and /storage are kept; all others go with the machine.",
    localhost=_BORROWED.format("Paperspace"),
    loses_files=True,
)
_STUDIO_LAB = Hosted(
    name="SageMaker Studio Lab",
    files="Files in the home folder are kept; running programs end with the session.",
    localhost=_BORROWED.format("Amazon"),
    loses_files=False,
)
_SAGEMAKER = Hosted(
    name="SageMaker Studio",
    files="Files in the home folder are kept; all others go with the machine.",
    localhost=_BORROWED.format("Amazon"),
    loses_files=False,
)
_CODESPACES = Hosted(
    name="GitHub Codespaces",
    files="Files are kept until the codespace is deleted, by you or after a month unused.",
    localhost=_BORROWED.format("GitHub"),
    loses_files=False,
)
_GITPOD = Hosted(
    name="Gitpod",
    files="Files in /workspace are kept until the workspace is deleted, which disuse also does.",
    localhost=_BORROWED.format("Gitpod"),
    loses_files=False,
)
_JUPYTERHUB = Hosted(
    name="JupyterHub",
    files="Files in your home folder are usually kept; who runs the hub knows.",
    localhost="localhost is the hub's machine, often shared: an Ollama there may be another's.",
    loses_files=False,
)

_TOLD_BY = (
    # The order matters: others start from Colab's image, and Binder is a JupyterHub.
    (_KAGGLE, ("KAGGLE_KERNEL_RUN_TYPE",)),
    (_BINDER, ("BINDER_REPO_URL", "BINDER_SERVICE_HOST")),
    (_COLAB, ("COLAB_RELEASE_TAG", "COLAB_BACKEND_VERSION")),
    (_DEEPNOTE, ("DEEPNOTE_PROJECT_ID",)),
    (_PAPERSPACE, ("PAPERSPACE_NOTEBOOK_REPO_ID",)),
    (_SAGEMAKER, ("SAGEMAKER_INTERNAL_IMAGE_URI",)),
    (_CODESPACES, ("CODESPACES",)),
    (_GITPOD, ("GITPOD_WORKSPACE_ID",)),
    (_JUPYTERHUB, ("JUPYTERHUB_API_URL", "JUPYTERHUB_USER")),
)


def where(environ: Mapping[str, str] | None = None) -> Hosted | None:
    """Which hosted notebook this process runs in; None = none that is known.

    Args:
        environ: The environment variables; None = this process's. Only for the latter is it
            also asked whether Colab's own module is loaded.
    """
    known = os.environ if environ is None else environ
    if known.get("HOME", "").rstrip("/") == "/home/studio-lab-user":  # it sets no variable
        return _STUDIO_LAB
    for host, names in _TOLD_BY:
        if any(known.get(name, "").strip() for name in names):
            return host
    return _COLAB if environ is None and "google.colab" in sys.modules else None
