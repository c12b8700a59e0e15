"""The folder of the cache for one run: what to do where it is read-only, full, from another version, or loses entries.

Why: the cache saves time, and a run must not end for the want of it. Where the folder cannot take what a run makes,
the run goes on with a temporary folder on top of it; where an entry is lost while the run goes on, it is made again.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from chunklab_core.cache.files import write_atomically
from chunklab_core.cache.protocol import MissingError
from chunklab_core.cache.store import Store, layer_over
from chunklab_core.errors import CacheRefusedError, ConfigError

T = TypeVar("T")

FORMAT = 3  # of the store; one more with every change that an older chunklab would not understand
MARK = "version"
_ATTEMPTS = 5

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def usable_cache(root: Path) -> Iterator[Path]:
    """The folder that a run keeps its results in: `root`, or one that lasts as long as the run where that is no use.

    A read-only folder is read through the temporary one. A folder of a newer chunklab is neither read nor written.

    Raises:
        ConfigError: there can be no such folder, or no temporary one either.
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
        _log.warning("cache: %s is read, but takes nothing (%s); new results last for this run only", root, reason)
    else:
        _log.warning(
            "cache: %s was made by a newer chunklab (format %d, this one knows %d) and is left as it is; "
            "the results of this run last for this run only",
            *(root, newer, FORMAT),
        )
    with _temporary(root if refused else None, refused) as folder:
        yield folder


def run_patiently(root: Path, attempt: Callable[[Store, bool], T]) -> T:
    """What `attempt` returns, tried again where the cache has lost an entry or has no more room.

    Args:
        root: the folder of the cache.
        attempt: does the run with a store; told whether it is tried again. What it has made before is in the store.

    Raises:
        ConfigError: the folder loses entries as fast as they are made, or is full and there is no other disk.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(usable_cache(root))
        for number in range(_ATTEMPTS):
            try:
                with Store(folder) as store:
                    return attempt(store, number > 0)
            except MissingError as error:
                _log.warning("cache: %s; it is made again", error.args[0])
            except CacheRefusedError as error:
                folder = stack.enter_context(_other_disk(folder, error))
    raise ConfigError(
        f"The cache folder {root} lost what this run wrote, {_ATTEMPTS} times over. "
        "Let no other program clear it during a run, or run with --no-cache."
    )


@contextlib.contextmanager
def _other_disk(full: Path, error: CacheRefusedError) -> Iterator[Path]:
    """A temporary folder over one that takes nothing more, on another disk; without one, the error stands."""
    try:
        elsewhere = _device(full) != _device(Path(tempfile.gettempdir()))
    except OSError:
        elsewhere = False
    if not elsewhere:
        raise error
    _log.warning("cache: %s takes nothing more; what this run still makes lasts for this run only", full)
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
                layer_over(folder, below)
        except (OSError, ConfigError) as error:
            raise refused or error from error
        yield folder


def _device(folder: Path) -> int:
    return folder.stat().st_dev


def _newer_format(root: Path) -> int | None:
    """The format of the folder if this version of chunklab does not know it yet."""
    try:
        found = int((root / MARK).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None  # new, from before there was a mark, or damaged: every entry is checked by itself anyway
    return found if found > FORMAT else None


def _mark(root: Path) -> None:
    mark = root / MARK
    with contextlib.suppress(OSError):  # the next entry will tell
        if not mark.is_file() or mark.read_bytes() != b"%d\n" % FORMAT:
            write_atomically(mark, [b"%d\n" % FORMAT])
