"""The cache folder of one run: what to do where it is read-only, full, from another version, or loses entries.

Why: the cache saves time, and cache problems should rarely stop a run. Where the folder cannot be written to, the run
continues with a temporary folder over it; an entry that is lost during the run is made again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from chunklab_core.cache.files import write_atomically
from chunklab_core.cache.overlay import lay_over, open_store
from chunklab_core.cache.protocol import MissingError
from chunklab_core.cache.store import Store
from chunklab_core.errors import CacheRefusedError, ConfigError

T = TypeVar("T")

FORMAT = 3  # of the store; add one with every change that an older chunklab would not understand
MARK = "version"
_ATTEMPTS = 5

_log = logging.getLogger(__name__)


def default_cache_dir() -> Path:
    """The cache folder unless the user names one: `CHUNKLAB_CACHE`, else the system's cache folder."""
    import platformdirs

    return Path(os.environ.get("CHUNKLAB_CACHE") or platformdirs.user_cache_dir("chunklab", appauthor=False))


@contextlib.contextmanager
def usable_cache(root: Path) -> Iterator[Path]:
    """The folder that a run writes its results to: `root`, or a temporary one where `root` cannot be used.

    A read-only folder is read through the temporary one. A folder of a newer chunklab is neither read nor written.

    Raises:
        ConfigError: there can be no such folder, nor a temporary one.
    """
    refused: CacheRefusedError | None = None
    newer = _newer_format(root)
    if newer is None:
        try:
            Store(root).check_writable()
            _mark(root)
        except CacheRefusedError as error:
            refused = error
        if refused is None:
            yield root
            return
        reason = getattr(refused.__cause__, "strerror", None) or refused
        _log.warning(
            "cache: cannot write to %s (%s); its results are reused, new ones last for this run only", root, reason
        )
    else:
        _log.warning(
            "cache: %s comes from a newer chunklab (format %d, this version reads up to %d) and is not used; "
            "results last for this run only",
            *(root, newer, FORMAT),
        )
    with _temporary(root if refused else None, refused) as folder:
        yield folder


def run_patiently(root: Path, attempt: Callable[[Store, bool], T]) -> T:
    """The value that `attempt` returns, tried again where the cache has lost an entry or is full.

    Args:
        root: the folder of the cache.
        attempt: does the run with a store; its second argument is True from the second try on. The store then holds
            all that earlier tries finished.

    Raises:
        ConfigError: the folder loses entries as fast as they are made, or is full and there is no other disk.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(usable_cache(root))
        for number in range(_ATTEMPTS):
            try:
                with open_store(folder) as store:
                    return attempt(store, number > 0)
            except MissingError as error:
                _log.warning("cache: %s; it is made again", error.args[0])
            except CacheRefusedError as error:
                folder = stack.enter_context(_other_disk(folder, error))
    raise ConfigError(
        f"The cache folder {root} lost results of this run {_ATTEMPTS} times. "
        "Let no other program clear it during a run, or run with --no-cache."
    )


@contextlib.contextmanager
def _other_disk(full: Path, error: CacheRefusedError) -> Iterator[Path]:
    """A temporary folder on another disk, over a full one. Raises the error where there is no other disk."""
    try:
        elsewhere = _device(full) != _device(Path(tempfile.gettempdir()))
    except OSError:
        elsewhere = False
    if not elsewhere:
        raise error
    _log.warning("cache: cannot write to %s any more; new results last for this run only", full)
    with _temporary(full, error) as folder:
        yield folder


@contextlib.contextmanager
def _temporary(below: Path | None, refused: CacheRefusedError | None) -> Iterator[Path]:
    with contextlib.ExitStack() as stack:
        try:
            folder = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="chunklab-", ignore_cleanup_errors=True))
            )
            Store(folder).check_writable()
            if below is not None:
                lay_over(folder, below)
        except (OSError, ConfigError) as error:
            raise refused or error from error
        yield folder


def _device(folder: Path) -> int:
    return folder.stat().st_dev


def _newer_format(root: Path) -> int | None:
    """The format of the folder, if it is newer than this version of chunklab reads."""
    try:
        found = int((root / MARK).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None  # a new folder, an old one without a mark, or a damaged mark: every entry is checked by itself
    return found if found > FORMAT else None


def _mark(root: Path) -> None:
    mark = root / MARK
    with contextlib.suppress(OSError):  # the next write reports it
        if not mark.is_file() or mark.read_bytes() != b"%d\n" % FORMAT:
            write_atomically(mark, [b"%d\n" % FORMAT])
