"""Runs while they last: each holds a lock, and its record says what it needs.

Why: nothing that a run needs may be removed while it is running. A lock of the operating system ends with its process,
however that ends, so a running run and a killed one differ without a clock.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.run_records import (
    How,
    RunRecord,
    noted,
    read_record,
    record_path,
    runs_folder,
    take_notes,
    this_machine,
    unlink,
    write_record,
)
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError

KEPT = 200  # records; the oldest are removed first

_QUEUE = "queue"  # runs that begin lock this file in turn; it stays
_PROBE_SECONDS = 0.05  # two processes that probe a run at once each hold its lock for a moment

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def begin(
    store: Store, inputs: Ref, refs: Collection[Ref], explained: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Records a run while it lasts, and yields its id. Call it before checking which results exist.

    A cache that accepts no record stops no run: the run continues without one.
    """
    started = datetime.now(UTC)
    run_id = f"{started:%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}"
    needed = tuple(dict.fromkeys([inputs, *refs]))
    record = RunRecord(run_id, this_machine(), started, None, None, inputs, needed, explained or {}, ())
    lock = _begin(store, record)
    unlink(_starting(store))
    how: How = "failed"
    try:
        yield run_id
        how = "done"
    except KeyboardInterrupt:
        how = "stopped"
        raise
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):
                _write_end(store, record, how, datetime.now(UTC))
            lock.release()
            unlink(Path(lock.lock_file))


@contextlib.contextmanager
def about_to_begin(store: Store) -> Iterator[None]:
    """Shows other processes that a run is starting, until its record exists."""
    lock = FileLock(_starting(store))
    try:
        with no_run_begins(store):
            lock.acquire(timeout=0)
    except (OSError, NotImplementedError, Timeout):  # stops no run; `begin`, which follows, logs the reason
        yield
        return
    try:
        yield
    finally:
        lock.release()
        unlink(_starting(store))


def is_one_starting(store: Store) -> bool:
    """Whether a run is starting whose record does not exist yet, so that its needs are unknown."""
    return any(_is_running(lock) for lock in runs_folder(store.root).glob("starting-*.lock"))


def records(store: Store, but: str = "") -> Iterator[RunRecord]:
    """All recorded runs, newest first; records that are damaged or of another version are left out.

    An overlay includes the runs of the store below. A run that was killed has `how` "killed" and no `ended`. `but` is
    the id of a run to leave out.
    """
    paths = [path for root in store.roots for path in runs_folder(root).glob("*.json") if path.stem != but]
    for path in sorted(paths, key=lambda path: path.name, reverse=True):
        record = read_record(path)
        if record and not record.how and not _is_running(path):
            record = replace(record, how="killed", made=tuple(noted(store, record.refs).values()))
        if record:
            yield record


def living(store: Store) -> list[RunRecord]:
    """The runs that are running, in this process or another.

    Raises:
        ConfigError: the record of one of them cannot be read.
    """
    found = []
    for lock in sorted(runs_folder(store.root).glob("*-*.lock")):
        path = lock.with_suffix(".json")
        if not _is_running(path) or not path.exists():  # without a record it has not begun
            continue
        record = read_record(path)
        if record is None:
            raise ConfigError(
                f"Cannot read {path}, the record of a running run, so its needs are unknown. Wait until it has ended."
            )
        found.append(record)
    return found


def refs_in_use(store: Store) -> set[Ref]:
    """All results that running runs read or make.

    To remove others, call this and delete within `no_run_begins`. Items that no result needs may be finished batches
    of a running run: leave them while `living` is not empty.
    """
    return {ref for record in living(store) for ref in record.refs}


def last_use(store: Store) -> dict[Ref, datetime]:
    """When a recorded run last read or made each result: that run's end, or its start where it has no end."""
    used: dict[Ref, datetime] = {}
    for record in records(store):
        time = record.ended or record.started
        used.update({ref: max(time, used.get(ref, time)) for ref in record.refs})
    return used


@contextlib.contextmanager
def no_run_begins(store: Store) -> Iterator[None]:
    """While it lasts, no run begins on this cache; a run that wants to begin waits. For removing results."""
    runs_folder(store.root).mkdir(parents=True, exist_ok=True)
    with FileLock(runs_folder(store.root) / _QUEUE):
        yield


# ---------------------------------------------------------------- beginning and end


def _begin(store: Store, record: RunRecord) -> FileLock | None:
    """Takes the run's lock, then writes its record; None where that is impossible."""
    lock = FileLock(record_path(store, record.run_id).with_suffix(".lock"))
    try:
        with no_run_begins(store):
            _tidy(store)
            lock.acquire()
            write_record(store, record)
    except (OSError, NotImplementedError) as error:  # the latter from a file system without locks
        lock.release()
        _log.warning("cache: this run is not recorded (%s)", error)
        return None
    return lock


def _write_end(store: Store, record: RunRecord, how: How, ended: datetime | None) -> None:
    write_record(store, replace(record, ended=ended, how=how, made=take_notes(store, record.refs)))


def _tidy(store: Store) -> None:
    """Ends the records of killed runs, and removes the oldest; the caller lets no other run begin."""
    folder, n_running = runs_folder(store.root), 0
    for lock in folder.glob("*-*.lock"):
        path = lock.with_suffix(".json")
        if _is_running(path):
            n_running += 1
            continue
        record = read_record(path)
        if record is not None and record.how is None:
            _write_end(store, record, "killed", None)
        unlink(lock)
    if not n_running:
        for leftover in [*folder.glob(".writing-*"), *(folder / "made").glob("*")]:
            unlink(leftover)
    ended = [path for path in sorted(folder.glob("*.json")) if not path.with_suffix(".lock").exists()]
    for path in ended[: max(0, len(ended) - KEPT + 1)]:
        unlink(path)


def _is_running(path: Path) -> bool:
    """Whether the run with this record holds its lock."""
    if not path.with_suffix(".lock").exists():
        return False
    lock = FileLock(path.with_suffix(".lock"))
    try:
        lock.acquire(timeout=_PROBE_SECONDS, poll_interval=_PROBE_SECONDS / 5)
    except Timeout:
        return True
    except OSError:  # another user's lock cannot be probed, so that run may be running
        return True
    lock.release()
    return False


def _starting(store: Store) -> Path:
    return runs_folder(store.root) / f"starting-{os.getpid()}.lock"
