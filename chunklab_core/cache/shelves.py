"""Shelves: many small items under one folder, in one SQLite file per shelf.

Why apart from the store: SQLite has its own ways to fail. Its file can be damaged, locked, moved or deleted by another
process while a connection to it is open, and each of these has its own remedy. Here they are; what is left is either
an item as it was written, or none, or one error that says what to do.

A shelf is a folder of its own, so that a damaged one is set aside in one step, with what SQLite keeps beside its file.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from chunklab_core.cache.files import make_folder, remove
from chunklab_core.errors import CacheRefusedError, ConfigError

T = TypeVar("T")
Identity = tuple[int, int]
"""Device and number of a file: what tells it from another that was put in its place."""

_Found = dict[bytes, bytes | None]

_FILE = "items.sqlite"
_ASIDE = ".damaged-"  # begins the name of a shelf that is on its way out
_CHECK_BYTES = 8
_LOOKUP_ROWS = 500  # keys in one SELECT; SQLite allows 999 variables in its oldest builds
_REMEDIES = 5  # tries, before a shelf that breaks again and again is given up
_LOCKED_FOR = 60.0  # seconds that another process may hold a shelf
_ASK_AGAIN_AFTER = 0.05  # seconds

_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_REFUSED = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_TOOBIG,
)
_FAULTS_OF_OURS = (sqlite3.ProgrammingError, sqlite3.InterfaceError)
_UNREADABLE = (sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ)

_log = logging.getLogger(__name__)


class _ReplacedError(OSError):
    """The file of a shelf is another one than at the beginning of a call."""


@dataclass(frozen=True, slots=True)
class _Opened:
    rows: sqlite3.Connection
    file: Identity | None


class Shelves:
    """The shelves under one folder. A connection is kept from call to call, and used by one thread at a time.

    With `writable` False nothing is written or mended: what cannot be read is not there.
    """

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        self.folder = folder
        self._writable = writable
        self._idle: dict[str, list[_Opened]] = {}
        self._inherited: list[dict[str, list[_Opened]]] = []
        self._told: set[str] = set()
        self._own()

    def __del__(self) -> None:
        self.close()

    def get(self, shelf: str, keys: Sequence[bytes]) -> _Found:
        """By key, the items that are there and whole; None where an item is hidden, see `hide`."""

        def read(rows: sqlite3.Connection) -> _Found:
            parts = (keys[at : at + _LOOKUP_ROWS] for at in range(0, len(keys), _LOOKUP_ROWS))
            return {key: value for part in parts for key, value in _lookup(rows, part)}

        if not keys:
            return {}
        return self._read(shelf, read, {})

    def put(self, shelf: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Keeps items under their keys, all of them or none."""
        self._insert(shelf, [(key, value, _check(key, value)) for key, value in items])

    def hide(self, shelf: str, keys: Iterable[bytes]) -> None:
        """Notes that items count as missing, wherever else they may lie."""
        self._insert(shelf, [(key, b"", b"") for key in keys])

    def delete(self, shelf: str, keys: Iterable[bytes]) -> None:
        """Forgets items."""
        wanted = [(key,) for key in keys]

        def delete(rows: sqlite3.Connection) -> None:
            with rows:
                rows.executemany("DELETE FROM items WHERE key = ?", wanted)

        self._on(shelf, delete)

    def names(self) -> list[str]:
        """The shelves that there are."""
        there = (file.parent.relative_to(self.folder) for file in self.folder.rglob(_FILE))
        return sorted(shelf.as_posix() for shelf in there if not shelf.name.startswith("."))

    def sizes(self, shelf: str) -> list[tuple[bytes, int]]:
        """The key of every item, and how many bytes it holds."""

        def read(rows: sqlite3.Connection) -> list[tuple[bytes, int]]:
            found = rows.execute("SELECT key, length(CAST(value AS BLOB)) FROM items")
            return [(key, n_bytes or 0) for key, n_bytes in found if isinstance(key, bytes)]

        return self._read(shelf, read, [])

    def check(self, shelf: str) -> tuple[int, int]:
        """Reads every item: how many are whole, and how many were not; those are gone."""

        def read(rows: sqlite3.Connection) -> tuple[int, list[tuple[object]]]:
            whole, broken = 0, []
            for key, value, check in rows.execute("SELECT key, value, checksum FROM items"):
                if _is_whole(key, value, check):
                    whole += 1
                else:
                    broken.append((key,))
            with rows:
                rows.executemany("DELETE FROM items WHERE key = ?", broken)
            return whole, broken

        whole, broken = self._on(shelf, read)
        return whole, len(broken)

    def compact(self, shelf: str) -> None:
        """Gives the room of forgotten items back to the disk."""

        def shrink(rows: sqlite3.Connection) -> None:
            rows.execute("VACUUM")
            rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        self._on(shelf, shrink)

    def drop(self, shelf: str) -> None:
        """Takes a whole shelf away; that needs no room on the disk, as forgetting its items would."""
        self.close()
        aside = (self.folder / shelf).with_name(f"{_ASIDE}{uuid4().hex}")
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            (self.folder / shelf).rename(aside)
        remove(aside)

    def close(self) -> None:
        """Closes the connections that are not in use; the next call opens new ones."""
        self._own()
        with self._lock:
            idle, self._idle = self._idle, {}
        for opened in (opened for each in idle.values() for opened in each):
            _close(opened.rows)

    def _insert(self, shelf: str, values: list[tuple[bytes, bytes, bytes]]) -> None:
        def write(rows: sqlite3.Connection) -> None:
            with rows:
                rows.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?)", values)

        if values:
            self._on(shelf, write)

    # ------------------------------------------------------------ connections

    def _own(self) -> None:
        """Makes sure that no connection is used that a parent process has opened: SQLite does not survive a fork."""
        if getattr(self, "_process", None) != os.getpid():
            self._process = os.getpid()
            self._lock = threading.Lock()
            self._inherited.append(self._idle)  # kept and not closed: they are the parent's
            self._idle = {}

    def _on(self, shelf: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns for a shelf; where the shelf fails, after the remedy, or with the error that is left."""
        path, deadline, remedies = self.folder / shelf / _FILE, time.monotonic() + _LOCKED_FOR, 0
        while True:
            file = identity_of(path)
            try:
                with self._lent(shelf, path) as rows:
                    return work(rows)
            except _FAULTS_OF_OURS:
                raise
            except (sqlite3.Error, OSError) as error:
                remedies += not _is_locked(error)
                if remedies > _REMEDIES or (_is_locked(error) and time.monotonic() > deadline):
                    raise self._refused(path, error) from error
                self._remedy(path, file, error)

    @contextlib.contextmanager
    def _lent(self, shelf: str, path: Path) -> Iterator[sqlite3.Connection]:
        """A connection to a shelf, kept for the next one if all went well."""
        opened = self._take(shelf, path)
        try:
            yield opened.rows
            if identity_of(path) != opened.file:
                raise _ReplacedError(f"{path} was replaced while it was in use")  # what was written went with it
        except BaseException:
            _close(opened.rows)
            raise
        with self._lock:
            self._idle.setdefault(shelf, []).append(opened)

    def _take(self, shelf: str, path: Path) -> _Opened:
        self._own()
        with self._lock:
            idle = self._idle.get(shelf, [])
            opened = idle.pop() if idle else None
        if opened and opened.file == identity_of(path):
            return opened
        if opened:
            _close(opened.rows)
        make_folder(path.parent, self.folder)
        rows = _connect(path)
        return _Opened(rows, identity_of(path))

    def _remedy(self, path: Path, file: Identity | None, error: sqlite3.Error | OSError) -> None:
        """Does what lets the next try succeed. Raises ConfigError where nothing does."""
        if _is_locked(error):
            time.sleep(_ASK_AGAIN_AFTER)
        elif identity_of(path) != file or not path.parent.exists():
            return  # another process has moved or replaced the shelf: there is a new one to try
        elif isinstance(error, sqlite3.Error) and (_is_damage(error) or _is_obstructed(path)):
            _set_aside(path, file, error)
        else:
            raise self._refused(path, error) from error

    def _refused(self, path: Path, error: sqlite3.Error | OSError) -> ConfigError:
        if _is_locked(error):
            return ConfigError(
                f"The cache folder {self.folder.parent} is held by another process: {path.parent.name} stays locked. "
                "Wait until that process has ended, or name another folder with --cache-dir."
            )
        return CacheRefusedError.of(self.folder.parent, error)

    def _read(self, shelf: str, read: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        return self._on(shelf, read) if self._writable else self._on_foreign(shelf, read, nothing)

    def _on_foreign(self, shelf: str, read: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """What `read` finds on a shelf that must not be written; nothing where it cannot be read."""
        path = self.folder / shelf / _FILE
        if not path.is_file():
            return nothing
        # The rows of a process that was killed, or writes just now, lie beside; to read them may leave files there.
        modes = ["", "&immutable=1"] if identity_of(Path(f"{path}-wal")) else ["&immutable=1"]
        for mode in modes:
            try:
                place = f"{path.absolute().as_uri()}?mode=ro{mode}"
                with contextlib.closing(sqlite3.connect(place, uri=True)) as rows:
                    rows.text_factory = bytes
                    return read(rows)
            except sqlite3.Error as error:
                reason = error
        if shelf not in self._told:
            self._told.add(shelf)
            _log.warning("cache: %s cannot be read (%s); its entries are made anew", path, reason)
        return nothing


# ---------------------------------------------------------------- rows


def _connect(path: Path) -> sqlite3.Connection:
    rows = sqlite3.connect(path, timeout=_LOCKED_FOR, check_same_thread=False)
    try:
        rows.text_factory = bytes  # a damaged row may say that it holds a text
        rows.execute("PRAGMA page_size = 16384")
        rows.execute("PRAGMA journal_mode = WAL")
        rows.execute("PRAGMA synchronous = NORMAL")
        rows.execute("CREATE TABLE IF NOT EXISTS items (key BLOB PRIMARY KEY, value BLOB, checksum BLOB) WITHOUT ROWID")
    except BaseException:
        _close(rows)
        raise
    return rows


def _close(rows: sqlite3.Connection) -> None:
    with contextlib.suppress(sqlite3.Error):
        rows.close()


def _lookup(rows: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
    marks = ",".join("?" * len(keys))
    for key, value, check in rows.execute(f"SELECT key, value, checksum FROM items WHERE key IN ({marks})", keys):
        if _is_whole(key, value, check):
            yield key, value if check else None


def _is_whole(key: object, value: object, check: object) -> bool:
    """Whether a row is as it was written; a hidden item has an empty value and an empty checksum."""
    if not (isinstance(key, bytes) and isinstance(value, bytes)):
        return False
    return check == b"" == value or check == _check(key, value)


def _check(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(key + value, digest_size=_CHECK_BYTES).digest()


# ---------------------------------------------------------------- what can go wrong


def _code(error: BaseException) -> int:
    """SQLite's own number of an error; what Python raises without one comes from a row that makes no sense."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)


def _is_locked(error: sqlite3.Error | OSError) -> bool:
    return isinstance(error, sqlite3.Error) and _code(error) & 0xFF in _LOCKED


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken; a full disk or a read-only folder is none of its fault."""
    code = _code(error)
    if code & 0xFF == sqlite3.SQLITE_IOERR:
        return code in _UNREADABLE
    return code & 0xFF not in _REFUSED


def _is_obstructed(path: Path) -> bool:
    """Whether there is something else where a file of the shelf should be."""
    return any(Path(f"{path}{end}").is_dir() for end in ("", "-wal", "-shm"))


def _set_aside(path: Path, damaged: Identity | None, error: Exception) -> None:
    """Takes a damaged shelf away; a new one that another process has made in its place stays, or comes back."""
    aside = path.parent.with_name(f"{_ASIDE}{uuid4().hex}")
    try:
        path.parent.rename(aside)
    except FileNotFoundError:
        return  # another process was faster
    if identity_of(aside / _FILE) != damaged:
        with contextlib.suppress(OSError):
            aside.rename(path.parent)
            return
    else:
        _log.warning("cache: the shelf %s is damaged (%s); its entries are made anew", path.parent.name, error)
    remove(aside)


def identity_of(path: Path) -> Identity | None:
    """Device and number of a file; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
