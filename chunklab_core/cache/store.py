"""The content-addressed store: what a stage made, kept under the key of all that shaped it.

Two kinds of things are kept under one folder. A *result* is what one stage made for one strategy or cell: a file of
its own, named by its key. *Items* are the many small things inside (a parsed document, the chunks of one document, a
vector): rows of one SQLite file per shelf, so that a hundred thousand of them stay quick to read and safe to write (see
`chunklab_core.cache.shelves`).

Both are checked on reading. What is damaged counts as missing and is made anew; nothing is ever unpickled.
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
from uuid import uuid4

from chunklab_core.cache.files import make_folder, remove, write_atomically
from chunklab_core.cache.protocol import Items, MissingError, Ref
from chunklab_core.cache.shelves import Shelves
from chunklab_core.errors import CacheRefusedError, ConfigError

_OLDER = b"chunklab result "  # of whatever version
_MAGIC = _OLDER + b"2\n"
_DIGEST_BYTES = 32
_BELOW = "below"  # the file that names the store under a layer
_CHECKED_TOGETHER = 500  # items in memory at once
_KEPT_BYTES = 32_000_000  # of results, in memory
_TRIAL_BYTES = 65_536  # a full disk often takes a little less
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_log = logging.getLogger(__name__)


def default_cache_dir() -> Path:
    """Where results are kept unless the user says otherwise: `CHUNKLAB_CACHE`, else the system's cache folder."""
    import platformdirs

    return Path(os.environ.get("CHUNKLAB_CACHE") or platformdirs.user_cache_dir("chunklab", appauthor=False))


def layer_over(folder: Path, below: Path) -> None:
    """Makes a new folder a layer over a store that is only read."""
    write_atomically(folder / _BELOW, [str(below.absolute()).encode("utf-8", "surrogateescape")])


class Store:
    """Results and items under one folder. Safe for several processes at once: writes are atomic and idempotent.

    A folder that holds a file `below` is a layer over another store: what it does not hold itself is read there, and
    nothing is written there. See `layer_over`.
    """

    def __init__(self, root: str | Path, *, writable: bool = True) -> None:
        self.root = Path(root)
        self._writable = writable
        self._shelves = Shelves(self.root / "items", writable=writable)
        self._recent = _Recent()
        below = _text_of(self.root / _BELOW) if writable else None
        self._below = Store(below, writable=False) if below else None

    @property
    def below(self) -> Store | None:
        """The store under this layer; None where this is none."""
        return self._below

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files that are kept open between calls; the store can still be used."""
        self._shelves.close()

    def check_writable(self) -> None:
        """Asked once, before any work.

        Raises:
            CacheRefusedError: nothing can be kept in the folder: it is read-only, or the disk is full.
            ConfigError: there can be no such folder.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root) as file:
                file.write(bytes(_TRIAL_BYTES))
        except OSError as error:
            kind = CacheRefusedError if error.errno in _REFUSALS else ConfigError
            raise kind(
                f"The cache folder {self.root} cannot be written ({error.strerror}). "
                "Name another with --cache-dir, or run with --no-cache."
            ) from error

    # ------------------------------------------------------------ results

    def holds(self, ref: Ref) -> bool:
        """Whether there is a result of this name; cheap, and no promise that it can still be read: see `intact`."""
        found = _stat(self.path_of(ref))
        if found is None:
            return self._below is not None and self._below.holds(ref)
        return stat.S_ISREG(found.st_mode) and found.st_size > 0

    def intact(self, ref: Ref, *, with_items: bool = True) -> bool:
        """Whether a result, and all items it leans on, can be read as they were written; a damaged one is discarded."""
        try:
            items = self._read(ref)[0]
        except MissingError:
            return False
        if items is None or not with_items or not self.missing_items(items.shelf, items.keys):
            return True
        _log.warning("cache: some items of %s are missing or damaged; it is made anew", ref)
        self.discard(ref)
        return False

    def write(self, ref: Ref, payload: bytes, items: Items | None = None) -> None:
        """Keeps a result under its name, in one step: a reader sees all of it or nothing.

        Raises:
            CacheRefusedError: the folder takes nothing.
        """
        leans_on = b"" if items is None else b"".join(items.keys)
        head = {"shelf": items.shelf if items else None, "keys": len(items.keys) if items else 0}
        body = json.dumps(head).encode() + b"\n" + leans_on + payload
        self._recent.forget(ref)
        self._place(self.path_of(ref), [_MAGIC, _seal(ref, body), body])

    def read(self, ref: Ref) -> bytes:
        """The payload of a result. Raises MissingError when it is missing or damaged."""
        return self._read(ref)[1]

    def items_of(self, ref: Ref) -> tuple[bytes, ...]:
        """The keys of the items that a result leans on, in the order in which they were written."""
        items = self._read(ref)[0]
        return () if items is None else items.keys

    def leans_on(self, ref: Ref) -> Items | None:
        """The items that a result leans on; None where it leans on none. Raises MissingError."""
        return self._read(ref)[0]

    def refs(self) -> list[Ref]:
        """The names of all results, whether or not they are whole, sorted."""
        files = (self.root / "results").glob("*/??/*")
        return sorted(Ref(f"{file.parts[-3]}/{file.name}") for file in files if not file.name.startswith("."))

    def discard(self, ref: Ref) -> None:
        """Forgets a result, so that the next run makes it anew."""
        self._recent.forget(ref)
        if self._below is not None and self._below.holds(ref):
            self._place(self.path_of(ref), [])  # an empty file hides what lies below
        else:
            remove(self.path_of(ref))

    def discard_with_items(self, ref: Ref) -> None:
        """Forgets a result and the items it leans on, so that the next run takes over nothing of it."""
        with contextlib.suppress(MissingError):
            items = self._read(ref)[0]
            if items is not None:
                self.discard_items(items.shelf, items.keys)
        self.discard(ref)

    def path_of(self, ref: Ref) -> Path:
        """The file in which a result lies."""
        stage, key = ref.split("/", 1)
        return self.root / "results" / stage / key[:2] / key

    def _place(self, path: Path, parts: Sequence[bytes]) -> None:
        """Writes a file of the store; what lies in its way is no part of a cache, and is removed."""
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
        """A result as it was written: checked now, or before and kept in memory since."""
        path = self.path_of(ref)
        state = _state(path)
        if state is None and self._below is not None:
            return self._read_below(ref, self._below)
        known = self._recent.get(ref, state)
        if known is not None:
            return known
        try:
            content = path.read_bytes()
        except OSError as error:
            self._give_up(ref)
            raise MissingError(f"{ref} is not in the cache") from error
        if not _is_whole(ref, content):
            self._give_up(ref)
            raise MissingError(f"{ref} is damaged in the cache")
        result = _split(content)
        self._recent.keep(ref, state, result, len(content))
        return result

    def _read_below(self, ref: Ref, below: Store) -> _Result:
        """A result of the store under this layer; a damaged one is hidden, for there it cannot be removed."""
        try:
            return below._read(ref)
        except MissingError:
            self.discard(ref)
            raise

    def _give_up(self, ref: Ref) -> None:
        """Takes a damaged result away, but not a good one that another process has put in its place since."""
        path = self.path_of(ref)
        if not self._writable or _stat(path) is None or (self._below and path.stat().st_size == 0):
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
        if not content.startswith(_OLDER) or content.startswith(_MAGIC):
            _log.warning("cache: %s is damaged; it is made anew", ref)
        remove(aside)

    # ------------------------------------------------------------ items

    def get_items(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The items of a shelf that are there and whole, by key; the others are left out."""
        wanted = list(dict.fromkeys(keys))
        found = self._shelves.get(shelf, wanted)
        here = {key: value for key, value in found.items() if value is not None}
        if self._below is None or len(found) == len(wanted):
            return here
        return {**self._below.get_items(shelf, [key for key in wanted if key not in found]), **here}

    def get_all_items(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The items of a shelf, by key. Raises MissingError when one of them is missing or damaged."""
        found = self.get_items(shelf, keys)
        missing = set(keys) - found.keys()
        if missing:
            raise MissingError(f"{len(missing)} items of {shelf} are not in the cache")
        return found

    def missing_items(self, shelf: str, keys: Sequence[bytes]) -> list[bytes]:
        """Those of the keys, in their order and each once, whose items are not there or not whole."""
        wanted = list(dict.fromkeys(keys))
        parts = (wanted[at : at + _CHECKED_TOGETHER] for at in range(0, len(wanted), _CHECKED_TOGETHER))
        return [key for part in parts for found in [self.get_items(shelf, part)] for key in part if key not in found]

    def put_items(self, shelf: str, items: Mapping[bytes, bytes]) -> None:
        """Keeps items under their keys, all of them or none. Raises CacheRefusedError: the folder takes nothing."""
        self._shelves.put(shelf, items.items())

    def claims_file(self, shelf: str) -> Path:
        """The file whose locks show which items of a shelf another process is making."""
        return self.root / "items" / f"{shelf}.claims"

    @property
    def shelves(self) -> Shelves:
        """The items, shelf by shelf, for whoever looks after the cache."""
        return self._shelves

    def discard_items(self, shelf: str, keys: Iterable[bytes]) -> None:
        """Forgets items."""
        if self._below is not None:
            self._shelves.hide(shelf, keys)
        else:
            self._shelves.delete(shelf, keys)


# ---------------------------------------------------------------- results as files

_Result = tuple[Items | None, bytes]
_State = tuple[int, int, int, int]
"""What changes with the content of a file: device and number, size, time of the last change."""


class _Recent:
    """Results that were read and found whole, the newest of them within bounds: none is read and checked twice."""

    def __init__(self) -> None:
        self._kept: dict[Ref, tuple[_State | None, _Result, int]] = {}
        self._lock = threading.Lock()

    def get(self, ref: Ref, state: _State | None) -> _Result | None:
        """The result, if its file is still the one that was checked."""
        kept = self._kept.get(ref)
        return kept[1] if kept and state is not None and kept[0] == state else None

    def keep(self, ref: Ref, state: _State | None, result: _Result, n_bytes: int) -> None:
        """Keeps a result that is whole, at the cost of those that were kept before it."""
        if n_bytes > _KEPT_BYTES // 2:
            return
        with self._lock:
            self._kept.pop(ref, None)
            self._kept[ref] = (state, result, n_bytes)
            while sum(n for _, _, n in self._kept.values()) > _KEPT_BYTES:
                del self._kept[next(iter(self._kept))]

    def forget(self, ref: Ref) -> None:
        """Forgets a result that is about to change."""
        with self._lock:
            self._kept.pop(ref, None)


def _is_whole(ref: Ref, content: bytes) -> bool:
    start = len(_MAGIC) + _DIGEST_BYTES
    whole = content.startswith(_MAGIC) and len(content) > start
    return whole and _seal(ref, memoryview(content)[start:]) == content[len(_MAGIC) : start]


def _split(content: bytes) -> _Result:
    """The items that a result leans on, and its payload."""
    start = len(_MAGIC) + _DIGEST_BYTES
    line_end = content.index(b"\n", start)
    head = json.loads(content[start:line_end])
    payload_start = line_end + 1 + head["keys"] * _DIGEST_BYTES
    keys = content[line_end + 1 : payload_start]
    split = tuple(keys[at : at + _DIGEST_BYTES] for at in range(0, len(keys), _DIGEST_BYTES))
    return (Items(head["shelf"], split) if head["shelf"] else None), content[payload_start:]


def _seal(ref: Ref, body: bytes | memoryview) -> bytes:
    """The checksum of a result, its name included: a whole file in another's place is damage, too."""
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


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
