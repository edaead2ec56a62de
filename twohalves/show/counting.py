"""Section 31.6: the parts of a reader's own request, and the one answer to it."""

from __future__ import annotations

import re

from IPython.display import Markdown

from twohalves.measure.counting import Counted
from twohalves.measure.reply import Answered
from twohalves.runs.reference import claim
from twohalves.show.calculator.words import number, share
from twohalves.show.markdown import say, table
from twohalves.show.numbers import counted as with_noun
from twohalves.show.numbers import fixed, seconds

_MARKS = re.compile(r"([\\`*_\[\]<>#|~$&^@{}])")
_AT_A_LINES_START = re.compile(r"^(\d*)([-+=:.)])", re.MULTILINE)


def parts(counted: Counted) -> Markdown:
    """The tokens of each part and of the template, each with its share, and all of them."""
    whole = counted.prompt_tokens
    named = [(part.name, part.tokens) for part in counted.parts]
    added = counted.template_tokens
    rows = [
        [name, fixed(tokens), share(tokens / whole).replace("<", "&lt;")]
        for name, tokens in [*named, *([("the model's template", added)] if added >= 0 else [])]
    ]
    rows.append(["the whole request", fixed(whole), ""])
    caption = f"Counted by {counted.model}, part by part, in the order they are sent."
    if added < 0:
        caption += (
            f" The whole has {with_noun(-added, 'token')} fewer than its parts: the model's "
            "template leaves text out."
        )
    return table(["part", "tokens", "share"], rows, caption)


def ratio(answered: Answered) -> Markdown:
    """Tokens in for one out, beside the summary that the chapter cites."""
    prompt, output = claim("ws_prompt"), claim("ws_output")
    return say(
        f"**{_to_one(answered.prompt_tokens, answered.output_tokens)}** The chapter's example, "
        f"from the book's chapter 14, is a summary of {fixed(claim('news_words'))} words: "
        f"{_to_one(prompt, output)}"
    )


def took(answered: Answered) -> Markdown:
    """Seconds to the first token and to the last, and whose clock says so."""
    clock = {
        "client": "by the clock of this page",
        "server": "by the durations that the server reported: in replay nobody is waited for",
    }[answered.clock]
    return say(
        f"The first token came after {seconds(answered.ttft_s)}, the last after "
        f"{seconds(answered.total_s)}, {clock}."
    )


def reply(answered: Answered) -> Markdown:
    """The answer as a quotation, its characters shown as they came."""
    text = answered.text or "(nothing but blank space)"
    quoted = [f"> {line}".rstrip() for line in _lines(text)]
    end = "it ended by itself"
    if answered.done_reason == "length":
        end = "it was cut there, at the limit that it was given (num_predict)"
    who = f"> — {answered.model}, {with_noun(answered.output_tokens, 'token')}; {end}."
    return say("\n".join([*quoted, ">", who]))


def _to_one(prompt: float, output: float) -> str:
    read, written = with_noun(prompt, "token"), fixed(output)
    return f"{read} in, {written} out: {number(prompt / output)} read for one written."


def _lines(text: str) -> list[str]:
    """Text in which no character means anything to Markdown, and every line stays one."""
    plain = "\n".join(line.strip() for line in text.splitlines())
    literal = _AT_A_LINES_START.sub(r"\1\\\2", _MARKS.sub(r"\\\1", plain))
    return re.sub(r"(?<!\n)\n(?!\n)", "\\\\\n", literal).split("\n")
