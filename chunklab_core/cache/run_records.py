"""Records of runs as files: what each run read and made, when, and what each of its results cost.

Why: the results of a run must survive while it needs them, results that no run has needed for long may be removed, the
plan explains a change by the run before it, and estimates the work by how long it took. So every run leaves one small
file in the cache, and every result that is made leaves a note until the run has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from chunklab_core.cache.files import write_atomically
from chunklab_core.cache.keys import digest
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.cache.store import Store

How = Literal["done", "failed", "stopped", "killed"]
"""How a run ended: `failed` with an error, `stopped` by the user, `killed` without a chance to record it."""

_VERSION = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """The cost of one result that a run made.

    Attributes:
        seconds: from its start to its end, waiting for a shared model included.
        new: by shelf, how many items were written on the way; all others were reused.
        items: by shelf, how many different items the result needs; at most one shelf.
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
        machine: a digest of the computer it ran on.
        ended: None while it runs, and for a run that was killed.
        how: how it ended; None while it runs.
        inputs: the reference of its checked inputs.
        refs: all results that it reads or makes, `inputs` included.
        explained: the facts that shaped its results, by which the plan explains the next run's changes; plain JSON.
        made: the results that it made; empty while it runs.
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


class CountingStore:
    """A store that counts, by shelf, the items that a stage writes."""

    def __init__(self, store: ResultStore) -> None:
        self.new: dict[str, int] = {}
        self._store = store
        self.read, self.items_of, self.claims_file = store.read, store.items_of, store.claims_file
        self.get_items, self.get_all_items = store.get_items, store.get_all_items
        self.missing_items = store.missing_items

    def put_items(self, shelf: str, items: Mapping[bytes, bytes]) -> None:
        """Stores items, and counts them."""
        self._store.put_items(shelf, items)
        self.new[shelf] = self.new.get(shelf, 0) + len(items)


def new_items(effort: Effort) -> int | None:
    """How many of the items that a result needs were made for it; None for a result without items."""
    return next((min(effort.new.get(shelf, 0), total) for shelf, total in effort.items.items()), None)


def this_machine() -> str:
    """A digest that differs between computers, because times on one say nothing about another."""
    return digest([platform.node(), platform.machine(), os.cpu_count()])[:16]


# ---------------------------------------------------------------- records


def runs_folder(root: Path) -> Path:
    """The folder of the records of a cache."""
    return root / "runs"


def record_path(store: Store, run_id: str) -> Path:
    """The file of a run's record."""
    return runs_folder(store.root) / f"{run_id}.json"


def write_record(store: Store, record: RunRecord) -> None:
    """Writes the record of a run, over an earlier one."""
    _write(record_path(store, record.run_id), _to_json(record))


def read_record(path: Path) -> RunRecord | None:
    """The record in a file; None where it is missing, damaged or of another version."""
    stored = _read(path)
    return _from_json(stored) if stored else None


# ---------------------------------------------------------------- notes of what was made


def note_made(store: Store, effort: Effort) -> None:
    """Notes that a result was made, for the record of the run; the work may happen in another process."""
    with contextlib.suppress(OSError):
        _write(_note(store, effort.ref), asdict(effort))


def noted(store: Store, refs: Collection[Ref]) -> dict[Ref, Effort]:
    """The efforts noted for these results by runs that have not ended, by result."""
    notes = [_read(_note(store, ref)) for ref in refs]
    return {Ref(note["ref"]): Effort(**note) for note in notes if note}


def take_notes(store: Store, refs: Collection[Ref]) -> tuple[Effort, ...]:
    """The efforts noted for these results; the notes are removed."""
    made = noted(store, refs)
    for ref in made:
        unlink(_note(store, ref))
    return tuple(made.values())


def _note(store: Store, ref: Ref) -> Path:
    return runs_folder(store.root) / "made" / f"{ref.replace('/', '-')}.json"


# ---------------------------------------------------------------- files


def unlink(path: Path) -> None:
    """Removes a file, if that is possible."""
    with contextlib.suppress(OSError):
        path.unlink()


def _write(path: Path, value: Mapping[str, Any]) -> None:
    """Writes a value of plain JSON types with its checksum and the version."""
    sealed = {"version": _VERSION, "digest": digest(value), "record": value}
    write_atomically(path, [json.dumps(sealed, ensure_ascii=False).encode()])


def _read(path: Path) -> dict[str, Any] | None:
    """The inverse of `_write`; None where the file is missing, damaged or of another version."""
    try:
        sealed = json.loads(path.read_bytes())
        intact = sealed["version"] == _VERSION and sealed["digest"] == digest(sealed["record"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return sealed["record"] if intact else None


def _to_json(record: RunRecord) -> dict[str, Any]:
    times = {"started": record.started.isoformat(), "ended": record.ended and record.ended.isoformat()}
    return asdict(record) | times


def _from_json(stored: Mapping[str, Any]) -> RunRecord:
    return RunRecord(
        **{
            **stored,
            "started": datetime.fromisoformat(stored["started"]),
            "ended": datetime.fromisoformat(stored["ended"]) if stored["ended"] else None,
            "refs": tuple(stored["refs"]),
            "made": tuple(Effort(**effort) for effort in stored["made"]),
        }
    )
