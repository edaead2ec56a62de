"""How long one request takes: two rates added up, or two fitted curves."""

from __future__ import annotations

from dataclasses import dataclass

from twohalves.formulas.ranges import not_negative, positive


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
    not_negative(prompt_tokens=prompt_tokens, output_tokens=output_tokens)
    positive(prefill_tok_s=prefill_tok_s, decode_tok_s=decode_tok_s)
    return Latency(prefill_s=prompt_tokens / prefill_tok_s, decode_s=output_tokens / decode_tok_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLatency:
    """The two halves with what the crude model leaves out: fixed costs, and growing ones.

    seconds to the first token of n prompt tokens = t0 + a * n + b * n^2
    seconds of one step with k tokens in the context = c + d * k

    Attention looks at every pair of prompt tokens (b) and, in each step, at all tokens so far
    (d); the other work of a token is the same wherever it stands (a, c). t0 is paid once.

    Constant rates are the case b = d = 0: a = 1 / prefill rate, c = 1 / decode rate.
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
    warm_s: float = 0.0
    """Seconds that a prompt costs more when part of it comes from cache."""
    free_tokens: int = 1
    """Tokens of an answer that cost no step of decode: the first comes with the prompt."""

    def ttft_s(self, prompt_tokens: float, cached_tokens: float = 0) -> float:
        """Seconds to the first token.

        The k cached tokens are those at the beginning, so what is left to read is the end, and
        that looks back at everything: a * (n - k) + b * (n^2 - k^2). A cache that costs more
        time than it saves is passed over, so that no hit rate is slower than none.

        Args:
            prompt_tokens: n, at least 0.
            cached_tokens: k, from 0 to n.

        Raises:
            ValueError: counts that are no such prompt.

        >>> curve = FittedLatency(t0_s=0.1, a_s=0.001, b_s=1e-6, c_s=0, d_s=0)
        >>> round(curve.ttft_s(1000), 3), round(curve.ttft_s(1000, 600), 3)
        (2.1, 1.14)
        """
        n, k = prompt_tokens, cached_tokens
        if not 0 <= k <= n:
            msg = f"cached_tokens must be from 0 to the {n} of the prompt, got {k}"
            raise ValueError(msg)
        cold = self.t0_s + n * (self.a_s + self.b_s * n)
        if not k:
            return cold
        left = (n - k) * (self.a_s + self.b_s * (n + k))
        return min(cold, self.t0_s + self.warm_s + left)

    def saved_s(self, cached_tokens: float) -> float:
        """Seconds that the cached beginning of a prompt saves, never below 0.

        Args:
            cached_tokens: k, at least 0.
        """
        k = cached_tokens
        return max(0.0, k * (self.a_s + self.b_s * k) - self.warm_s)

    def step_s(self, context_tokens: float) -> float:
        """Seconds of one step of decode with so many tokens in the context."""
        return self.c_s + self.d_s * context_tokens

    def decode_s(self, prompt_tokens: float, output_tokens: float) -> float:
        """Seconds from the first token to the last.

        The k-th step finds n + k tokens in the context; over the steps that is n + m / 2 on
        average, so m tokens take (m - free) * (c + d * (n + m / 2)).

        Args:
            prompt_tokens: n, at least 0.
            output_tokens: m, at least 0.

        Raises:
            ValueError: a negative count.
        """
        not_negative(prompt_tokens=prompt_tokens, output_tokens=output_tokens)
        steps = max(output_tokens - self.free_tokens, 0)
        return steps * self.step_s(prompt_tokens + output_tokens / 2)

    def total_s(
        self, prompt_tokens: float, output_tokens: float, cached_tokens: float = 0
    ) -> float:
        """Seconds to the last token.

        Args:
            prompt_tokens: n, at least 0.
            output_tokens: m, at least 1.
            cached_tokens: k, from 0 to n.

        Raises:
            ValueError: no such prompt, or no answer at all.

        >>> flat = FittedLatency(t0_s=0.1, a_s=0.001, b_s=0, c_s=0.01, d_s=0)
        >>> round(flat.total_s(500, 101), 3)
        1.6
        """
        if not output_tokens >= 1:
            msg = f"output_tokens must be at least 1, got {output_tokens}"
            raise ValueError(msg)
        decode = self.decode_s(prompt_tokens, output_tokens)
        return self.ttft_s(prompt_tokens, cached_tokens) + decode


def constant_rates(prefill_tok_s: float, decode_tok_s: float, warm_s: float = 0.0) -> FittedLatency:
    """Two constant rates as curves; every output token is charged to decode.

    Args:
        prefill_tok_s: prompt tokens per second, above 0.
        decode_tok_s: output tokens per second, above 0.
        warm_s: seconds that a prompt costs more when part of it comes from cache.

    Raises:
        ValueError: a rate that is not above 0.

    The defaults of the widget of section 31.6, whose machine time is 1.86 s a request:

    >>> round(constant_rates(2025, 190, 0.015).total_s(4000, 200, 2400), 2)
    1.86
    """
    positive(prefill_tok_s=prefill_tok_s, decode_tok_s=decode_tok_s)
    return FittedLatency(
        t0_s=0,
        a_s=1 / prefill_tok_s,
        b_s=0,
        c_s=1 / decode_tok_s,
        d_s=0,
        warm_s=warm_s,
        free_tokens=0,
    )
