"""The one script that every page links: small files of one subject each, in a fixed order.

A page opened by double click cannot load modules, so the files are classic scripts that share one
object, `globalThis.TwoHalves`; each uses what those before it have put there.
"""

from __future__ import annotations

from twohalves.site.stage import STATIC

FOLDER = STATIC / "scripts"
PURE = (
    "numbers",
    "words",
    "scale",
    "accept",
    "start",
    "rates",
    "curve",
    "cost",
    "svg",
    "bars",
    "tables",
    "latency",
    "worksheet",
    "kv_cache",
    "roofline",
    "kinds",
)
"""Arithmetic and wording, twins of the Python half; they need no page."""
TOUCHED = (
    "nodes",
    "address",
    "csv",
    "picked",
    "linked",
    "kept",
    "typing",
    "field",
    "results",
    "buttons",
    "panel",
    "calculator",
    "page",
)
"""What a reader touches."""


def text() -> str:
    """The whole script; without a page (in node, say) only its functions."""
    files = [FOLDER / f"{name}.js" for name in (*PURE, *TOUCHED)]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)
