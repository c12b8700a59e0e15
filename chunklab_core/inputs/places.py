"""Where a setting was typed and what it is, in the words of an error message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chunklab_core.inputs.yaml import KeyPath


@dataclass(frozen=True, slots=True)
class Places:
    """The place of each key: an override, a line of a file, or the source as a whole."""

    source: str
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    overrides: dict[KeyPath, str] = field(default_factory=dict)

    def of(self, path: KeyPath) -> str:
        """The first words of a message about a key."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.overrides:
                return self.overrides[path[:end]]
            if path[:end] in self.lines and not self._is_overridden(path):
                return f"{self.source}, line {self.lines[path[:end]]}"
        return self.source

    def _is_overridden(self, path: KeyPath) -> bool:
        return any(path[:end] in self.overrides for end in range(1, len(path) + 1))


def described(value: object) -> str:
    """A value in a message; text and numbers look different."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value if len(value) <= 60 else value[:59] + '…'!r}"
    if isinstance(value, list | tuple):
        shown = [*map(described, value[:4]), *(["…"] if len(value) > 4 else [])]
        return f"a list of {len(value)} ({', '.join(shown)})" if value else "an empty list"
    return "a mapping" if isinstance(value, Mapping) else str(value)
