"""An Ollama of known rates: it counts the prompt's words and reports the durations they imply.

Nothing is slept: counters and time stamps are computed on a clock of the server's own, so that
a whole run takes a second and what the harness recovers can be compared with what was put in.
`Rates` says how fast the work is, `Counting` how this version reports it: the same work,
reported differently. `faults` and `streams` spoil single answers.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import json
import re

from tests.servers import scripted

DIGEST = "d" * 64
DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "llama",
    "families": ["llama"],
    "parameter_size": "3.2B",
    "quantization_level": "Q4_K_M",
}
NAME = "llama3.2:3b"
FIRST = "<s>"
"""The token that the model puts before every prompt."""
STARTED_NS = 1_796_000_000_000_000_000
READY_NS = 1_000_000
"""From the slot's start to the first token, if nothing had to be read."""
IDLE_NS = 50_000_000
"""Between an answer and the next request, by the server's clock."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How long the work takes: a prompt of n tokens read_s * n + read_s2 * n ** 2."""

    read_s: float = 1 / 2000
    """Seconds a prompt token."""
    read_s2: float = 0.0
    """Seconds a squared prompt token."""
    step_s: float = 1 / 190
    """Seconds a step of the answer at no context."""
    step_context_s: float = 0.0
    """Seconds a step for each token in the context."""
    overhead_s: float = 0.0
    """Seconds a request beside load, prefill and decode, half before them and half after."""
    drift: float = 0.0
    """What each answer adds to all durations, as a fraction."""

    def reading_ns(self, cached: int, count: int) -> int:
        """Nanoseconds for the tokens from `cached` to `count`."""
        linear, square = count - cached, count**2 - cached**2
        return round(1e9 * (self.read_s * linear + self.read_s2 * square))

    def steps_ns(self, count: int, steps: int) -> list[int]:
        """Nanoseconds of each step after a prompt of `count` tokens."""
        each = (self.step_s + self.step_context_s * (count + step) for step in range(1, steps + 1))
        return [round(1e9 * seconds) for seconds in each]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """How a version reports what it did. `shared` tokens of each prompt come from its cache."""

    shared: int = 0
    """Tokens at the head of each prompt that are always in the cache."""
    counts_shared: bool = True
    """Whether prompt_eval_count includes them."""
    tells_shared: bool = False
    """Whether prompt_eval_cached_count says how many they were."""
    rereads: bool = True
    """Whether at least the last token of a prompt is read, also if all are in the cache."""
    last_batch: int | None = None
    """Tokens of the last batch, if only its time is reported."""
    wall: bool = False
    """Whether the prefill clock runs from accepting the request."""
    steps_less: int = 1
    """Tokens of the answer that its clock leaves out."""
    cut: str = "window"
    """What is left of a prompt that is too long: window, one less, or half."""
    refuses: bool = False
    """Whether `truncate: false` is obeyed."""


class Modelled:
    """Routes for `Scripted`: prefill at 2,000 tokens a second, decode at 190 steps a second."""

    def __init__(
        self, *, rates=None, window=131072, version="0.24.0", counting=None,
        model_format="gguf", slots=0, holds=None,
    ):  # fmt: skip
        self.window, self.version = window, version
        self.rates = rates or Rates()
        self.counting = counting or Counting()
        self.details = DETAILS | {"format": model_format}
        self.holds = holds
        """Tokens that the window really holds; None = as many as were asked for."""
        self.slots = [[] for _ in range(slots)]
        """What each slot keeps, the one used last at the end; none = no cache."""
        self.answered = 0
        """Prompts so far."""
        self.now_ns = STARTED_NS
        self.faults = {}
        """By number of the answer, from 1: a function that changes its final record."""
        self.streams = {}
        """By number: a function from the records of an answer to an `Answer`."""

    def routes(self):
        """What the server says where."""
        model = {"name": NAME, "model": NAME, "size": 2_000_000_000, "digest": DIGEST}
        info = {"general.architecture": "llama", "llama.context_length": self.window}
        return {
            "/": scripted.Answer(body="Ollama is running"),
            "/api/version": scripted.Answer(body={"version": self.version}),
            "/api/tags": scripted.Answer(body={"models": [model | {"details": self.details}]}),
            "/api/show": scripted.Answer(
                body={"details": self.details, "model_info": info, "capabilities": ["completion"]}
            ),
            "/api/ps": scripted.Answer(body={"models": []}),
            "/api/generate": self.generate,
        }

    def load_ns(self, _body):
        """What load_duration says; a model that is loaded takes a little."""
        return 60_000_000

    def unload(self):
        """Forget what the slots keep."""
        self.slots = [[] for _ in self.slots]

    def generate(self, asked):
        """One answer, its counters and stamps from the rates."""
        body = asked.json
        if not body.get("prompt"):
            return self._only_load(body)
        tokens = tokenized(body["prompt"])
        holds = self.holds or min(asked_for(body, "num_ctx", 4096), self.window)
        if len(tokens) > holds:
            if self.counting.refuses and body.get("truncate") is False:
                text = "the input length exceeds the context length"
                return scripted.Answer(status=400, body={"error": text})
            tokens = tokens[-left_of(holds, self.counting.cut) :]
        self.answered += 1
        spoken, final = self._work(body, tokens)
        fault = self.faults.get(self.answered)
        if fault is not None:
            final = fault(final)
        spoil = self.streams.get(self.answered)
        if spoil is not None:
            return spoil([*spoken, final])
        if not body.get("stream", True):
            words = "".join(record["response"] for record in spoken)
            return scripted.Answer(body=final | {"response": words})
        return streamed([*spoken, final] if final else spoken, breaks_off=final is None)

    def _only_load(self, body):
        """A request without a prompt loads the model, or unloads it."""
        reason = "unload" if body.get("keep_alive") == 0 else "load"
        if reason == "unload":
            self.unload()
        else:
            self.load_ns(body)
        final = {"model": body["model"], "response": "", "done": True, "done_reason": reason}
        return scripted.Answer(body=final)

    def _work(self, body, tokens):
        """The records of the text, and the last one."""
        how, written = self.counting, asked_for(body, "num_predict", 128)
        words = [word(number) for number in range(written)]
        load_ns = self.load_ns(body)
        cached = self._reuse(tokens, words)
        slower = 1 + self.rates.drift * self.answered
        reading_ns = round(slower * self.rates.reading_ns(cached, len(tokens)))
        steps_ns = [slower * step for step in self.rates.steps_ns(len(tokens), written)]
        half_ns = round(slower * 1e9 * self.rates.overhead_s / 2)
        self.now_ns += IDLE_NS + load_ns + half_ns + reading_ns
        spoken = []
        for text, step_ns in zip(words, [0, *steps_ns[: written - 1]], strict=True):
            self.now_ns += round(step_ns)
            spoken.append({"created_at": stamp(self.now_ns), "response": text, "done": False})
        self.now_ns += half_ns
        decode_ns = round(sum(steps_ns[: written - how.steps_less]))
        counters = {
            "total_duration": load_ns + reading_ns + decode_ns + 2 * half_ns,
            "load_duration": load_ns,
            "prompt_eval_count": len(tokens) - (0 if how.counts_shared else cached),
            "prompt_eval_duration": self._prefill_ns(reading_ns, half_ns, len(tokens) - cached),
            "eval_count": written,
            "eval_duration": decode_ns,
        }
        told = {name: value for name, value in counters.items() if value}  # Go's omitempty
        if how.tells_shared:
            told["prompt_eval_cached_count"] = cached
        final = {
            "model": body["model"],
            "created_at": stamp(self.now_ns),
            "response": "",
            "done": True,
            "done_reason": "length",
        }
        return spoken, final | told

    def _prefill_ns(self, reading_ns, half_ns, read):
        how = self.counting
        if not read:
            return READY_NS
        if how.last_batch:
            reading_ns *= min(read, how.last_batch) / read
        return round(reading_ns + (half_ns if how.wall else 0))

    def _reuse(self, tokens, words):
        """Tokens of the prompt that a slot has; afterwards it keeps this request."""
        shared = self.counting.shared
        if self.slots:
            best = max(self.slots, key=lambda kept: common(kept, tokens))
            used = best if 2 * common(best, tokens) >= len(tokens) else self.slots[0]
            shared = max(shared, common(used, tokens))
            self.slots.remove(used)
            self.slots.append(tokens + [text.strip() for text in words[:-1]])
        return min(shared, len(tokens) - self.counting.rereads)


def tokenized(prompt):
    """Words, digits and marks, after the model's own first token."""
    return [FIRST, *re.findall(r"[A-Za-z]+|\d|[^A-Za-z\d\s]+", prompt)]


def asked_for(body, name, default):
    """An option of the request."""
    return (body.get("options") or {}).get(name, default)


def word(number):
    """A word of the answer, each another one and one token each."""
    return f" w{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}"


def common(one, other):
    """How many tokens two texts begin with together."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def left_of(window, cut):
    """Tokens that are left of a prompt that was too long."""
    return {"window": window, "one less": window - 1, "half": window - (window - 5) // 2}[cut]


def stamp(moment_ns):
    """As Ollama writes it."""
    seconds, rest = divmod(moment_ns, 10**9)
    moment = datetime.datetime.fromtimestamp(seconds, tz=datetime.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def streamed(records, *, breaks_off=False):
    """An answer of these records, a line each."""
    return scripted.Answer(
        headers={"content-type": "application/x-ndjson"},
        body="".join(json.dumps(record) + "\n" for record in records),
        breaks_off=breaks_off,
    )
