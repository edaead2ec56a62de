"""`measure` in a console that knows ASCII only, its folders named with letters beyond it."""

import os

import pytest

from tests import verb
from tests.servers import modelled, scripted
from twohalves.runs import listed, load


class Named(modelled.Modelled):
    """Its model has an umlaut."""

    def routes(self):
        model = {"name": "übung-µ:3b", "model": "übung-µ:3b", "digest": "d" * 64}
        tags = scripted.Answer(body={"models": [model | {"details": self.details}]})
        return super().routes() | {"/api/tags": tags}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locale")
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_run_is_measured_and_kept_in_utf8(tmp_path, encoding):
    """No traceback, readable words on the terminal, and the model's own name in the files."""
    out = tmp_path / "Žofie Übung #1 (測)"
    temporary = tmp_path / "Temp Übung (測)"
    temporary.mkdir()
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
    variables |= {name: str(temporary) for name in ("TMPDIR", "TEMP", "TMP")}
    with scripted.Scripted(Named().routes()) as server:
        words = ("measure", "--out", str(out), "--host", server.url)
        alone = ("--experiment", "prefill_decode")
        told = verb.give(*words, *alone, variables=variables)
    said, errors = told.stdout.decode(encoding), told.stderr.decode(encoding)

    assert 0 == told.returncode, errors
    assert "Traceback" not in errors
    assert "udc" not in said + errors
    assert {"ascii": "ubung-u:3b"}.get(encoding, "übung-µ:3b") in errors
    assert "26 rows." in said
    [name] = listed(out)
    run = load(out / name)
    assert "übung-µ:3b" == run.session["model"]["name"]
    assert {"übung-µ:3b"} == {row.model for row in run.timings}
