"""A hosted notebook is recognized by the variables that its service sets."""

import sys
import types

import pytest

from twohalves import hosted

SEEN = {
    # As these services set them; a few of each, with what else of another service is there.
    "Google Colab": {"COLAB_RELEASE_TAG": "release-colab-external_20261101", "COLAB_GPU": ""},
    "Kaggle": {"KAGGLE_KERNEL_RUN_TYPE": "Interactive", "COLAB_RELEASE_TAG": "release-colab"},
    "Binder": {
        "BINDER_SERVICE_HOST": "10.0.0.1",
        "BINDER_REPO_URL": "https://example.org/a/b",
        "JUPYTERHUB_USER": "a-b-x1",
    },
    "JupyterHub": {"JUPYTERHUB_USER": "ana", "JUPYTERHUB_API_URL": "http://hub:8081/hub/api"},
    "GitHub Codespaces": {"CODESPACES": "true"},
    "Gitpod": {"GITPOD_WORKSPACE_ID": "a-b-c"},
    "Deepnote": {"DEEPNOTE_PROJECT_ID": "0-1-2"},
    "Paperspace Gradient": {"PAPERSPACE_NOTEBOOK_REPO_ID": "r1"},
    "SageMaker Studio Lab": {"HOME": "/home/studio-lab-user"},
    "SageMaker Studio": {"SAGEMAKER_INTERNAL_IMAGE_URI": "x/y:1"},
}


@pytest.mark.parametrize("name", SEEN)
def test_each_service_is_told_from_the_others(name):
    """Also where one is built on another and sets the other's variables too."""
    assert hosted.where(SEEN[name]).name == name


@pytest.mark.parametrize("name", SEEN)
def test_it_says_what_becomes_of_files_and_whose_machine_it_is(name):
    """One sentence each."""
    here = hosted.where(SEEN[name])
    assert here.files.endswith(".")
    assert here.localhost.startswith("localhost is ")
    assert here.localhost.endswith(".")


@pytest.mark.parametrize("environ", [{}, {"CODESPACES": ""}, {"HOME": "/home/ana"}])
def test_a_machine_of_ones_own_is_none_of_them(environ):
    """Nothing set, or set to nothing."""
    assert hosted.where(environ) is None


def test_colab_is_known_by_its_module_too(monkeypatch):
    """Its kernel has loaded google.colab before the first cell."""
    for names in SEEN.values():
        for name in names.keys() - {"HOME"}:
            monkeypatch.delenv(name, raising=False)
    assert hosted.where() is None
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    assert hosted.where().name == "Google Colab"
