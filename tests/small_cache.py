"""A small cache for the tests of pruning and maintenance."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chunklab_core.cache import runs
from chunklab_core.cache.fallback import MARK
from chunklab_core.cache.files import write_atomically
from chunklab_core.cache.protocol import Items, Ref
from chunklab_core.cache.store import Store

OLD, NEW = Ref("chunk/0001"), Ref("chunk/0002")
SHARED, ONLY_OLD, ONLY_NEW, ORPHAN = (bytes([at]) * 32 for at in range(4))


def ago(**span: float) -> datetime:
    return datetime.now(UTC) - timedelta(**span)


def filled(folder: Path) -> Store:
    """Two results that share an item, and an item that no result needs."""
    store = Store(folder)
    write_atomically(store.root / MARK, [b"3\n"])
    store.put_items("chunk", {SHARED: b"s" * 50_000, ONLY_OLD: b"o" * 50_000, ONLY_NEW: b"n", ORPHAN: b"x"})
    store.write(OLD, b"old" * 1000, Items("chunk", (SHARED, ONLY_OLD)))
    store.write(NEW, b"new", Items("chunk", (SHARED, ONLY_NEW)))
    for days, ref in ((40, OLD), (1, NEW)):
        at = ago(days=days).timestamp()
        os.utime(store.path_of(ref), (at, at))  # no run is recorded, so the time of the file counts
    return store


def ran(store: Store, *refs: Ref, **explained: str) -> None:
    with runs.begin(store, Ref("inputs/1"), refs, explained):
        pass
