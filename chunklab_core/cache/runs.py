"""Records of runs: what each one read and made, when, and whether it is still going on.

Why: what a run needs must not be taken from under it, what no run has needed for long may go, a change is explained
by the run before it, and how long work will take is known from how long it took. So every run leaves one small file
in the cache, written when it begins and again when it ends. While it lives it holds a lock of the operating system,
which goes with the process however that ends: a run that was killed is told from one that is going on without a clock.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from chunklab_core.cache.files import write_atomically
from chunklab_core.cache.keys import digest
from chunklab_core.cache.store import Ref, Store
from chunklab_core.errors import ConfigError

How = Literal["done", "failed", "stopped", "killed"]
"""How a run ended: `failed` with an error, `stopped` by the user, `killed` without a chance to say so."""

KEPT = 200  # records; the oldest go first

_QUEUE = "queue"  # the file at which runs that begin wait for each other; it stays, and nobody holds it
_PROBE_SECONDS = 0.05  # two that ask at once whether a run lives hold its lock for a moment each
_VERSION = 2

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Effort:
    """What one result cost that a run made.

    Attributes:
        seconds: from its start to its end, waiting for a shared model included.
        new: by shelf, how many items were written on the way; all others were taken over.
        items: by shelf, how many different items the result leans on; at most one shelf.
    """

    ref: Ref
    seconds: float
    new: Mapping[str, int]
    items: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run.

    Attributes:
        run_id: sorts by the time of the start; unique among processes.
        machine: which computer it ran on, as a digest.
        ended: None while it runs, and for a run that was killed.
        how: how it ended; None while it runs.
        inputs: what the door kept of its inputs.
        refs: all results that it reads or makes, `inputs` included.
        explained: what shaped its results, for whoever explains the next run's changes; plain JSON types.
        made: the results that it made; while it runs, none.
    """

    run_id: str
    machine: str
    started: datetime
    ended: datetime | None
    how: How | None
    inputs: Ref
    refs: tuple[Ref, ...]
    explained: Mapping[str, Any]
    made: tuple[Effort, ...]


class CountingStore(Store):
    """A store that counts, by shelf, the items that are written through it."""

    def __init__(self, store: Store) -> None:
        vars(self).update(vars(store))  # the same store, whatever it holds
        self.new: dict[str, int] = {}

    def put_items(self, shelf: str, items: Mapping[bytes, bytes]) -> None:
        """Keeps items, and counts them."""
        super().put_items(shelf, items)
        self.new[shelf] = self.new.get(shelf, 0) + len(items)


@contextlib.contextmanager
def begin(
    store: Store, inputs: Ref, refs: Collection[Ref], explained: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Records a run while it lasts, and gives its id; call it before looking which results there are.

    A cache that takes no record stops nobody: the run goes on without one.
    """
    started = datetime.now(UTC)
    run_id = f"{started:%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}"
    needed = tuple(dict.fromkeys([inputs, *refs]))
    record = RunRecord(run_id, this_machine(), started, None, None, inputs, needed, explained or {}, ())
    lock = _begin(store, record)
    _unlink(_starting(store))
    how: How = "failed"
    try:
        yield run_id
        how = "done"
    except KeyboardInterrupt:
        how = "stopped"
        raise
    finally:
        if lock is not None:
            _end(store, record, how, lock)


@contextlib.contextmanager
def about_to_begin(store: Store) -> Iterator[None]:
    """While it lasts, and until a run of this process is on record, others can tell that one is coming."""
    lock = FileLock(_starting(store))
    try:
        with no_run_begins(store):
            lock.acquire(timeout=0)
    except (OSError, NotImplementedError, Timeout):  # stops nobody; `begin`, which follows, says why
        yield
        return
    try:
        yield
    finally:
        lock.release()
        _unlink(_starting(store))


def coming(store: Store) -> bool:
    """Whether a run is starting that is not on record yet, so that nobody knows what it needs."""
    return any(_lives(lock) for lock in _folder(store).glob("starting-*.lock"))


def note_made(store: Store, made: Effort) -> None:
    """Leaves word of a result that was made, for the record of the run; the work may be done in another process."""
    with contextlib.suppress(OSError):
        write_atomically(_note(store, made.ref), [_sealed(_effort_to_json(made))])


def noted(store: Store, refs: Collection[Ref]) -> dict[Ref, Effort]:
    """Those of these results that were made by runs whose record is still open."""
    return {made.ref: made for made in _noted(store, refs)}


def records(store: Store, but: str = "") -> Iterator[RunRecord]:
    """All runs on record, newest first; those whose record is damaged or of another version are left out.

    Over a layer, those of the store below are runs on record, too. A run that was killed has `how` "killed" and no
    `ended`. `but` is the id of a run that is left out.
    """
    folders = [_folder(each) for each in (store, store.below) if each]
    for path in sorted(chain(*(folder.glob("*.json") for folder in folders)), key=lambda path: path.name, reverse=True):
        record = _read(path) if path.stem != but else None
        if record is not None:
            yield record if record.how or _lives(path) else _killed(store, record)


def living(store: Store) -> list[RunRecord]:
    """The runs that are going on, in this process or another.

    Raises:
        ConfigError: one of them has a record that cannot be read.
    """
    found = []
    for lock in sorted(_folder(store).glob("*-*.lock")):
        path = lock.with_suffix(".json")
        if not _lives(path) or not path.exists():  # without a record it has not begun
            continue
        record = _read(path)
        if record is None:
            raise ConfigError(
                f"A run is going on whose record {path} cannot be read, so nobody knows what it needs. "
                "Wait until it has ended."
            )
        found.append(record)
    return found


def refs_in_use(store: Store) -> set[Ref]:
    """All results that runs which are going on read or make.

    To take away others, ask and delete within `no_run_begins`. Items that no result leans on may be a living run's
    finished batches: leave them while `living` is not empty.
    """
    return {ref for record in living(store) for ref in record.refs}


def last_use(store: Store) -> dict[Ref, datetime]:
    """When each result was last read or made by a run on record: that run's end, or its start where it has none."""
    used: dict[Ref, datetime] = {}
    for record in records(store):
        at = record.ended or record.started
        used.update({ref: max(at, used.get(ref, at)) for ref in record.refs})
    return used


def new_items(effort: Effort) -> int | None:
    """Of the items that a result leans on, how many were made for it; None for a result without items."""
    return next((min(effort.new.get(shelf, 0), of) for shelf, of in effort.items.items()), None)


@contextlib.contextmanager
def no_run_begins(store: Store) -> Iterator[None]:
    """While it lasts no run begins on this cache; a run that wants to waits. For whoever takes results away."""
    _folder(store).mkdir(parents=True, exist_ok=True)
    with FileLock(_folder(store) / _QUEUE):
        yield


def this_machine() -> str:
    """A digest that tells computers apart, for how long work takes is known of one of them."""
    return digest([platform.node(), platform.machine(), os.cpu_count()])[:16]


# ---------------------------------------------------------------- beginning and end


def _begin(store: Store, record: RunRecord) -> FileLock | None:
    """Takes the run's lock, then writes its record; None where that cannot be done."""
    path = _path(store, record.run_id)
    lock = FileLock(path.with_suffix(".lock"))
    try:
        with no_run_begins(store):
            _tidy(store)
            lock.acquire()
            write_atomically(path, [_sealed(_to_json(record))])
    except (OSError, NotImplementedError) as error:  # the latter from a file system without locks
        lock.release()
        _log.warning("cache: this run is not recorded (%s)", error)
        return None
    return lock


def _end(store: Store, record: RunRecord, how: How, lock: FileLock) -> None:
    made = _collect(store, record.refs)
    with contextlib.suppress(OSError):
        _write_end(store, record, datetime.now(UTC), how, made)
    lock.release()
    _unlink(Path(lock.lock_file))


def _write_end(store: Store, record: RunRecord, ended: datetime | None, how: How, made: Sequence[Effort]) -> None:
    whole = {**_to_json(record), "ended": ended and ended.isoformat(), "how": how}
    whole["made"] = [_effort_to_json(one) for one in made]
    write_atomically(_path(store, record.run_id), [_sealed(whole)])


def _tidy(store: Store) -> None:
    """Ends the records of runs that were killed, and forgets the oldest; called while no other run begins."""
    folder, alive = _folder(store), []
    for lock in folder.glob("*-*.lock"):
        path = lock.with_suffix(".json")
        record = _read(path)
        if _lives(path):
            alive.append(record)
            continue
        if record is not None and record.how is None:
            _write_end(store, record, None, "killed", _collect(store, record.refs))
        _unlink(lock)
    if not alive:
        for left in [*folder.glob(".writing-*"), *(folder / "made").glob("*")]:
            _unlink(left)
    ended = [path for path in sorted(folder.glob("*.json")) if not path.with_suffix(".lock").exists()]
    for path in ended[: max(0, len(ended) - KEPT + 1)]:
        _unlink(path)


def _lives(path: Path) -> bool:
    """Whether the run with this record holds its lock."""
    if not path.with_suffix(".lock").exists():
        return False
    lock = FileLock(path.with_suffix(".lock"))
    try:
        lock.acquire(timeout=_PROBE_SECONDS, poll_interval=_PROBE_SECONDS / 5)
    except Timeout:
        return True
    except OSError:  # another user's: it cannot be asked, so it may live
        return True
    lock.release()
    return False


def _killed(store: Store, record: RunRecord) -> RunRecord:
    """The record of a run that was killed, with what it had made, before the next run has written that down."""
    return _from_json(
        {**_to_json(record), "how": "killed", "made": list(map(_effort_to_json, _noted(store, record.refs)))}
    )


# ---------------------------------------------------------------- notes of what was made


def _note(store: Store, ref: Ref) -> Path:
    return _folder(store) / "made" / f"{ref.replace('/', '-')}.json"


def _noted(store: Store, refs: Collection[Ref]) -> list[Effort]:
    found = [_unsealed(_note(store, ref)) for ref in refs]
    return [_effort_from_json(one) for one in found if one]


def _collect(store: Store, refs: Collection[Ref]) -> list[Effort]:
    """What was made of these results; the notes go."""
    made = _noted(store, refs)
    for one in made:
        _unlink(_note(store, one.ref))
    return made


# ---------------------------------------------------------------- files


def _folder(store: Store) -> Path:
    return store.root / "runs"


def _starting(store: Store) -> Path:
    return _folder(store) / f"starting-{os.getpid()}.lock"


def _path(store: Store, run_id: str) -> Path:
    return _folder(store) / f"{run_id}.json"


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _read(path: Path) -> RunRecord | None:
    value = _unsealed(path)
    return _from_json(value) if value else None


def _sealed(value: Mapping[str, Any]) -> bytes:
    """A record as bytes, with its checksum and its version."""
    return json.dumps({"version": _VERSION, "digest": digest(value), "record": value}, ensure_ascii=False).encode()


def _unsealed(path: Path) -> dict[str, Any] | None:
    """The inverse of `_sealed`; None for what is missing, damaged or of another version."""
    try:
        whole = json.loads(path.read_bytes())
        good = whole["version"] == _VERSION and whole["digest"] == digest(whole["record"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return whole["record"] if good else None


def _to_json(record: RunRecord) -> dict[str, Any]:
    return {
        "run_id": record.run_id,
        "machine": record.machine,
        "started": record.started.isoformat(),
        "ended": record.ended and record.ended.isoformat(),
        "how": record.how,
        "inputs": record.inputs,
        "refs": list(record.refs),
        "explained": record.explained,
        "made": [_effort_to_json(one) for one in record.made],
    }


def _from_json(value: Mapping[str, Any]) -> RunRecord:
    return RunRecord(
        **{
            **value,
            "started": datetime.fromisoformat(value["started"]),
            "ended": datetime.fromisoformat(value["ended"]) if value["ended"] else None,
            "refs": tuple(value["refs"]),
            "made": tuple(_effort_from_json(one) for one in value["made"]),
        }
    )


def _effort_to_json(made: Effort) -> dict[str, Any]:
    return {"ref": made.ref, "seconds": made.seconds, "new": dict(made.new), "items": dict(made.items)}


def _effort_from_json(value: Mapping[str, Any]) -> Effort:
    return Effort(**value)
