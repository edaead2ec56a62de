"""How long one request takes: the two halves added up."""

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
