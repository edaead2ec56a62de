"""Who answers: find Ollama or start the built-in server, ask it, and know what it says.

What lives here: addresses, the official client made safe, the one border where its errors
become ours, models and the choice among them, the meaning of the counters, and in `builtin`
a server for readers who have none. What does not: timing (`measure`) and keeping (`runs`).
"""

from __future__ import annotations

from twohalves.server.answering import Server, Started, who
from twohalves.server.border import translated
from twohalves.server.cache_type import CacheType, cache_type
from twohalves.server.client import client, sender
from twohalves.server.counters import Meaning, by_version, meaning
from twohalves.server.find import find
from twohalves.server.model_facts import ModelFacts, facts
from twohalves.server.models import Model, choose, models
from twohalves.server.private import start
from twohalves.server.pull import Pulled, pull

__all__ = [
    "CacheType",
    "Meaning",
    "Model",
    "ModelFacts",
    "Pulled",
    "Server",
    "Started",
    "by_version",
    "cache_type",
    "choose",
    "client",
    "facts",
    "find",
    "meaning",
    "models",
    "pull",
    "sender",
    "start",
    "translated",
    "who",
]
