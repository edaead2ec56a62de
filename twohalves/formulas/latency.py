"""How long one request takes: two rates added up, or two fitted curves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Seconds of one request, by half."""

    prefill_s: float
    """Seconds spent reading the prompt."""
    decode_s: float
    """Seconds spent writing the answer."""

    @property
    def total_s(self) -> float:
        """Seconds of the whole request."""
        return self.prefill_s + self.decode_s

    @property
    def prefill_share(self) -> float:
        """Part of the total that is prefill, a fraction; 0 for a request without tokens."""
        return self.prefill_s / self.total_s if self.total_s else 0.0


def crude_latency(
    prompt_tokens: float, output_tokens: float, prefill_tok_s: float, decode_tok_s: float
) -> Latency:
    """The crude model of section 31.1: each half is its tokens over its rate.

    latency = prompt_tokens / prefill_tok_s + output_tokens / decode_tok_s

    It holds both rates fixed, counts nothing that belongs to neither half, and charges the
    first output token to decode although prefill already produced it.

    Args:
        prompt_tokens: tokens read, at least 0.
        output_tokens: tokens written, at least 0.
        prefill_tok_s: prompt tokens per second, above 0.
        decode_tok_s: output tokens per second, above 0.

    Raises:
        ValueError: a negative count, or a rate that is not above 0.

    >>> round(crude_latency(4000, 100, 2000, 190).total_s, 2)
    2.53
    """
    counts = {"prompt_tokens": prompt_tokens, "output_tokens": output_tokens}
    for name, count in counts.items():
        if not count >= 0:
            msg = f"{name} must be at least 0, got {count}"
            raise ValueError(msg)
    rates = {"prefill_tok_s": prefill_tok_s, "decode_tok_s": decode_tok_s}
    for name, rate in rates.items():
        if not rate > 0:
            msg = f"{name} must be above 0, got {rate}"
            raise ValueError(msg)
    return Latency(prefill_s=prompt_tokens / prefill_tok_s, decode_s=output_tokens / decode_tok_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLatency:
    """The two halves with what the crude model leaves out: fixed costs, and growing ones.

    seconds to the first token of n prompt tokens = t0 + a * n + b * n^2
    seconds of one step with k tokens in the context = c + d * k

    Attention looks at every pair of prompt tokens (b) and, in each step, at all tokens so far
    (d); the other work of a token is the same wherever it stands (a, c). t0 is paid once.
    """

    t0_s: float
    """Seconds that a request costs before its first token, whatever its length."""
    a_s: float
    """Seconds a prompt token."""
    b_s: float
    """Seconds a prompt token squared."""
    c_s: float
    """Seconds a step of decode with nothing in the context."""
    d_s: float
    """Seconds a step and token of context."""

    def ttft_s(self, prompt_tokens: float) -> float:
        """Seconds to the first token."""
        return self.t0_s + self.a_s * prompt_tokens + self.b_s * prompt_tokens**2

    def step_s(self, context_tokens: float) -> float:
        """Seconds of one step of decode with so many tokens in the context."""
        return self.c_s + self.d_s * context_tokens

    def total_s(self, prompt_tokens: float, output_tokens: float) -> float:
        """Seconds to the last token.

        The first of m tokens comes with the prompt. The k-th step after it finds n + k tokens
        in the context; over k = 1 .. m - 1 that is n + m / 2 on average, so the steps take
        (m - 1) * (c + d * (n + m / 2)).

        Args:
            prompt_tokens: n, at least 0.
            output_tokens: m, at least 1.

        Raises:
            ValueError: no prompt length, or no answer at all.

        >>> flat = FittedLatency(t0_s=0.1, a_s=0.001, b_s=0, c_s=0.01, d_s=0)
        >>> round(flat.total_s(500, 101), 3)
        1.6
        """
        if not prompt_tokens >= 0:
            msg = f"prompt_tokens must be at least 0, got {prompt_tokens}"
            raise ValueError(msg)
        if not output_tokens >= 1:
            msg = f"output_tokens must be at least 1, got {output_tokens}"
            raise ValueError(msg)
        mean_context = prompt_tokens + output_tokens / 2
        return self.ttft_s(prompt_tokens) + (output_tokens - 1) * self.step_s(mean_context)
