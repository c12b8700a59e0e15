"""Checks of a chunker's parameters, so that a value that cannot work is refused before any document is read."""

from __future__ import annotations

import math

from chunklab_core.errors import ConfigError


def check_overlap(chunker: object) -> None:
    """Raises ConfigError unless `chunk_size`, `overlap` (less than `chunk_size`) and `heading_path` can work."""
    size, overlap = need_whole(chunker, "chunk_size", 1), need_whole(chunker, "overlap", 0)
    need_flag(chunker, "heading_path")
    if overlap >= size:
        raise _disorder(chunker, "overlap", "chunk_size", "less than", "or every chunk would begin at the same place")


def check_limits(chunker: object) -> None:
    """Raises ConfigError unless `max_tokens`, `min_tokens` (at most `max_tokens`) and `heading_path` can work."""
    largest, smallest = need_whole(chunker, "max_tokens", 1), need_whole(chunker, "min_tokens", 0)
    need_flag(chunker, "heading_path")
    if smallest > largest:
        raise _disorder(chunker, "min_tokens", "max_tokens", "at most", "or no chunk can be both")


def need_whole(chunker: object, key: str, minimum: int) -> int:
    """The whole number stored under `key`. Raises ConfigError for anything else, or less than `minimum`."""
    value = getattr(chunker, key)
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise _refused(chunker, key, f"a whole number of at least {minimum}")
    return value


def need_percent(chunker: object, key: str) -> None:
    """Raises ConfigError unless a number from 0 to 100 is stored under `key`."""
    value = getattr(chunker, key)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= 100:
        raise _refused(chunker, key, "a number from 0 to 100")


def need_flag(chunker: object, key: str) -> None:
    """Raises ConfigError unless true or false is stored under `key`."""
    if not isinstance(getattr(chunker, key), bool):
        raise _refused(chunker, key, "true or false")


def method_name(chunker: object) -> str:
    """The name of this built-in in a configuration."""
    return getattr(chunker, "name", type(chunker).__name__)


def _refused(chunker: object, key: str, expected: str) -> ConfigError:
    return ConfigError(f"{method_name(chunker)}.{key} is {getattr(chunker, key)!r}; it must be {expected}.")


def _disorder(chunker: object, low: str, high: str, bound: str, why: str) -> ConfigError:
    name = method_name(chunker)
    return ConfigError(
        f"{name}.{low} is {getattr(chunker, low)} and {name}.{high} is {getattr(chunker, high)}; {low} must be {bound} "
        f"{high}, {why}. Lower {low} or raise {high}."
    )
