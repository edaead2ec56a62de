"""One answer to a reader's own request: its tokens, its seconds, its words as they came."""

import json
import pathlib

import pytest

from tests.servers.chatting import Chatting
from tests.servers.scripted import Answer
from twohalves import lab
from twohalves.errors import CountsUnusable, ServerBroke
from twohalves.measure import measure, open_book
from twohalves.measure.reply import Answered
from twohalves.show import counting

PROJECT = pathlib.Path(__file__).resolve().parents[1]
REQUEST = {"system": "Answer in one word.", "question": "Why is the sky blue?"}
PROMPT = 1 + 9 + 5 + 6
"""The server's own first token, three heads of three, and words and marks."""


def _saying(*records):
    lines = "".join(json.dumps(record) + "\n" for record in records)
    return Chatting().routes() | {"/api/chat": Answer(body=lines)}


def _message(**fields):
    return {"message": {"role": "assistant", "content": ""} | fields, "done": False}


END = {
    "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop",
    "prompt_eval_count": 20, "prompt_eval_duration": 500_000_000, "load_duration": 100_000_000,
    "eval_count": 5, "eval_duration": 400_000_000, "total_duration": 1_050_000_000,
}  # fmt: skip


def test_live_the_clients_clock_counts(opened):
    """Tokens by the server's counters; the first text comes before the end."""
    book, server = opened(Chatting().routes())
    answered = lab.answer(book, REQUEST, num_predict=7)

    assert (PROMPT, 7, "length", "client") == (
        answered.prompt_tokens, answered.output_tokens, answered.done_reason, answered.clock,
    )  # fmt: skip
    assert 0 < answered.ttft_s <= answered.total_s
    assert pytest.approx(PROMPT / 7) == answered.ratio
    asked = server.asked[-1].json
    assert [("system", REQUEST["system"]), ("user", REQUEST["question"])] == [
        (each["role"], each["content"]) for each in asked["messages"]
    ]
    assert (8192, 7, 0) == tuple(
        asked["options"][name] for name in ("num_ctx", "num_predict", "temperature")
    )


def test_in_replay_the_servers_durations_stand_in(opened):
    """60 ms of loading, 21 tokens at 2,000 a second, six steps at 190 a second."""
    book, server = opened(Chatting().routes())
    run = measure(book, experiment="prefill_decode")
    record = {"TWOHALVES_RUN": run.id, "TWOHALVES_RECORD": server.url}
    recorded = lab.answer(open_book(record, book.runs), REQUEST, num_predict=7)
    asked = len(server.asked)
    again = lab.answer(open_book({"TWOHALVES_RUN": run.id}, book.runs), REQUEST, num_predict=7)

    first = 0.060 + PROMPT / 2000
    assert again == recorded
    assert asked == len(server.asked)
    assert again.clock == "server"
    assert (first, first + 6 / 190) == pytest.approx((again.ttft_s, again.total_s), rel=1e-6)


def test_text_and_thinking_are_told_apart(opened):
    """Thinking is shown only if nothing else came; the first of either is the first token."""
    book, _ = opened(_saying(_message(thinking="Hm."), _message(content=" Blue. "), END))
    assert lab.answer(book, REQUEST).text == "Blue."

    book, _ = opened(_saying(_message(thinking="Hm, "), _message(thinking="well."), END))
    answered = lab.answer(book, REQUEST)
    assert answered.text == "Hm, well."
    assert answered.clock == "client"


def test_an_answer_without_text_is_still_one(opened):
    """The client saw no first token, so the server's durations stand in, and are said to."""
    book, _ = opened(_saying(END))
    answered = lab.answer(book, REQUEST)

    assert (0.6, 1.05, "server") == (answered.ttft_s, answered.total_s, answered.clock)
    assert "nothing but blank space" in counting.reply(answered).data


def test_an_answer_that_breaks_off_is_none(opened):
    """No last record: no counters, and nothing made up."""
    book, _ = opened(_saying(_message(content="Blue")))
    with pytest.raises(ServerBroke, match="before it was done"):
        lab.answer(book, REQUEST)


@pytest.mark.parametrize("missing", ["prompt_eval_count", "eval_count"])
def test_an_answer_without_counters_is_refused(opened, missing):
    """Unknown is not zero."""
    last = {key: value for key, value in END.items() if key != missing}
    book, _ = opened(_saying(_message(content="Blue"), last))
    with pytest.raises(CountsUnusable, match=missing):
        lab.answer(book, REQUEST)


def _answered(**more):
    facts = {
        "model": "m", "text": "Blue.", "prompt_tokens": 272, "output_tokens": 16, "ttft_s": 0.5,
        "total_s": 1.25, "clock": "client", "done_reason": "stop",
    }  # fmt: skip
    return Answered(**facts | more)


def test_the_ratio_stands_beside_the_chapters():
    """272 / 16 = 17, and 890 / 53 = 16.79."""
    said = counting.ratio(_answered()).data

    assert "272 tokens in, 16 out: 17 read for one written." in said
    assert "300 words: 890 tokens in, 53 out: 16.8 read for one written." in said


@pytest.mark.parametrize(
    ("clock", "said"), [("client", "by the clock of this page"), ("server", "in replay")]
)
def test_the_seconds_say_whose_they_are(clock, said):
    """In replay nobody is waited for."""
    told = counting.took(_answered(clock=clock)).data

    assert "after 500 ms, the last after 1.25 s" in told
    assert said in told


def test_a_reply_is_shown_as_it_came():
    """No character of it means anything to Markdown, and each line stays one."""
    text = "# Blue *is* <b>a</b> $x$\n1. [see](http://a) | b_c\n- two\n\n    four"
    shown = counting.reply(_answered(text=text)).data.splitlines()

    assert shown == [
        r"> \# Blue \*is\* \<b\>a\</b\> <span>\$</span>x<span>\$</span>" + "\\",
        r"> 1\. \[see\](http://a) \| b\_c" + "\\",
        r"> \- two",
        ">",
        "> four",
        ">",
        "> — m, 16 tokens; it ended by itself.",
    ]
    cut = counting.reply(_answered(done_reason="length", output_tokens=1)).data
    assert cut.endswith(
        "> — m, 1 token; it was cut there, at the limit that it was given (num_predict)."
    )


def test_the_article_to_summarize_has_three_hundred_words():
    """As the one that the chapter cites."""
    text = (PROJECT / "data" / "text" / "article.txt").read_text(encoding="utf-8")

    assert len(text.split()) == 300
