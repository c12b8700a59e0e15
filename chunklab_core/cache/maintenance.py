"""The contents of a cache folder: what it holds, whether it is intact, and how to clear it. See also `prune`."""

from __future__ import annotations

import contextlib
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from chunklab_core.cache.fallback import MARK
from chunklab_core.cache.files import remove
from chunklab_core.cache.protocol import MissingError, Ref, stage_of
from chunklab_core.cache.runs import is_one_starting, last_use, living, no_run_begins, records
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError

_FOLDERS = ("results", "items", "prefect", "runs")
_UNFINISHED_FILES = (".writing-", ".damaged-")  # first parts of the names of files half written, or set aside
_HEX = re.compile(r"[0-9a-f]{4,64}")
_RUN = re.compile(r"\d{8}T\S+\.(json|lock)")

_progress = logging.getLogger("chunklab_core.progress")


@dataclass(frozen=True, slots=True)
class Part:
    """One stage's results, or one shelf's items. `n_bytes` is their size on the disk."""

    name: str
    count: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """The contents of a cache folder.

    Attributes:
        results: by stage, sorted by name.
        shelves: the items, by shelf.
        n_bytes: of the whole folder, records of Prefect and of runs included.
        n_runs: recorded runs.
        n_living: running runs.
        last_used: when the last recorded run ended, or began where it has not ended; None without a run.
        n_unused: results that no recorded run has read or made.
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
    """How many results and items were read, and which were damaged; those are removed."""

    n_results: int
    n_items: int
    damaged: tuple[str, ...]


def inventory(store: Store) -> Inventory:
    """The contents of a cache folder. Quick, because it reads no result."""
    refs, recorded, used = store.refs(), list(records(store)), last_use(store)
    counts, sizes = Counter(map(stage_of, refs)), Counter[str]()
    for ref in refs:
        sizes[stage_of(ref)] += size_of(store.path_of(ref))
    names, shelves = store.shelves.names(), store.shelves
    return Inventory(
        results=tuple(Part(stage, counts[stage], sizes[stage]) for stage in sorted(counts)),
        shelves=tuple(Part(name, len(shelves.sizes(name)), size_of(shelves.folder / name)) for name in names),
        n_bytes=size_of(store.root),
        n_runs=len(recorded),
        n_living=len(living(store)),
        last_used=max((record.ended or record.started for record in recorded), default=None),
        n_unused=sum(ref not in used for ref in refs),
    )


def verify(store: Store) -> Verified:
    """Reads and checks everything; removes what is damaged, so that the next run makes it again."""
    refs, shelves, damaged, n_items = store.refs(), store.shelves.names(), [], 0
    total, intact_keys = len(refs) + len(shelves), dict[str, set[bytes]]()
    for done, shelf in enumerate(shelves):
        _show_progress(done, total)
        n_intact, n_damaged = store.shelves.check(shelf)
        intact_keys[shelf] = {key for key, _ in store.shelves.sizes(shelf)}
        n_items += n_intact + n_damaged
        damaged += [f"{n_damaged} items of {shelf}"] if n_damaged else []
    for done, ref in enumerate(refs, start=len(shelves)):
        _show_progress(done, total)
        if not _is_intact(store, ref, intact_keys):
            store.discard(ref)
            damaged.append(ref)
    _show_progress(total, total)
    return Verified(len(refs), n_items, tuple(damaged))


def _is_intact(store: Store, ref: Ref, intact_keys: Mapping[str, set[bytes]]) -> bool:
    """Whether a result and all items that it needs are intact."""
    try:
        items = store.needs(ref)
    except MissingError:
        return False
    return items is None or intact_keys.get(items.shelf, set()).issuperset(items.keys)


def _show_progress(done: int, total: int) -> None:
    _progress.info("cache verify: %d of %d", done, total, extra={"chunklab": ("cache", "verify", done, total)})


def clear(store: Store) -> int:
    """Removes everything that chunklab stores in the folder, and nothing else; returns the bytes that are free now.

    Raises:
        ConfigError: a run is running.
    """
    if not holds_anything(store.root):
        return 0
    with removal(store):
        n_running = len(living(store))
        if n_running:
            runs = "A run is" if n_running == 1 else f"{n_running} runs are"
            raise ConfigError(
                f"{runs} running in {store.root}. Wait for the end, or name another folder with --cache-dir."
            )
        before = size_of(store.root)
        store.close()
        for path in _ours(store.root):
            remove(path)
        for name in _FOLDERS:
            _remove_if_empty(store.root / name)
        return before - size_of(store.root)


def check_is_cache(root: Path) -> None:
    """Raises ConfigError for a folder that never was a cache; a missing or an empty folder may become one."""
    if root.exists() and not root.is_dir():
        raise ConfigError(f"{root} is not a folder. Name the folder of a cache with --cache-dir.")
    if holds_anything(root) and not (root / MARK).is_file():
        raise ConfigError(
            f"{root} is not a cache: it has no file {MARK!r}. Name the folder of a cache with --cache-dir."
        )


@contextlib.contextmanager
def removal(store: Store) -> Iterator[None]:
    """While it lasts, no run begins. Raises ConfigError where nothing can be removed."""
    try:
        with no_run_begins(store):
            if is_one_starting(store):
                raise ConfigError(f"A run is starting in {store.root}. Try again in a moment.")
            yield
    except (OSError, NotImplementedError) as error:  # the latter from a file system without locks
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"Cannot change cache folder {store.root} ({reason}). Name another with --cache-dir."
        ) from error


def holds_anything(root: Path) -> bool:
    """Whether a folder exists and is not empty."""
    return root.is_dir() and any(root.iterdir())


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files under a folder; a file that vanishes meanwhile counts 0."""
    if path.is_file():
        return path.stat().st_size
    total = 0
    for file in path.rglob("*"):
        with contextlib.suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _ours(root: Path) -> Iterator[Path]:
    """All files that chunklab writes into a cache; a user's file among them is left out."""
    for path in (root / "results").glob("*/??/*"):
        if (_HEX.fullmatch(path.name) and path.name.startswith(path.parent.name)) or path.name.startswith(
            _UNFINISHED_FILES
        ):
            yield path
    for kind in ("items.sqlite*", "*.sqlite", "*.sqlite-*", "*.claims", ".damaged-*"):
        yield from (root / "items").rglob(kind)
    yield from (path for path in (root / "prefect").glob("*-*") if _HEX.fullmatch(path.name.rpartition("-")[2]))
    runs = [path for path in (root / "runs").glob("*") if _RUN.fullmatch(path.name) or path.name == "queue"]
    yield from [*runs, *(root / "runs").glob(".writing-*"), *(root / "runs" / "made").glob("*-*.json"), root / MARK]


def _remove_if_empty(folder: Path) -> None:
    """Removes the empty folders in a folder, and the folder itself if it is empty then."""
    if folder.is_dir() and not folder.is_symlink():
        for path in list(folder.iterdir()):
            _remove_if_empty(path)
        with contextlib.suppress(OSError):
            folder.rmdir()
