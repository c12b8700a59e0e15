"""Options that several commands share."""

import argparse
from typing import Any


def add_cache_dir(group: Any) -> None:
    """Adds `--cache-dir` to a parser or a group of its options."""
    group.add_argument(
        "--cache-dir",
        metavar="DIR",
        type=path,
        help="cache folder [environment variable CHUNKLAB_CACHE, else the system's cache folder]",
    )


def path(value: str) -> str:
    """A path as given. Refuses an empty one, which an unset variable leaves: it would mean another folder."""
    if not value.strip():
        raise argparse.ArgumentTypeError("the path is empty; name a path, or leave the option out")
    return value
