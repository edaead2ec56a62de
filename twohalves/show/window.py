"""A window too small: how the counts betray a prompt that was cut without a word."""

from __future__ import annotations

from IPython.display import Markdown

from twohalves.server.counters import cut_counts
from twohalves.show.markdown import say
from twohalves.show.numbers import fixed


def was_it_cut(counted: int | None, text: str, window: int) -> Markdown:
    """Whether the server read less than it was sent, judged by its own count.

    A word is at least one token, so fewer tokens than words cannot be the whole prompt.

    Args:
        counted: `prompt_eval_count` of the answer; None if it was not told.
        text: the prompt as sent.
        window: `num_ctx` as asked for, tokens.
    """
    words = len(text.split())
    if counted is None:
        return say("The server did not say how many tokens it read, so nobody can tell.")
    if counted >= words:
        return say(
            f"**Not cut**, as far as counts can tell: {fixed(counted)} tokens were read for "
            f"{fixed(words)} words, in a window of {fixed(window)}."
        )
    return say(
        f"**Cut.** The prompt has {fixed(words)} words, so at least as many tokens. The server "
        f"read {fixed(counted)}{_signature(counted, window)}. The answer came all the same, with "
        "no error and no warning in it."
    )


def _signature(counted: int, window: int) -> str:
    """What the count says of the way it was cut."""
    signs = {
        ", exactly the window": cut_counts(window, "window"),
        ", one less than the window": cut_counts(window, "one less"),
        f": half of the window of {fixed(window)} and the few first tokens that are spared": (
            cut_counts(window, "half")
        ),
    }
    return next((said for said, counts in signs.items() if counted in counts), "")
