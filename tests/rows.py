"""The rows of a run as a test asks for them; its audits, faults planted on purpose, apart."""


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
