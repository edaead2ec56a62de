"""One request to /api/generate, from its body to its last record."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Generator, Iterator
from typing import Any

from twohalves.errors import EngineBroke, RequestRefused
from twohalves.server.builtin import replies
from twohalves.server.builtin.client import Client
from twohalves.server.builtin.engine import Engine, EngineSettings
from twohalves.server.builtin.environment import Environment
from twohalves.server.builtin.model import ServedModel
from twohalves.server.builtin.options import Options, read_options
from twohalves.server.builtin.requests import Generate
from twohalves.server.builtin.residence import Residence

Records = Generator[dict[str, Any], None, None]
"""The records of one answer."""

_MOST_WINDOWS = 10
"""An answer without a limit ends after so many windows, as in Ollama."""


class Answerer:
    """Answers /api/generate for one model."""

    def __init__(self, model: ServedModel, residence: Residence, environment: Environment) -> None:
        """Serve a model.

        Args:
            model: the one that is served.
            residence: who loads it.
            environment: what holds for every request.
        """
        self._model = model
        self._residence = residence
        self._environment = environment

    def answer(self, asked: Generate, arrived_ns: int, client: Client) -> Records:
        """The records of the answer; a single one unless it streams.

        Args:
            asked: the request.
            arrived_ns: monotonic clock when it came in.
            client: who asks; the work ends when it leaves.

        Raises:
            RequestRefused: nothing has been computed.
            EngineBroke: in the middle; what follows is loaded anew.
        """
        if not self._model.answers_to(asked.model):
            raise RequestRefused(404, f"model '{asked.model}' not found")
        if not asked.prompt and asked.keep_alive == 0:
            self._residence.unload()
            yield replies.empty(asked.model, "unload")
            return
        _refuse_what_is_not_offered(asked)
        options = read_options(asked.options, self._environment.num_ctx)
        settings = self._settings(options)
        with self._residence.engine(settings, asked.keep_alive, client) as (engine, waited_ns):
            if not asked.prompt:
                yield replies.empty(asked.model, "load")
                return
            load_ns = time.perf_counter_ns() - arrived_ns - waited_ns
            clock = replies.Clock(arrived_ns=arrived_ns, load_ns=load_ns)
            try:
                yield from self._complete(asked, options, engine, clock, client)
            except EngineBroke:
                self._residence.give_up(engine)
                raise

    def _settings(self, options: Options) -> EngineSettings:
        window = min(options.num_ctx, self._model.trained_ctx or options.num_ctx)
        return EngineSettings(
            num_ctx=window,
            num_batch=options.num_batch,
            num_thread=options.num_thread,
            setup=self._environment.setup,
        )

    def _complete(
        self,
        asked: Generate,
        options: Options,
        engine: Engine,
        clock: replies.Clock,
        client: Client,
    ) -> Iterator[dict[str, Any]]:
        prompt = asked.prompt if asked.raw else self._render(asked, engine)
        if asked.render_only:
            yield replies.rendered(asked.model, prompt)
            return
        body = self._body(asked, options, engine, prompt)
        if asked.format is not None and not engine.follows(body["json_schema"]):
            raise RequestRefused(400, "the engine cannot follow this format")
        texts: list[str] = []
        event: dict[str, Any] = {}
        completion = engine.complete(body)
        with contextlib.closing(completion), client.calls(completion.abort):
            for event in completion:
                if event["content"]:
                    texts.append(event["content"])
                    if asked.stream:
                        yield replies.piece(asked.model, event["content"])
        spans_ns = (clock.total_ns(), clock.load_ns)
        whole = "".join(texts)
        context = None if asked.raw else engine.tokenize(prompt + whole)
        yield replies.final(asked.model, "" if asked.stream else whole, event, spans_ns, context)

    def _render(self, asked: Generate, engine: Engine) -> str:
        messages = [{"role": "user", "content": asked.prompt}]
        if asked.system:
            messages.insert(0, {"role": "system", "content": asked.system})
        before = engine.detokenize(list(asked.context)) if asked.context else ""
        if not self._model.is_chatml:
            return before + engine.render(messages)
        # written here, because the file's own template adds a system message nobody asked for
        turns = [f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in messages]
        return before + "".join(turns) + "<|im_start|>assistant\n"

    def _body(
        self, asked: Generate, options: Options, engine: Engine, prompt: str
    ) -> dict[str, Any]:
        window = engine.settings.num_ctx
        tokens = engine.tokenize(prompt)
        if len(tokens) > window and not asked.truncate:
            raise RequestRefused(400, "the input length exceeds the context length")
        tokens = _cut(tokens, min(window, engine.room), options.num_keep)
        longest = options.num_predict or _MOST_WINDOWS * window
        if not asked.shift:
            longest = max(1, min(longest, window - len(tokens)))
        return {
            "prompt": tokens,
            "n_predict": longest,
            "n_keep": options.num_keep,
            "seed": options.seed & 0xFFFFFFFF,
            "stop": list(self._model.stops if options.stop is None else options.stop),
            "cache_prompt": True,
            **options.sampling,
            **_grammar(asked.format),
        }


def _cut(tokens: list[int], room: int, keep: int) -> list[int]:
    """The first `keep` tokens and the tail, as many as there is room for."""
    if len(tokens) <= room:
        return tokens
    keep = min(keep, room - 1)
    return tokens[:keep] + tokens[len(tokens) - (room - keep) :]


def _grammar(wanted: object) -> dict[str, Any]:
    if wanted is None:
        return {}
    if wanted == "json":
        return {"json_schema": {"type": "object"}}
    if isinstance(wanted, dict):
        return {"json_schema": wanted}
    quoted = json.dumps(json.dumps(wanted, separators=(",", ":")))
    expected = 'expected "json" or a valid JSON Schema object'
    raise RequestRefused(500, f"invalid format: {quoted}; {expected}")


def _refuse_what_is_not_offered(asked: Generate) -> None:
    if asked.raw and (asked.template or asked.system or asked.context):
        raise RequestRefused(400, "raw mode does not support template, system, or context")
    quoted = f'"{asked.model}"'
    refused = {
        f"{quoted} does not support thinking": asked.think,
        f"{quoted} does not support insert": asked.suffix,
        f"{quoted} does not support images": asked.images,
        "the built-in server does not offer logprobs": asked.logprobs,
        "the built-in server does not offer template: use raw and write it out": asked.template,
    }
    for text, is_asked in refused.items():
        if is_asked:
            raise RequestRefused(400, text)
