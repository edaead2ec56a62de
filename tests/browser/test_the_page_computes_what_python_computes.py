"""The browser that readers have computes and says what Python does, with the page's own script."""

import pytest

from tests import parity

pytestmark = pytest.mark.browser


def test_chromium_agrees_on_every_vector(visit):
    """Numbers to the last bit and every character, in the page as it was built."""
    seen = visit("index.html")
    vectors = parity.vectors()
    given = {"specs": parity.SPECS, "questions": vectors}
    answers = seen.page.evaluate(parity.ANSWERED, given)
    for vector, answer in zip(vectors, answers, strict=True):
        assert parity.unlike(vector, answer) == [], vector["asked"]
        assert parity.by_python(vector) == answer, vector["asked"]
    assert (seen.complaints, seen.outside) == ([], [])
