"""Ollama's HTTP protocol over llama.cpp: the server for a reader who has no Ollama.

It offers what the measurements need (/api/version, tags, show, ps, generate, chat) and that
completely; where it differs on purpose is listed in `differences`. It answers this machine only
and never claims to be Ollama. Nothing here is imported by the rest of the package but `serve`.
"""

from __future__ import annotations

from twohalves.server.builtin.launch import serve

__all__ = ["serve"]
