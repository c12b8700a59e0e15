"""Files of the cache: written in one step, and removed whatever is in their place."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Writes a file in one step: a reader sees the whole old content or the whole new one."""
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


def remove(path: Path) -> None:
    """Removes the file or folder at a path, as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def make_folder(folder: Path, root: Path) -> None:
    """Makes a folder below `root`; a file in its way does not belong to a cache, and is removed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        for place in (root, *reversed(folder.relative_to(root).parents), folder):
            obstacle = root / place
            if obstacle.exists() and not obstacle.is_dir():
                remove(obstacle)
        folder.mkdir(parents=True, exist_ok=True)
