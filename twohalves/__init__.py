"""Two Halves: ask a server, time the answer, keep the row, compute from the rows.

Only the standard library may be imported here: ``python3 -m twohalves`` starts with nothing
installed.
"""
