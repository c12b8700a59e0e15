"""What lies in a cache folder, whether it is whole, and what can go.

Why: a cache that only grows fills the disk, and one that is cleaned by hand loses what a run is working on. Here what
a run needs is known from its record: the results it reads or makes, and through them the items. What was used last
the longest ago goes first, and nothing that a living run needs goes at all.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chunklab_core.cache.fallback import MARK
from chunklab_core.cache.files import remove
from chunklab_core.cache.protocol import Items, MissingError, Ref, stage_of
from chunklab_core.cache.runs import RunRecord, coming, last_use, living, no_run_begins, records, refs_in_use
from chunklab_core.cache.store import Store
from chunklab_core.errors import CacheRefusedError, ConfigError

_FOLDERS = ("results", "items", "prefect", "runs")
_UNFINISHED = ("killed", "stopped", "failed")
_HALF = (".writing-", ".damaged-")  # beginnings of the names of files half written, or set aside
_HEX = re.compile(r"[0-9a-f]{4,64}")
_RUN = re.compile(r"\d{8}T\S+\.(json|lock)")
_JUST_NOW = timedelta(minutes=10)  # the inputs of a run are written before it is on record
_ROW_BYTES = 48  # of a row beside its value: its key, its checksum and what SQLite adds

_progress = logging.getLogger("chunklab_core.progress")


@dataclass(frozen=True, slots=True)
class Part:
    """One stage's results, or one shelf's items. `n_bytes` is what it takes on the disk."""

    name: str
    count: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """What lies in a cache folder.

    Attributes:
        results: by stage, in the order of their names.
        shelves: the items, by shelf.
        n_bytes: of the whole folder, Prefect's records and those of the runs included.
        n_runs: runs on record.
        n_living: runs that are going on.
        last_used: when the last run on record ended, or began where it has not ended; None without a run.
        n_unused: results that no run on record has read or made.
    """

    results: tuple[Part, ...]
    shelves: tuple[Part, ...]
    n_bytes: int
    n_runs: int
    n_living: int
    last_used: datetime | None
    n_unused: int


@dataclass(frozen=True, slots=True)
class Verified:
    """How many results and items were read, and which were damaged; those are gone and will be made anew."""

    n_results: int
    n_items: int
    damaged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was taken away, and what is left."""

    n_results: int
    n_items: int
    freed_bytes: int
    left_bytes: int
    n_spared: int  # results that would have gone, were they not needed by a run that is going on


def inventory(store: Store) -> Inventory:
    """What lies in a cache folder; reads no result, so it is quick."""
    refs, known, used = store.refs(), list(records(store)), last_use(store)
    count, sizes = Counter(map(stage_of, refs)), Counter[str]()
    for ref in refs:
        sizes[stage_of(ref)] += _size(store.path_of(ref))
    shelves = tuple(
        Part(name, len(store.shelves.sizes(name)), _size(store.shelves.folder / name)) for name in store.shelves.names()
    )
    return Inventory(
        results=tuple(Part(stage, count[stage], sizes[stage]) for stage in sorted(count)),
        shelves=shelves,
        n_bytes=_size(store.root),
        n_runs=len(known),
        n_living=len(living(store)),
        last_used=max((record.ended or record.started for record in known), default=None),
        n_unused=sum(ref not in used for ref in refs),
    )


def verify(store: Store) -> Verified:
    """Reads everything and checks it; what is damaged is taken away, so that the next run makes it anew."""
    refs, shelves, damaged, n_items = store.refs(), store.shelves.names(), [], 0
    of, kept = len(refs) + len(shelves), dict[str, set[bytes]]()
    for done, shelf in enumerate(shelves):
        _tell(done, of)
        whole, broken = store.shelves.check(shelf)
        kept[shelf] = {key for key, _ in store.shelves.sizes(shelf)}
        n_items += whole + broken
        damaged += [f"{broken} items of {shelf}"] if broken else []
    for done, ref in enumerate(refs, start=len(shelves)):
        _tell(done, of)
        if not _stands(store, ref, kept):
            store.discard(ref)
            damaged.append(ref)
    _tell(of, of)
    return Verified(len(refs), n_items, tuple(damaged))


def _stands(store: Store, ref: Ref, kept: Mapping[str, set[bytes]]) -> bool:
    """Whether a result is whole, and all items it leans on are among those that were found whole."""
    try:
        items = store.leans_on(ref)
    except MissingError:
        return False
    return items is None or kept.get(items.shelf, set()).issuperset(items.keys)


def _tell(done: int, of: int) -> None:
    _progress.info("cache verify: %d of %d", done, of, extra={"chunklab": ("cache", "verify", done, of)})


def prune(
    store: Store, *, unused_since: datetime | None = None, max_bytes: int | None = None, unused: bool = False
) -> Pruned:
    """Takes away what was used last the longest ago; never what a run that is going on reads or makes.

    An item goes with the last result that leans on it. Items on which no result leans (finished batches of a run that
    was killed, vectors of a semantic chunker's sentences) go under `max_bytes` and `unused` only, and only where the
    newest run has ended well, for else the next one takes them over.

    Args:
        store: the cache.
        unused_since: results that no run has used since then go.
        max_bytes: as many go as needed for results and items to take no more than this.
        unused: what the latest run of each pair of documents and questions does not need goes.
    """
    if not _holds_anything(store.root):
        return Pruned(0, 0, 0, 0, 0)
    with _alone(store):
        before = _size(store.root)
        holdings = _Holdings(store)
        orphans = unused or max_bytes is not None
        chosen = holdings.chosen(unused_since, max_bytes, unused)
        n_items = holdings.forget(chosen - holdings.in_use, orphans=orphans)
        _sweep(store)
        left = _size(store.root)
    n_spared = len(chosen & holdings.in_use)
    return Pruned(len(chosen) - n_spared, n_items, max(0, before - left), left, n_spared)


@contextlib.contextmanager
def _alone(store: Store) -> Iterator[None]:
    """While it lasts no run begins. Raises ConfigError where nothing can be taken away."""
    try:
        with no_run_begins(store):
            if coming(store):
                raise ConfigError(f"A run is starting that will need {store.root}. Try again in a moment.")
            yield
    except (OSError, NotImplementedError) as error:  # the latter from a file system without locks
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"The cache folder {store.root} cannot be changed ({reason}). Name another with --cache-dir."
        ) from error


def _sweep(store: Store) -> None:
    """Takes away what killed runs and older formats left: files half written, set aside, or read by nobody."""
    old = [path for path in (store.root / "items").rglob("*.sqlite*") if not path.name.startswith("items.sqlite")]
    left = [path for kind in (".writing-*", ".damaged-*") for path in store.root.rglob(kind)]
    for path in [*old, *left]:
        with contextlib.suppress(OSError):
            if datetime.fromtimestamp(path.stat().st_mtime, UTC) < datetime.now(UTC) - _JUST_NOW:
                remove(path)


def clear(store: Store) -> int:
    """Takes away everything that chunklab keeps in the folder, and nothing else; returns the bytes that it took.

    Raises:
        ConfigError: a run is going on.
    """
    if not _holds_anything(store.root):
        return 0
    with _alone(store):
        alive = living(store)
        if alive:
            raise ConfigError(
                f"{_runs(len(alive))} going on in {store.root}. Wait for the end, or name another with --cache-dir."
            )
        before = _size(store.root)
        store.close()
        for path in _ours(store.root):
            remove(path)
        for name in _FOLDERS:
            _remove_if_empty(store.root / name)
        return before - _size(store.root)


def check_is_cache(root: Path) -> None:
    """Raises ConfigError for what is there and was never a cache; a folder that is not there yet, or empty, may be."""
    if root.exists() and not root.is_dir():
        raise ConfigError(f"{root} is no folder. Name the folder of a cache with --cache-dir.")
    if _holds_anything(root) and not (root / MARK).is_file():
        raise ConfigError(
            f"{root} is no cache: a run leaves a file {MARK!r} there. Name the folder of a cache with --cache-dir."
        )


def _holds_anything(root: Path) -> bool:
    return root.is_dir() and any(root.iterdir())


def _ours(root: Path) -> Iterator[Path]:
    """All that chunklab writes into a cache; a user's file that lies among it is none of it."""
    for path in (root / "results").glob("*/??/*"):
        if (_HEX.fullmatch(path.name) and path.name.startswith(path.parent.name)) or path.name.startswith(_HALF):
            yield path
    for kind in ("items.sqlite*", "*.sqlite", "*.sqlite-*", "*.claims", ".damaged-*"):
        yield from (root / "items").rglob(kind)
    yield from (path for path in (root / "prefect").glob("*-*") if _HEX.fullmatch(path.name.rpartition("-")[2]))
    runs = [path for path in (root / "runs").glob("*") if _RUN.fullmatch(path.name) or path.name == "queue"]
    yield from [*runs, *(root / "runs").glob(".writing-*"), *(root / "runs" / "made").glob("*-*.json"), root / MARK]


def _remove_if_empty(folder: Path) -> None:
    """Takes away the empty folders in a folder, and itself if it is one then."""
    if folder.is_dir() and not folder.is_symlink():
        for path in list(folder.iterdir()):
            _remove_if_empty(path)
        with contextlib.suppress(OSError):
            folder.rmdir()


def _runs(number: int) -> str:
    return "A run is" if number == 1 else f"{number} runs are"


class _Holdings:
    """The results of a cache with what leans on what, and when each was used last."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._alive = bool(living(store))
        self.in_use = refs_in_use(store)
        self._runs = list(records(store))
        used = last_use(store)
        self._used = {ref: used.get(ref) or _written(store.path_of(ref)) for ref in store.refs()}
        just_now = datetime.now(UTC) - _JUST_NOW
        self._begun = {ref for ref, at in self._used.items() if ref not in used and at > just_now}

    def chosen(self, since: datetime | None, max_bytes: int | None, unused: bool) -> set[Ref]:
        """The results that are to go, those in use not excepted."""
        gone = {ref for ref, at in self._used.items() if since is not None and at < since}
        if unused:
            needed = {ref for record in _latest_of_each(self._runs) for ref in record.refs}
            gone |= self._used.keys() - needed - self._begun
        return gone if max_bytes is None else gone | self._oldest(max_bytes)

    def forget(self, gone: Collection[Ref], *, orphans: bool) -> int:
        """Takes results away, with the items that none of the others leans on; returns how many items went.

        While a run is going on, items stay: it may have found some that no result of its own leans on yet.
        """
        leaning, left = self._items_of(gone), self._items_of(self._used.keys() - gone)
        for ref in gone:
            self._store.discard(ref)
            remove(self._store.root / "prefect" / ref.replace("/", "-"))
        if self._alive:
            return 0
        orphans = orphans and (not self._runs or self._runs[0].how not in _UNFINISHED)
        n_gone = 0
        for shelf in self._store.shelves.names():
            there = {key for key, _ in self._store.shelves.sizes(shelf)}
            here = (there if orphans else there & leaning.get(shelf, set())) - left.get(shelf, set())
            if here == there:
                self._store.shelves.drop(shelf)
            elif here:
                self._store.discard_items(shelf, here)
                with contextlib.suppress(CacheRefusedError):  # a full disk; the room is there for items to come
                    self._store.shelves.compact(shelf)
            n_gone += len(here)
        return n_gone

    def _oldest(self, max_bytes: int) -> set[Ref]:
        """The results that were used last the longest ago, as many as must go; those of one moment go together."""
        in_use = dict.fromkeys(sorted(set(self._used.values())), 0)
        for ref, at in self._used.items():
            in_use[at] += _size(self._store.path_of(ref))
        for at, n_bytes in self._item_bytes():
            in_use[at] += n_bytes
        total, last = sum(in_use.values()), None
        for at, n_bytes in in_use.items():
            if total <= max_bytes:
                break
            total, last = total - n_bytes, at
        return {ref for ref, at in self._used.items() if last is not None and at <= last}

    def _item_bytes(self) -> Iterator[tuple[datetime, int]]:
        """What each item takes that a result leans on, with the last use of any of them."""
        newest: dict[str, dict[bytes, datetime]] = {}
        for ref, at in sorted(self._used.items(), key=lambda item: item[1]):
            leaning = self._leaning(ref)
            if leaning is not None:
                newest.setdefault(leaning.shelf, {}).update(dict.fromkeys(leaning.keys, at))
        for shelf, used in newest.items():
            yield from ((used[key], n + _ROW_BYTES) for key, n in self._store.shelves.sizes(shelf) if key in used)

    def _leaning(self, ref: Ref) -> Items | None:
        """What a result leans on; a damaged one leans on nothing, for it will be made anew."""
        try:
            return self._store.leans_on(ref)
        except MissingError:
            return None

    def _items_of(self, refs: Collection[Ref]) -> dict[str, set[bytes]]:
        """By shelf, the items that any of these results leans on."""
        found: dict[str, set[bytes]] = {}
        for ref in refs:
            leaning = self._leaning(ref)
            if leaning is not None:
                found.setdefault(leaning.shelf, set()).update(leaning.keys)
        return found


def _latest_of_each(runs: Collection[RunRecord]) -> Iterator[RunRecord]:
    """Of every pair of documents and questions, the newest run that ended well."""
    seen = set()
    for record in runs:  # newest first
        pair = record.explained.get("folder"), record.explained.get("asked_in")
        if record.how == "done" and pair not in seen:
            seen.add(pair)
            yield record


def _size(path: Path) -> int:
    """Bytes of a file, or of all files under a folder; what vanishes meanwhile counts 0."""
    if path.is_file():
        return path.stat().st_size
    total = 0
    for file in path.rglob("*"):
        with contextlib.suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _written(path: Path) -> datetime:
    """When a file was written; now, where it has just gone."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.now(UTC)
