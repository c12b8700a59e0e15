"""Claims: the texts that another process embeds right now, so that parallel runs share the work.

Why: runs that begin together on the same documents need the same texts in the same order, so each of them would find
every batch missing and embed it itself. A claim is a lock of the operating system on one byte of an empty file; the
text's key decides which byte. It ends with the process that holds it, however the process ends, so none is left behind.
Without such locks (Windows, some network folders) work may be done twice, but no result is ever wrong.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_OFFSET_BYTES = 7  # of a key; the system's offsets have 63 bits


class Claims:
    """The claims of this process on one shelf. For one thread at a time: the locks are those of the process."""

    def __init__(self, file: int | None) -> None:
        self._file = file

    def take(self, keys: Sequence[bytes]) -> list[bytes]:
        """Claims the keys that no other process has claimed, and returns them."""
        return [key for key in keys if self._try(key)]

    def release(self, keys: Sequence[bytes]) -> None:
        """Releases claims, once the results are stored."""
        if sys.platform != "win32" and self._file is not None:
            for key in keys:
                with contextlib.suppress(OSError):
                    fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _offset(key))

    def _try(self, key: bytes) -> bool:
        if sys.platform == "win32" or self._file is None:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
        except (BlockingIOError, PermissionError):  # systems differ
            return False
        except OSError:  # a folder without locks
            return True
        return True


def _offset(key: bytes) -> int:
    return int.from_bytes(key[:_OFFSET_BYTES], "big")


@contextlib.contextmanager
def claims_of(path: Path) -> Iterator[Claims]:
    """The claims on a shelf, held in a file of this name; all are released at the end."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # a read-only folder: processes cannot share work there
        yield Claims(None)
        return
    try:
        yield Claims(file)
    finally:
        os.close(file)
