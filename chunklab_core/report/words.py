"""Numbers and lists of names, as sentences of the report write them."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, thing: str) -> str:
    """A number with its thing: "1 cell", "1,200 cells"."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def some(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
