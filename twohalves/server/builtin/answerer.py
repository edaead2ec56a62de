"""One request to /api/generate or /api/chat, from its fields to its last record."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator
from typing import Any

from twohalves.errors import EngineBroke, RequestRefused
from twohalves.server.builtin import replies
from twohalves.server.builtin.chat import chat_prompt, refuse_chat
from twohalves.server.builtin.client import Client
from twohalves.server.builtin.completion import completion_body
from twohalves.server.builtin.engine import Engine, EngineSettings
from twohalves.server.builtin.environment import Environment
from twohalves.server.builtin.generate import generate_prompt, refuse_generate
from twohalves.server.builtin.model import ServedModel
from twohalves.server.builtin.options import Options, read_options
from twohalves.server.builtin.replies import Clock, Replies
from twohalves.server.builtin.requests import Chat, Generate
from twohalves.server.builtin.residence import Residence

Records = Generator[dict[str, Any], None, None]
"""The records of one answer."""


class Answerer:
    """Answers /api/generate and /api/chat for one model."""

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

    def answer(self, asked: Generate | Chat, arrived_ns: int, client: Client) -> Records:
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
        say = replies.message if isinstance(asked, Chat) else replies.response
        answer = Replies(asked.model, say)
        if asked.is_empty and asked.keep_alive == 0:
            self._residence.unload()
            yield answer.empty("unload")
            return
        self._refuse_what_is_not_offered(asked)
        options = read_options(asked.options, self._environment.num_ctx)
        settings = self._settings(options)
        with self._residence.engine(settings, asked.keep_alive, client) as (engine, waited_ns):
            if asked.is_empty:
                yield answer.empty("load")
                return
            load_ns = time.perf_counter_ns() - arrived_ns - waited_ns
            clock = Clock(arrived_ns=arrived_ns, load_ns=load_ns)
            try:
                yield from self._complete(asked, options, engine, answer, clock, client)
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

    def _refuse_what_is_not_offered(self, asked: Generate | Chat) -> None:
        if isinstance(asked, Chat):
            refuse_chat(asked, self._model.full_name)
        else:
            refuse_generate(asked, self._model.full_name)
        for what, is_asked in {"thinking": asked.think, "images": asked.images}.items():
            if is_asked:
                raise RequestRefused(400, f'"{asked.model}" does not support {what}')

    def _prompt(self, asked: Generate | Chat, engine: Engine) -> str:
        if isinstance(asked, Chat):
            return chat_prompt(asked, self._model, engine)
        return generate_prompt(asked, self._model, engine)

    def _complete(
        self,
        asked: Generate | Chat,
        options: Options,
        engine: Engine,
        answer: Replies,
        clock: Clock,
        client: Client,
    ) -> Iterator[dict[str, Any]]:
        prompt = self._prompt(asked, engine)
        if asked.render_only:
            yield answer.rendered(prompt)
            return
        body = completion_body(asked, options, engine, prompt)
        texts: list[str] = []
        untold: list[dict[str, Any]] = []
        event: dict[str, Any] = {}
        completion = engine.complete(body)
        with contextlib.closing(completion), client.calls(completion.abort):
            for event in completion:
                untold += replies.logprobs(event, top=asked.top_logprobs > 0)
                if event["content"]:
                    texts.append(event["content"])
                    if asked.stream:
                        yield answer.piece(event["content"], untold)
                        untold = []
        spans_ns = (clock.total_ns(), clock.load_ns)
        whole = "".join(texts)
        offers_context = isinstance(asked, Generate) and not asked.raw
        context = engine.tokenize(prompt + whole) if offers_context else None
        said = "" if asked.stream else whole
        yield answer.final(said, event, spans_ns, context=context, logprobs=untold)
