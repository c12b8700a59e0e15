"""The content-addressed store: what a stage made, kept under the key of all that shaped it.

Two kinds of things are kept under one folder. A *result* is what one stage made for one strategy or cell: a file of
its own, named by its key. *Items* are the many small things inside (a parsed document, the chunks of one document, a
vector): rows of one SQLite file per shelf, so that a hundred thousand of them stay quick to read and safe to write.

Both are checked on reading. What is damaged counts as missing and is made anew; nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NewType, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunklab_core.errors import ConfigError

Ref = NewType("Ref", str)
"""The name of a result: its stage, a slash, and its key. Small enough to be handed from task to task."""

T = TypeVar("T")

READ_TOGETHER = 100  # documents or their chunks in memory at once
_OLDER = b"chunklab result "  # of whatever version
_MAGIC = _OLDER + b"2\n"
_DIGEST_BYTES = 32
_CHECK_BYTES = 8
_LOOKUP_ROWS = 500  # keys in one SELECT; SQLite allows 999 variables in its oldest builds

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Items:
    """The rows of a shelf that a result leans on; it is worth nothing without them."""

    shelf: str
    keys: tuple[bytes, ...]


def stage_of(ref: Ref) -> str:
    """The stage that made a result."""
    return ref.split("/", 1)[0]


def default_cache_dir() -> Path:
    """Where results are kept unless the user says otherwise: `CHUNKLAB_CACHE`, else the system's cache folder."""
    import platformdirs

    return Path(os.environ.get("CHUNKLAB_CACHE") or platformdirs.user_cache_dir("chunklab", appauthor=False))


class Store:
    """Results and items under one folder. Safe for several processes at once: writes are atomic and idempotent."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def check_writable(self) -> None:
        """Raises ConfigError when nothing can be kept in the folder; asked once, before any work."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root):
                pass
        except OSError as error:
            raise ConfigError(
                f"The cache folder {self.root} cannot be written ({error.strerror}). "
                "Name another with --cache-dir, or run with --no-cache."
            ) from error

    # ------------------------------------------------------------ results

    def holds(self, ref: Ref) -> bool:
        """Whether there is a result of this name; cheap, and no promise that it can still be read: see `intact`."""
        return self._path(ref).is_file()

    def intact(self, ref: Ref, *, with_items: bool = True) -> bool:
        """Whether a result, and all items it leans on, can be read as they were written; a damaged one is discarded."""
        try:
            items = self._read(ref)[0]
        except KeyError:
            return False
        if items is None or not with_items or not self.missing_items(items.shelf, items.keys):
            return True
        _log.warning("cache: some items of %s are missing or damaged; it is made anew", ref)
        self.discard(ref)
        return False

    def write(self, ref: Ref, payload: bytes, items: Items | None = None) -> None:
        """Keeps a result under its name, in one step: a reader sees all of it or nothing."""
        leans_on = b"" if items is None else b"".join(items.keys)
        head = {"shelf": items.shelf if items else None, "keys": len(items.keys) if items else 0}
        body = json.dumps(head).encode() + b"\n" + leans_on + payload
        try:
            write_atomically(self._path(ref), [_MAGIC, _seal(ref, body), body])
        except OSError as error:
            raise self._full(error.strerror) from error

    def read(self, ref: Ref) -> bytes:
        """The payload of a result. Raises KeyError when it is missing or damaged."""
        return self._read(ref)[1]

    def items_of(self, ref: Ref) -> tuple[bytes, ...]:
        """The keys of the items that a result leans on, in the order in which they were written."""
        items = self._read(ref)[0]
        return () if items is None else items.keys

    def discard(self, ref: Ref) -> None:
        """Forgets a result, so that the next run makes it anew."""
        self._path(ref).unlink(missing_ok=True)

    def discard_with_items(self, ref: Ref) -> None:
        """Forgets a result and the items it leans on, so that the next run takes over nothing of it."""
        with contextlib.suppress(KeyError):
            items = self._read(ref)[0]
            if items is not None:
                self.discard_items(items.shelf, items.keys)
        self.discard(ref)

    def _full(self, reason: object) -> ConfigError:
        return ConfigError(
            f"The cache folder {self.root} takes nothing more ({reason}); what was finished is kept. "
            "Free some space and run again, or name another folder with --cache-dir."
        )

    def _path(self, ref: Ref) -> Path:
        stage, key = ref.split("/", 1)
        return self.root / "results" / stage / key[:2] / key

    def _read(self, ref: Ref) -> tuple[Items | None, bytes]:
        try:
            content = self._path(ref).read_bytes()
        except OSError as error:
            raise KeyError(ref) from error
        start = len(_MAGIC) + _DIGEST_BYTES
        body = memoryview(content)[start:]
        if content[: len(_MAGIC)] != _MAGIC or _seal(ref, body) != content[len(_MAGIC) : start]:
            if not content.startswith(_OLDER) or content.startswith(_MAGIC):
                _log.warning("cache: %s is damaged; it is made anew", ref)
            self.discard(ref)
            raise KeyError(ref)
        line_end = content.index(b"\n", start)
        head = json.loads(content[start:line_end])
        payload_start = line_end + 1 + head["keys"] * _DIGEST_BYTES
        keys = content[line_end + 1 : payload_start]
        split = tuple(keys[at : at + _DIGEST_BYTES] for at in range(0, len(keys), _DIGEST_BYTES))
        return (Items(head["shelf"], split) if head["shelf"] else None), content[payload_start:]

    # ------------------------------------------------------------ items

    def get_items(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The items of a shelf that are there and whole, by key; the others are left out."""
        wanted = list(dict.fromkeys(keys))
        return self._on_shelf(
            shelf, lambda rows: dict(row for part in _in_parts(wanted) for row in _lookup(rows, part).items())
        )

    def missing_items(self, shelf: str, keys: Sequence[bytes]) -> list[bytes]:
        """Those of the keys, in their order and each once, whose items are not there or not whole."""
        wanted = list(dict.fromkeys(keys))

        def check(rows: sqlite3.Connection) -> list[bytes]:
            return [
                key for part in _in_parts(wanted) for found in [_lookup(rows, part)] for key in part if key not in found
            ]

        return self._on_shelf(shelf, check)

    def put_items(self, shelf: str, items: Mapping[bytes, bytes]) -> None:
        """Keeps items under their keys, all of them or none."""

        def write(rows: sqlite3.Connection) -> None:
            with rows:
                rows.executemany(
                    "INSERT OR REPLACE INTO items VALUES (?, ?, ?)",
                    ((key, value, _check(key, value)) for key, value in items.items()),
                )

        if items:
            self._on_shelf(shelf, write)

    def discard_items(self, shelf: str, keys: Iterable[bytes]) -> None:
        """Forgets items."""

        def delete(rows: sqlite3.Connection) -> None:
            with rows:
                rows.executemany("DELETE FROM items WHERE key = ?", ((key,) for key in keys))

        self._on_shelf(shelf, delete)

    def _on_shelf(self, shelf: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns for a shelf; a shelf whose file is broken is set aside, and `work` meets an empty one."""
        path = self.root / "items" / f"{shelf}.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with contextlib.closing(_connect(path)) as rows:
                return work(rows)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise self._full(error) from error
            _set_aside(path, error)
        with contextlib.closing(_connect(path)) as rows:
            return work(rows)


# ---------------------------------------------------------------- SQLite


def _connect(path: Path) -> sqlite3.Connection:
    rows = sqlite3.connect(path, timeout=60)
    try:
        rows.execute("PRAGMA page_size = 16384")
        rows.execute("PRAGMA journal_mode = WAL")
        rows.execute("PRAGMA synchronous = NORMAL")
        rows.execute("CREATE TABLE IF NOT EXISTS items (key BLOB PRIMARY KEY, value BLOB, checksum BLOB) WITHOUT ROWID")
    except BaseException:
        rows.close()
        raise
    return rows


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is broken; a full disk, a lock or a read-only folder are OperationalErrors instead."""
    return not isinstance(error, sqlite3.OperationalError) or "malformed" in str(error)


def _set_aside(path: Path, error: sqlite3.DatabaseError) -> None:
    _log.warning("cache: %s is damaged (%s); its entries are made anew", path.name, error)
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        name.unlink(missing_ok=True)


def _seal(ref: Ref, body: bytes | memoryview) -> bytes:
    """The checksum of a result, its name included: a whole file in another's place is damage, too."""
    seal = hashlib.sha256(f"{ref}\n".encode())
    seal.update(body)
    return seal.digest()


def _in_parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    return (keys[at : at + _LOOKUP_ROWS] for at in range(0, len(keys), _LOOKUP_ROWS))


def _lookup(rows: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    marks = ",".join("?" * len(keys))
    found = rows.execute(f"SELECT key, value, checksum FROM items WHERE key IN ({marks})", keys)
    return {key: value for key, value, check in found if check == _check(key, value)}


def _check(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(key + value, digest_size=_CHECK_BYTES).digest()


# ---------------------------------------------------------------- files and formats


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Writes a file in one step: whoever reads it sees the old content or the new, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def pack_json(value: Any) -> bytes:
    """A value of plain JSON types as bytes, the same bytes for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def unpack_json(payload: bytes) -> Any:
    """The inverse of `pack_json`."""
    return json.loads(payload)


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Named arrays of plain numbers as bytes (the npz format, without pickle)."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_arrays(payload: bytes) -> dict[str, NDArray[Any]]:
    """The inverse of `pack_arrays`."""
    with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
        return dict(arrays)


def array_of_text(text: str) -> NDArray[np.uint8]:
    """A text as an array among others; the inverse is `text_of_array`."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def text_of_array(array: NDArray[np.uint8]) -> str:
    """The inverse of `array_of_text`."""
    return array.tobytes().decode()


def in_step(*lists: Sequence[Any]) -> Iterator[tuple[Sequence[Any], ...]]:
    """Lists of one length, cut at the same places into parts that are read from the store at once."""
    return (tuple(each[at : at + READ_TOGETHER] for each in lists) for at in range(0, len(lists[0]), READ_TOGETHER))
