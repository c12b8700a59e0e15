"""The content-addressed store: stage results and their items, each under the key of all that shaped it.

One folder holds two kinds of things. A *result* is what one stage made for one strategy or cell: a file of its own,
named by its key. *Items* are the many small things inside (a parsed document, the chunks of one document, a vector):
rows of one SQLite file per shelf, so that a hundred thousand of them are quick to read and safe to write (see
`chunklab_core.cache.shelves`).

Both are checked on reading. A damaged one counts as missing and is made again; nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
import stat
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self
from uuid import uuid4

from chunklab_core.cache.files import make_folder, remove, write_atomically
from chunklab_core.cache.protocol import Items, MissingError, Ref
from chunklab_core.cache.shelves import Shelves
from chunklab_core.errors import CacheRefusedError, ConfigError

_ANY_VERSION = b"chunklab result "
_MAGIC = _ANY_VERSION + b"2\n"
_DIGEST_BYTES = 32
_CHECKED_TOGETHER = 500  # items in memory at once
_REMEMBERED_BYTES = 32_000_000  # of results, in memory
_TRIAL_BYTES = 65_536  # a full disk often still accepts a small file
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_log = logging.getLogger(__name__)


class Store:
    """Results and items under one folder. Safe for several processes at once: writes are atomic and idempotent.

    With `writable` False nothing under the folder changes: damaged results and shelves stay where they are.
    """

    def __init__(self, root: str | Path, *, writable: bool = True) -> None:
        self.root = Path(root)
        self.shelves = Shelves(self.root / "items", writable=writable)
        self._writable = writable
        self._recent = _Recent()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders that it reads, its own first."""
        return (self.root,)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files that stay open between calls; the store remains usable."""
        self.shelves.close()

    def check_writable(self) -> None:
        """Checks that the folder accepts files. Call it once, before any work.

        Raises:
            CacheRefusedError: the folder is read-only, or the disk is full.
            ConfigError: there can be no such folder.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root) as file:
                file.write(bytes(_TRIAL_BYTES))
        except OSError as error:
            kind = CacheRefusedError if error.errno in _REFUSALS else ConfigError
            raise kind(
                f"Cannot write to cache folder {self.root} ({error.strerror}). "
                "Name another with --cache-dir, or run with --no-cache."
            ) from error

    # ------------------------------------------------------------ results

    def holds(self, ref: Ref) -> bool:
        """Whether there is a result of this name. Quick, but does not check that it is intact: see `intact`."""
        found = _stat(self.path_of(ref))
        return found is not None and stat.S_ISREG(found.st_mode) and found.st_size > 0

    def intact(self, ref: Ref, *, with_items: bool = True) -> bool:
        """Whether a result and all items that it needs read back as written; a damaged result is removed."""
        try:
            items = self.needs(ref)
        except MissingError:
            return False
        if items is None or not with_items or not self.missing_items(items.shelf, items.keys):
            return True
        _log.warning("cache: some items of %s are missing or damaged; it is made again", ref)
        self.discard(ref)
        return False

    def write(self, ref: Ref, payload: bytes, items: Items | None = None) -> None:
        """Stores a result under its name, in one step: a reader sees all of it or nothing.

        Raises:
            CacheRefusedError: the folder cannot be written to.
        """
        keys = b"".join(items.keys) if items else b""
        head = {"shelf": items.shelf if items else None, "keys": len(items.keys) if items else 0}
        body = json.dumps(head).encode() + b"\n" + keys + payload
        self._recent.forget(ref)
        self._place(self.path_of(ref), [_MAGIC, _seal(ref, body), body])

    def read(self, ref: Ref) -> bytes:
        """The payload of a result. Raises MissingError when it is missing or damaged."""
        return self._read(ref)[1]

    def needs(self, ref: Ref) -> Items | None:
        """The items that a result needs, if any. Raises MissingError when the result is missing or damaged."""
        return self._read(ref)[0]

    def items_of(self, ref: Ref) -> tuple[bytes, ...]:
        """The keys of the items that a result needs, in the order in which they were written."""
        items = self.needs(ref)
        return () if items is None else items.keys

    def refs(self) -> list[Ref]:
        """The names of all results, intact or not, sorted."""
        files = (self.root / "results").glob("*/??/*")
        return sorted(Ref(f"{file.parts[-3]}/{file.name}") for file in files if not file.name.startswith("."))

    def discard(self, ref: Ref) -> None:
        """Removes a result, so that the next run makes it again."""
        self._recent.forget(ref)
        remove(self.path_of(ref))

    def discard_with_items(self, ref: Ref) -> None:
        """Removes a result and the items that it needs, so that the next run reuses none of it."""
        with contextlib.suppress(MissingError):
            items = self.needs(ref)
            if items is not None:
                self.discard_items(items.shelf, items.keys)
        self.discard(ref)

    def path_of(self, ref: Ref) -> Path:
        """The file of a result."""
        stage, key = ref.split("/", 1)
        return self.root / "results" / stage / key[:2] / key

    def _place(self, path: Path, parts: Sequence[bytes]) -> None:
        """Writes a file of the store; whatever is in its way does not belong to a cache, and is removed."""
        try:
            try:
                write_atomically(path, parts)
            except (FileExistsError, NotADirectoryError, IsADirectoryError, FileNotFoundError):
                remove(path)
                make_folder(path.parent, self.root)
                write_atomically(path, parts)
        except OSError as error:
            raise CacheRefusedError.of(self.root, error) from error

    def _read(self, ref: Ref) -> _Result:
        """A result as it was written: checked now, or earlier and remembered since."""
        path = self.path_of(ref)
        state = _state(path)
        known = self._recent.get(ref, state)
        if known is not None:
            return known
        try:
            content = path.read_bytes()
        except OSError as error:
            self._remove_damaged(ref)
            raise MissingError(f"{ref} is not in the cache") from error
        if not _is_whole(ref, content):
            self._remove_damaged(ref)
            raise MissingError(f"{ref} is damaged in the cache")
        result = _split(content)
        self._recent.keep(ref, state, result, len(content))
        return result

    def _remove_damaged(self, ref: Ref) -> None:
        """Removes a damaged result, but not an intact one that another process has put in its place since."""
        path = self.path_of(ref)
        if not self._writable or _stat(path) is None:
            return
        aside = path.with_name(f".damaged-{uuid4().hex}")
        try:
            path.rename(aside)
        except OSError:
            return  # another process was faster, or the folder is read-only
        content = aside.read_bytes() if aside.is_file() else b""
        if _is_whole(ref, content):
            aside.replace(path)
            return
        if not content.startswith(_ANY_VERSION) or content.startswith(_MAGIC):
            _log.warning("cache: %s is damaged; it is made again", ref)
        remove(aside)

    # ------------------------------------------------------------ items

    def get_items(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The intact items of a shelf, by key; the others are left out."""
        return self.shelves.get(shelf, list(dict.fromkeys(keys)))

    def get_all_items(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The items of a shelf, by key. Raises MissingError when one of them is missing or damaged."""
        found = self.get_items(shelf, keys)
        missing = set(keys) - found.keys()
        if missing:
            raise MissingError(f"{len(missing)} items of {shelf} are not in the cache")
        return found

    def missing_items(self, shelf: str, keys: Sequence[bytes]) -> list[bytes]:
        """The keys, in their order and each once, whose items are missing or damaged."""
        unique, missing = list(dict.fromkeys(keys)), list[bytes]()
        for start in range(0, len(unique), _CHECKED_TOGETHER):
            part = unique[start : start + _CHECKED_TOGETHER]
            found = self.get_items(shelf, part)
            missing += [key for key in part if key not in found]
        return missing

    def put_items(self, shelf: str, items: Mapping[bytes, bytes]) -> None:
        """Stores items under their keys, all or none. Raises CacheRefusedError: the folder cannot be written to."""
        self.shelves.put(shelf, items.items())

    def discard_items(self, shelf: str, keys: Iterable[bytes]) -> None:
        """Removes items."""
        self.shelves.delete(shelf, keys)

    def claims_file(self, shelf: str) -> Path:
        """The file whose locks show which items of a shelf another process is making."""
        return self.root / "items" / f"{shelf}.claims"


# ---------------------------------------------------------------- results as files

_Result = tuple[Items | None, bytes]
_State = tuple[int, int, int, int]
"""Changes with the content of a file: device and number, size, time of the last change."""


class _Recent:
    """The results read last, up to a number of bytes, so that none is read and checked twice."""

    def __init__(self) -> None:
        self._results: dict[Ref, tuple[_State | None, _Result, int]] = {}
        self._lock = threading.Lock()

    def get(self, ref: Ref, state: _State | None) -> _Result | None:
        """The result, if its file has not changed since it was checked."""
        known = self._results.get(ref)
        return known[1] if known and state is not None and known[0] == state else None

    def keep(self, ref: Ref, state: _State | None, result: _Result, n_bytes: int) -> None:
        """Remembers an intact result, and forgets the oldest ones to make room."""
        if n_bytes > _REMEMBERED_BYTES // 2:
            return
        with self._lock:
            self._results.pop(ref, None)
            self._results[ref] = (state, result, n_bytes)
            while sum(n for _, _, n in self._results.values()) > _REMEMBERED_BYTES:
                del self._results[next(iter(self._results))]

    def forget(self, ref: Ref) -> None:
        """Forgets a result that is about to change."""
        with self._lock:
            self._results.pop(ref, None)


def _is_whole(ref: Ref, content: bytes) -> bool:
    start = len(_MAGIC) + _DIGEST_BYTES
    whole = content.startswith(_MAGIC) and len(content) > start
    return whole and _seal(ref, memoryview(content)[start:]) == content[len(_MAGIC) : start]


def _split(content: bytes) -> _Result:
    """The items that a result needs, and its payload."""
    start = len(_MAGIC) + _DIGEST_BYTES
    line_end = content.index(b"\n", start)
    head = json.loads(content[start:line_end])
    keys_start, payload_start = line_end + 1, line_end + 1 + head["keys"] * _DIGEST_BYTES
    keys = tuple(content[at : at + _DIGEST_BYTES] for at in range(keys_start, payload_start, _DIGEST_BYTES))
    return (Items(head["shelf"], keys) if head["shelf"] else None), content[payload_start:]


def _seal(ref: Ref, body: bytes | memoryview) -> bytes:
    """The checksum of a result and its name: an intact file in another's place is damage, too."""
    seal = hashlib.sha256(f"{ref}\n".encode())
    seal.update(body)
    return seal.digest()


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _state(path: Path) -> _State | None:
    found = _stat(path)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if found else None
