"""Shelves: many small items under one folder, in one SQLite file per shelf.

Why apart from the store: SQLite has its own ways to fail. Another process can damage, lock, move or delete its file
while a connection to it is open, and each case has its own remedy. This module holds them; its callers get an item as
it was written, or none, or one error with a remedy.

Each shelf has its own folder, so that a damaged one moves aside in one step, with the files that SQLite puts beside it.
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
"""Device and number of a file; another file in its place has others."""

_FILE = "items.sqlite"
_ASIDE = ".damaged-"  # first part of the name of a shelf that is about to be removed
_CHECK_BYTES = 8
_LOOKUP_ROWS = 500  # keys in one SELECT; SQLite allows 999 variables in its oldest builds
_REMEDIES = 5  # of a shelf that breaks again and again; then the call fails
_LOCKED_FOR = 60.0  # seconds that another process may lock a shelf
_RETRY_AFTER = 0.05  # seconds

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
    """The file of a shelf was replaced during a call."""


@dataclass(frozen=True, slots=True)
class _Opened:
    rows: sqlite3.Connection
    file: Identity | None


class Shelves:
    """The shelves under one folder. A connection stays open from call to call; one thread at a time uses it.

    With `writable` False nothing is written or repaired: a shelf that cannot be read counts as empty.
    """

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        self.folder = folder
        self._writable = writable
        self._idle: dict[str, list[_Opened]] = {}
        self._inherited: list[dict[str, list[_Opened]]] = []
        self._unreadable: set[str] = set()
        self._own()

    def __del__(self) -> None:
        self.close()

    def get(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The intact items, by key."""

        def read(rows: sqlite3.Connection) -> dict[bytes, bytes]:
            parts = (keys[start : start + _LOOKUP_ROWS] for start in range(0, len(keys), _LOOKUP_ROWS))
            return {key: value for part in parts for key, value in _lookup(rows, part)}

        if not keys:
            return {}
        return self._read(shelf, read, {})

    def put(self, shelf: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Stores items under their keys, all or none."""
        values = [(key, value, _check(key, value)) for key, value in items]

        def write(rows: sqlite3.Connection) -> None:
            with rows:
                rows.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?)", values)

        if values:
            self._on(shelf, write)

    def delete(self, shelf: str, keys: Iterable[bytes]) -> None:
        """Removes items."""
        removed = [(key,) for key in keys]

        def delete(rows: sqlite3.Connection) -> None:
            with rows:
                rows.executemany("DELETE FROM items WHERE key = ?", removed)

        self._on(shelf, delete)

    def names(self) -> list[str]:
        """The names of all shelves, sorted."""
        shelves = (file.parent.relative_to(self.folder) for file in self.folder.rglob(_FILE))
        return sorted(shelf.as_posix() for shelf in shelves if not shelf.name.startswith("."))

    def sizes(self, shelf: str) -> list[tuple[bytes, int]]:
        """The key of every item, and its size in bytes."""

        def read(rows: sqlite3.Connection) -> list[tuple[bytes, int]]:
            found = rows.execute("SELECT key, length(CAST(value AS BLOB)) FROM items")
            return [(key, n_bytes or 0) for key, n_bytes in found if isinstance(key, bytes)]

        return self._read(shelf, read, [])

    def check(self, shelf: str) -> tuple[int, int]:
        """Reads every item and removes the damaged ones; returns the numbers of intact and of damaged items."""

        def read(rows: sqlite3.Connection) -> tuple[int, int]:
            n_whole, broken = 0, []
            for key, value, check in rows.execute("SELECT key, value, checksum FROM items"):
                if _is_whole(key, value, check):
                    n_whole += 1
                else:
                    broken.append((key,))
            with rows:
                rows.executemany("DELETE FROM items WHERE key = ?", broken)
            return n_whole, len(broken)

        return self._on(shelf, read)

    def compact(self, shelf: str) -> None:
        """Returns the space of removed items to the disk."""

        def shrink(rows: sqlite3.Connection) -> None:
            rows.execute("VACUUM")
            rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        self._on(shelf, shrink)

    def drop(self, shelf: str) -> None:
        """Removes a whole shelf; unlike removing its items, this works on a full disk."""
        self.close()
        aside = (self.folder / shelf).with_name(f"{_ASIDE}{uuid4().hex}")
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            (self.folder / shelf).rename(aside)
        remove(aside)

    def close(self) -> None:
        """Closes the idle connections; the next call opens new ones."""
        self._own()
        with self._lock:
            idle, self._idle = self._idle, {}
        for opened in (opened for each in idle.values() for opened in each):
            _close(opened.rows)

    # ------------------------------------------------------------ connections

    def _own(self) -> None:
        """Drops the connections that a parent process opened: SQLite does not survive a fork."""
        if getattr(self, "_process", None) != os.getpid():
            self._process = os.getpid()
            self._lock = threading.Lock()
            self._inherited.append(self._idle)  # not closed: they are the parent's
            self._idle = {}

    def _on(self, shelf: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """The value that `work` returns for a shelf; where the shelf fails, it is repaired and `work` tried again."""
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
        """A connection to a shelf, kept for the next call unless this one fails."""
        opened = self._take(shelf, path)
        try:
            yield opened.rows
            if identity_of(path) != opened.file:
                raise _ReplacedError(f"{path} was replaced while it was in use")  # the rows just written are lost
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
        """Makes the next try possible. Raises ConfigError where nothing helps."""
        if _is_locked(error):
            time.sleep(_RETRY_AFTER)
        elif identity_of(path) != file or not path.parent.exists():
            return  # another process has moved or replaced the shelf: the next try opens the new one
        elif isinstance(error, sqlite3.Error) and (_is_damage(error) or _is_obstructed(path)):
            _set_aside(path, file, error)
        else:
            raise self._refused(path, error) from error

    def _refused(self, path: Path, error: sqlite3.Error | OSError) -> ConfigError:
        if _is_locked(error):
            return ConfigError(
                f"Another process has locked {path.parent.name} in cache folder {self.folder.parent}. "
                "Wait until that process has ended, or name another folder with --cache-dir."
            )
        return CacheRefusedError.of(self.folder.parent, error)

    def _read(self, shelf: str, read: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        return self._on(shelf, read) if self._writable else self._on_foreign(shelf, read, nothing)

    def _on_foreign(self, shelf: str, read: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """The value that `read` returns for a shelf that must not be written; `nothing` where it cannot be read."""
        path = self.folder / shelf / _FILE
        if not path.is_file():
            return nothing
        # A process that was killed, or is writing now, leaves rows in the -wal file; reading them may create files.
        modes = ["", "&immutable=1"] if identity_of(Path(f"{path}-wal")) else ["&immutable=1"]
        for mode in modes:
            try:
                place = f"{path.absolute().as_uri()}?mode=ro{mode}"
                with contextlib.closing(sqlite3.connect(place, uri=True)) as rows:
                    rows.text_factory = bytes
                    return read(rows)
            except sqlite3.Error as error:
                reason = error
        if shelf not in self._unreadable:
            self._unreadable.add(shelf)
            _log.warning("cache: cannot read %s (%s); its entries are made again", path, reason)
        return nothing


# ---------------------------------------------------------------- rows


def _connect(path: Path) -> sqlite3.Connection:
    rows = sqlite3.connect(path, timeout=_LOCKED_FOR, check_same_thread=False)
    try:
        rows.text_factory = bytes  # a damaged row may claim to hold text
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


def _lookup(rows: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    marks = ",".join("?" * len(keys))
    for key, value, check in rows.execute(f"SELECT key, value, checksum FROM items WHERE key IN ({marks})", keys):
        if _is_whole(key, value, check):
            yield key, value


def _is_whole(key: object, value: object, check: object) -> bool:
    """Whether a row is as it was written."""
    return isinstance(key, bytes) and isinstance(value, bytes) and check == _check(key, value)


def _check(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(key + value, digest_size=_CHECK_BYTES).digest()


# ---------------------------------------------------------------- failures


def _code(error: BaseException) -> int:
    """SQLite's own number of an error; an error without one comes from a row with impossible content."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)


def _is_locked(error: sqlite3.Error | OSError) -> bool:
    return isinstance(error, sqlite3.Error) and _code(error) & 0xFF in _LOCKED


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, rather than the disk full or the folder read-only."""
    code = _code(error)
    if code & 0xFF == sqlite3.SQLITE_IOERR:
        return code in _UNREADABLE
    return code & 0xFF not in _REFUSED


def _is_obstructed(path: Path) -> bool:
    """Whether a folder is in the place of one of the shelf's files."""
    return any(Path(f"{path}{end}").is_dir() for end in ("", "-wal", "-shm"))


def _set_aside(path: Path, damaged: Identity | None, error: Exception) -> None:
    """Removes a damaged shelf; a new one that another process has put in its place stays, or comes back."""
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
        _log.warning("cache: the shelf %s is damaged (%s); its entries are made again", path.parent.name, error)
    remove(aside)


def identity_of(path: Path) -> Identity | None:
    """Device and number of a file; None if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
