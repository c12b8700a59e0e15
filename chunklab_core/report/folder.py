"""The folder of a report: checked before any work, and written so that nobody ever reads half a file.

Why: an evaluation of an hour that ends with "permission denied" is an hour lost, and a program that reads a report
while the next run writes it must see the old one or the new one.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from uuid import uuid4

from chunklab_core.errors import ConfigError

_ADVICE = "Name another folder with --out."


def check_output(folder: Path) -> None:
    """Refuse a folder that cannot be written; the check leaves nothing behind.

    Raises:
        ConfigError: the folder, or the nearest one above that exists, cannot take a file.
    """
    try:
        places = (folder, *folder.absolute().parents)
        existing = next(place for place in places if place.exists() or place.is_symlink())
        if not existing.is_dir():
            raise ConfigError(f"Cannot write the report to {folder}: {existing} is not a folder. {_ADVICE}")
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise _unwritable(folder, error) from None
    taken = [path for path in folder.glob("report.*") if path.is_dir()]
    if taken:
        raise ConfigError(f"Cannot write the report to {folder}: {taken[0]} is a folder. {_ADVICE}")


def write_whole(folder: Path, name: str, text: str) -> Path:
    """The path of a UTF-8 file, which is written under another name and then renamed in one step."""
    path = folder / name
    unfinished = folder / f".{name}.{os.getpid()}.{uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_text(text, encoding="utf-8", newline="\n")
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    return path


def _unwritable(folder: Path, error: OSError) -> ConfigError:
    return ConfigError(f"Cannot write the report to {folder}: {error.strerror or error}. {_ADVICE}")
