"""What a stage sees of the store: the names of results, the items they need, and how both are read and written.

Why: how results are stored shapes none of them, so a stage depends on this file and not on the store itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NewType, Protocol

Ref = NewType("Ref", str)
"""The name of a result: its stage, a slash, and its key. Small enough to pass from task to task."""

READ_TOGETHER = 100  # documents, or their chunks, in memory at once


class MissingError(KeyError):
    """A result or an item is not in the store, or is damaged there; the run can make it again."""


@dataclass(frozen=True, slots=True)
class Items:
    """The rows of a shelf that a result needs; without them the result is useless."""

    shelf: str
    keys: tuple[bytes, ...]


class ResultStore(Protocol):
    """The part of the store that stages use. See `chunklab_core.cache.store.Store`."""

    def read(self, ref: Ref) -> bytes:
        """The payload of a result. Raises MissingError when it is missing or damaged."""

    def items_of(self, ref: Ref) -> tuple[bytes, ...]:
        """The keys of the items that a result needs, in the order in which they were written."""

    def get_items(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The intact items of a shelf, by key; the others are left out."""

    def get_all_items(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The items of a shelf, by key. Raises MissingError when one of them is missing or damaged."""

    def missing_items(self, shelf: str, keys: Sequence[bytes]) -> list[bytes]:
        """The keys, in their order and each once, whose items are missing or damaged."""

    def put_items(self, shelf: str, items: Mapping[bytes, bytes]) -> None:
        """Stores items under their keys, all of them or none."""

    def claims_file(self, shelf: str) -> Path:
        """The file whose locks show which items of a shelf another process is making."""


def stage_of(ref: Ref) -> str:
    """The stage that made a result."""
    return ref.split("/", 1)[0]


def in_step(*lists: Sequence[Any]) -> Iterator[tuple[Sequence[Any], ...]]:
    """Lists of equal length, cut at the same places into parts that are read from the store together."""
    return (tuple(each[at : at + READ_TOGETHER] for each in lists) for at in range(0, len(lists[0]), READ_TOGETHER))
