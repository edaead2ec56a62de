"""With several models the reader is asked by a list; where nobody can answer, all are named."""

import pytest

from twohalves.commands import model
from twohalves.errors import SeveralModels

NAMES = ("gemma3:1b", "smollm2:135m", "qwen3:0.6b")


@pytest.fixture(autouse=True)
def _three_models(monkeypatch):
    def choose(models, *, wanted):
        if wanted is None:
            raise SeveralModels(models)
        return wanted

    monkeypatch.setattr(model, "choose", choose)


def _answers(*lines):
    waiting = list(lines)
    return lambda _prompt: waiting.pop(0)


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        (["2"], "smollm2:135m"),
        ([" 3 "], "qwen3:0.6b"),
        (["gemma3:1b"], "gemma3:1b"),
        (["0", "4", "-1", "", "²", "gemma", "1"], "gemma3:1b"),
    ],
)
def test_a_number_or_a_name_is_an_answer(typed, chosen, capsys):
    """The list is shown; what is not in it is asked for again."""
    assert chosen == model.pick(NAMES, None, read=_answers(*typed), asked=True)
    said = capsys.readouterr().err
    assert [] == [name for name in NAMES if name not in said]


def test_nobody_is_asked_where_nobody_can_answer():
    """In a pipe the error names all models, and nothing waits for input."""
    with pytest.raises(SeveralModels) as raised:
        model.pick(NAMES, None, read=pytest.fail, asked=False)
    assert [] == [name for name in NAMES if name not in str(raised.value)]
    assert "TWOHALVES_MODEL" in raised.value.next_step


def test_a_named_model_is_taken_without_a_question():
    """Whoever names a model is not asked."""
    assert "qwen3:0.6b" == model.pick(NAMES, "qwen3:0.6b", read=pytest.fail, asked=True)
