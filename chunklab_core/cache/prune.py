"""Pruning: removes the results that were used longest ago, with the items that nothing else needs.

Why: a cache that only grows fills the disk, and deleting by hand breaks running runs. The record of a run shows what it
needs: the results that it reads or makes, and through them the items. Nothing that a running run needs is removed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chunklab_core.cache.files import remove
from chunklab_core.cache.maintenance import holds_anything, removal, size_of
from chunklab_core.cache.protocol import Items, MissingError, Ref
from chunklab_core.cache.run_records import RunRecord
from chunklab_core.cache.runs import last_use, living, records, refs_in_use
from chunklab_core.cache.store import Store
from chunklab_core.errors import CacheRefusedError

_UNFINISHED = ("killed", "stopped", "failed")
_JUST_NOW = timedelta(minutes=10)  # a run writes its inputs before its record
_ROW_BYTES = 48  # of a row beside its value: its key, its checksum and what SQLite adds


@dataclass(frozen=True, slots=True)
class Pruned:
    """The numbers of removed results and items, and the bytes that are free now and still taken."""

    n_results: int
    n_items: int
    freed_bytes: int
    left_bytes: int
    n_spared: int  # results that would have been removed, but a running run needs them


def prune(
    store: Store, *, unused_since: datetime | None = None, max_bytes: int | None = None, unused: bool = False
) -> Pruned:
    """Removes what was used longest ago, but nothing that a running run reads or makes.

    An item is removed with the last result that needs it. Items that no result needs (finished batches of a killed run,
    vectors of a semantic chunker's sentences) are removed under `max_bytes` and `unused` only, and only where the
    newest run ended well: otherwise the next run reuses them.

    Args:
        store: the cache.
        unused_since: removes the results that no run has used since then.
        max_bytes: removes as much as needed for results and items to take no more than this.
        unused: removes what the latest run of each pair of documents and questions does not need.
    """
    if not holds_anything(store.root):
        return Pruned(0, 0, 0, 0, 0)
    with removal(store):
        before = size_of(store.root)
        holdings = _Holdings(store)
        orphans = unused or max_bytes is not None
        chosen = holdings.choose(unused_since, max_bytes, unused)
        n_items = holdings.remove(chosen - holdings.in_use, orphans=orphans)
        _sweep(store)
        left = size_of(store.root)
    n_spared = len(chosen & holdings.in_use)
    return Pruned(len(chosen) - n_spared, n_items, max(0, before - left), left, n_spared)


class _Holdings:
    """The results of a cache, the items that each needs, and when each was used last."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._is_any_running = bool(living(store))
        self.in_use = refs_in_use(store)
        self._runs = list(records(store))
        used = last_use(store)
        self._used = {ref: used.get(ref) or _written(store.path_of(ref)) for ref in store.refs()}
        just_now = datetime.now(UTC) - _JUST_NOW
        self._just_written = {ref for ref, time in self._used.items() if ref not in used and time > just_now}

    def choose(self, since: datetime | None, max_bytes: int | None, unused: bool) -> set[Ref]:
        """The results to remove, those in use included."""
        chosen = {ref for ref, time in self._used.items() if since is not None and time < since}
        if unused:
            needed = {ref for record in _latest_of_each(self._runs) for ref in record.refs}
            chosen |= self._used.keys() - needed - self._just_written
        return chosen if max_bytes is None else chosen | self._oldest(max_bytes)

    def remove(self, refs: Collection[Ref], *, orphans: bool) -> int:
        """Removes results, with the items that no other result needs; returns the number of removed items.

        While a run is running, all items stay: it may have found some that no result of its own needs yet.
        """
        freed, needed = self._items_of(refs), self._items_of(self._used.keys() - refs)
        for ref in refs:
            self._store.discard(ref)
            remove(self._store.root / "prefect" / ref.replace("/", "-"))
        if self._is_any_running:
            return 0
        orphans = orphans and (not self._runs or self._runs[0].how not in _UNFINISHED)
        n_removed = 0
        for shelf in self._store.shelves.names():
            stored = {key for key, _ in self._store.shelves.sizes(shelf)}
            removed = (stored if orphans else stored & freed.get(shelf, set())) - needed.get(shelf, set())
            if removed == stored:
                self._store.shelves.drop(shelf)
            elif removed:
                self._store.discard_items(shelf, removed)
                with contextlib.suppress(CacheRefusedError):  # the disk is full; new items will use the space
                    self._store.shelves.compact(shelf)
            n_removed += len(removed)
        return n_removed

    def _oldest(self, max_bytes: int) -> set[Ref]:
        """As many of the results used longest ago as must be removed; results of one moment stay together."""
        sizes = dict.fromkeys(sorted(set(self._used.values())), 0)
        for ref, time in self._used.items():
            sizes[time] += size_of(self._store.path_of(ref))
        for time, n_bytes in self._item_sizes():
            sizes[time] += n_bytes
        total, last = sum(sizes.values()), None
        for time, n_bytes in sizes.items():
            if total <= max_bytes:
                break
            total, last = total - n_bytes, time
        return {ref for ref, time in self._used.items() if last is not None and time <= last}

    def _item_sizes(self) -> Iterator[tuple[datetime, int]]:
        """The last use and the size of each item that a result needs."""
        newest: dict[str, dict[bytes, datetime]] = {}
        for ref, time in sorted(self._used.items(), key=lambda use: use[1]):
            items = self._needs(ref)
            if items is not None:
                newest.setdefault(items.shelf, {}).update(dict.fromkeys(items.keys, time))
        for shelf, used in newest.items():
            yield from ((used[key], n + _ROW_BYTES) for key, n in self._store.shelves.sizes(shelf) if key in used)

    def _needs(self, ref: Ref) -> Items | None:
        """The items that a result needs; a damaged result needs none, because it will be made again."""
        try:
            return self._store.needs(ref)
        except MissingError:
            return None

    def _items_of(self, refs: Collection[Ref]) -> dict[str, set[bytes]]:
        """By shelf, the items that any of these results needs."""
        found: dict[str, set[bytes]] = {}
        for ref in refs:
            items = self._needs(ref)
            if items is not None:
                found.setdefault(items.shelf, set()).update(items.keys)
        return found


def _latest_of_each(runs: Collection[RunRecord]) -> Iterator[RunRecord]:
    """The newest run that ended well, for each pair of documents and questions."""
    seen = set()
    for record in runs:  # newest first
        pair = record.explained.get("folder"), record.explained.get("asked_in")
        if record.how == "done" and pair not in seen:
            seen.add(pair)
            yield record


def _sweep(store: Store) -> None:
    """Removes files that killed runs and older formats left: half written, set aside, or read by no version."""
    old = [path for path in (store.root / "items").rglob("*.sqlite*") if not path.name.startswith("items.sqlite")]
    unfinished = [path for kind in (".writing-*", ".damaged-*") for path in store.root.rglob(kind)]
    for path in [*old, *unfinished]:
        with contextlib.suppress(OSError):
            if datetime.fromtimestamp(path.stat().st_mtime, UTC) < datetime.now(UTC) - _JUST_NOW:
                remove(path)


def _written(path: Path) -> datetime:
    """When a file was written; now, if it has just vanished."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.now(UTC)
