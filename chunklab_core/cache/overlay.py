"""An overlay: a new folder over an old one that is only read.

Why: where the cache folder is read-only or full, a run still reuses its results and writes new ones elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from chunklab_core.cache.files import write_atomically
from chunklab_core.cache.protocol import Items, MissingError, Ref
from chunklab_core.cache.store import Store

_BELOW = "below"  # the file in the new folder that names the old one


def lay_over(folder: Path, below: Path) -> None:
    """Makes a new folder an overlay over a store; `open_store` opens it as one."""
    write_atomically(folder / _BELOW, [str(below.absolute()).encode("utf-8", "surrogateescape")])


def open_store(root: str | Path) -> Store:
    """The store in a folder, or the overlay over another store."""
    try:
        below = (Path(root) / _BELOW).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return Store(root)
    return Overlay(root, Store(below, writable=False))


class Overlay(Store):
    """Reads its own folder first, then the store below; writes to its own folder only.

    A result or item removed here stays below. A mark hides it: an empty one under its name with `hidden` before it.
    """

    def __init__(self, root: str | Path, below: Store) -> None:
        super().__init__(root)
        self.below = below

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders that it reads, its own first."""
        return (*super().roots, *self.below.roots)

    def holds(self, ref: Ref) -> bool:
        """Whether there is a result of this name here, or below and not hidden."""
        return super().holds(ref) or self._shows_below(ref)

    def discard(self, ref: Ref) -> None:
        """Removes a result here, and hides it below."""
        super().discard(ref)
        if self._shows_below(ref):
            self.write(_hidden(ref), b"")

    def get_items(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The intact items of a shelf, by key, from here or from below; the others are left out."""
        found = super().get_items(shelf, keys)
        missing = [key for key in keys if key not in found]
        below = self.below.get_items(shelf, missing) if missing else {}
        hidden = super().get_items(_hidden_shelf(shelf), list(below)) if below else {}
        return found | {key: value for key, value in below.items() if key not in hidden}

    def discard_items(self, shelf: str, keys: Iterable[bytes]) -> None:
        """Removes items here, and hides them below."""
        removed = list(keys)
        super().discard_items(shelf, removed)
        self.put_items(_hidden_shelf(shelf), dict.fromkeys(removed, b""))

    def _shows_below(self, ref: Ref) -> bool:
        return self.below.holds(ref) and not super().holds(_hidden(ref))

    def _read(self, ref: Ref) -> tuple[Items | None, bytes]:
        if super().holds(ref) or not self._shows_below(ref):
            return super()._read(ref)
        try:
            return self.below._read(ref)
        except MissingError:
            self.discard(ref)
            raise


def _hidden(ref: Ref) -> Ref:
    return Ref(f"hidden-{ref}")


def _hidden_shelf(shelf: str) -> str:
    return f"hidden/{shelf}"
