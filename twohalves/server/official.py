"""The official client's package. Every module of ours takes it from here.

Importing it makes a client from the environment at once, and a variable that this client cannot
read would end the import, whether or not that client is ever used.
"""

from __future__ import annotations

from twohalves.server.variables import NOT_UNDERSTOOD, hidden

try:
    import ollama
except NOT_UNDERSTOOD:
    with hidden():
        import ollama

__all__ = ["ollama"]
