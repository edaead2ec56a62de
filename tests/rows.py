"""The rows of a run as a test asks for them, its audits, planted faults, apart; and rows made."""

from twohalves.runs import Timing


def timed(seq, tokens, prefill, cached=None, *, total=None, **more):
    """A row of which all but the prefill takes a second; seconds in, nanoseconds kept."""
    fields = {"experiments": "prompt_cache", "condition": str(tokens), **more}
    return Timing(
        run_id="r", seq=seq, prompt_eval_count=tokens, prompt_eval_cached_count=cached,
        prompt_eval_duration=round(prefill * 1e9), eval_count=32, eval_duration=10**9,
        sent_ns=0, done_ns=round((total or prefill + 1) * 1e9), **fields,
    )  # fmt: skip


def judged(run):
    """All that was asked in earnest."""
    return [row for row in run.timings if row.role != "audit"]


def invalid(run):
    """What does not count."""
    return [row for row in judged(run) if not row.valid]


def is_whole(run):
    """The plan, each request answered once, and no attempt twice; what is paired, in one go."""
    assert run.session["status"] == "complete"
    newest = {row.seq: row for row in judged(run) if row.role != "warmup"}
    planned = [r for r in run.session["plan"] if r["role"] not in {"warmup", "audit"}]
    assert {each["seq"] for each in planned} == set(newest)
    assert all(row.valid for row in newest.values())
    attempts = {}
    for row in newest.values():
        attempts.setdefault(row.pair or row.seq, set()).add(row.attempt)
    assert all(len(each) == 1 for each in attempts.values())
    keys = [(row.seq, row.attempt) for row in run.timings]
    assert len(keys) == len(set(keys))
