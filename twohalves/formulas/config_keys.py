"""The keys of a Hugging Face config.json: where they stand, what families call them, which lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twohalves.errors import KvShapeUnknown

_TEXT_PARTS = ("thinker_config", "text_config", "language_config", "llm_config")
"""Where a model that also sees or hears keeps the part that writes; one may stand in another."""
_MOST = 1_000_000
"""A count above this is damage."""


def text_part(config: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The part of a file that is about the model that writes, and the path to it.

    >>> text_part({"thinker_config": {"text_config": {"hidden_size": 2048}}})
    ('thinker_config.text_config.', {'hidden_size': 2048})
    """
    path, own = "", config
    while part := next((p for p in _TEXT_PARTS if isinstance(own.get(p), Mapping)), ""):
        path, own = f"{path}{part}.", own[part]
    return path, own


class ConfigKeys:
    """A model's keys: which were read, and which are missing or not understood."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._path, self._own = text_part(config)
        told = self._own.get("model_type") or config.get("model_type")
        self.family = told.removesuffix("_text") if isinstance(told, str) else ""
        self.read: list[str] = []
        self.missing: set[str] = set()

    @property
    def is_part(self) -> bool:
        """True if the keys stand in a part of the file, where defaults may be left out."""
        return bool(self._path)

    def get(self, key: str) -> Any:  # noqa: ANN401 - what a file holds
        """A value; None = absent or null. A dot leads into a table."""
        value: Any = self._own
        for step in key.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            self.read.append(self.name(key))
        return value

    def is_null(self, key: str) -> bool:
        """True if the key is there and says null."""
        return key in self._own and self._own[key] is None

    def name(self, key: str) -> str:
        """The key with the part of the file that it stands in."""
        return self._path + key

    def lack(self, key: str) -> None:
        """Note a key that is missing or not understood."""
        self.missing.add(self.name(key))

    def refuse(self) -> None:
        """Raise what was noted.

        Raises:
            KvShapeUnknown: keys were missing or not understood.
        """
        if self.missing:
            raise KvShapeUnknown(self.family or "the model", tuple(sorted(self.missing)))

    def first(self, *keys: str) -> str | None:
        """The first of several names that has a value."""
        return next((key for key in keys if self.get(key) is not None), None)

    def whole(self, *keys: str) -> int:
        """A count above zero under one of several names; it must be there."""
        value = self.get(self.first(*keys) or keys[0])
        if is_count(value):
            return int(value)
        self.lack(keys[0])
        return 0

    def optional(self, *keys: str) -> int:
        """The same, but it may be absent, null or 0."""
        key = self.first(*keys)
        return 0 if key is None or self.get(key) == 0 else self.whole(key)

    def told(self, *keys: str) -> int:
        """A count that only a note depends on; 0 = not told, or not believable."""
        value = self.get(self.first(*keys) or keys[0])
        return int(value) if is_count(value) else 0

    def listed(self, key: str) -> Sequence[Any] | None:
        """A list; None = absent, or no list."""
        value = self.get(key)
        return value if isinstance(value, list | tuple) else None


def is_count(value: object) -> bool:
    """True for a whole number above zero that is believable."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST
