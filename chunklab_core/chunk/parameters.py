"""Checks of a chunker's parameters, so that what cannot work is refused before any document is read."""

from __future__ import annotations

import math
from typing import Any

from chunklab_core.errors import ConfigError


def need_whole(chunker: object, key: str, minimum: int) -> int:
    """The whole number stored under `key`. Raises ConfigError for anything else, or less than `minimum`."""
    value = getattr(chunker, key)
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise _refused(chunker, key, value, f"a whole number of at least {minimum}")
    return value


def need_percent(chunker: object, key: str) -> float:
    """The number stored under `key`. Raises ConfigError for anything but 0 to 100."""
    value = getattr(chunker, key)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= 100:
        raise _refused(chunker, key, value, "a number from 0 to 100")
    return float(value)


def need_flag(chunker: object, key: str) -> bool:
    """The flag stored under `key`. Raises ConfigError for anything but true and false."""
    value = getattr(chunker, key)
    if not isinstance(value, bool):
        raise _refused(chunker, key, value, "true or false")
    return value


def need_order(chunker: Any, low: str, high: str, *, strict: bool, why: str) -> None:
    """Raises ConfigError unless the value of `low` is below that of `high`, or equal where `strict` is false."""
    small, large = getattr(chunker, low), getattr(chunker, high)
    if small < large or (small == large and not strict):
        return
    name = method_name(chunker)
    bound = "less than" if strict else "at most"
    raise ConfigError(
        f"{name}.{low} is {small} and {name}.{high} is {large}; {low} must be {bound} {high}, {why}. "
        f"Lower {low} or raise {high}."
    )


def method_name(chunker: object) -> str:
    """The name under which a configuration asks for this built-in."""
    return getattr(chunker, "name", type(chunker).__name__)


def _refused(chunker: object, key: str, value: object, expected: str) -> ConfigError:
    return ConfigError(f"{method_name(chunker)}.{key} is {value!r}; it must be {expected}.")
