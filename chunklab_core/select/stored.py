"""A survey read back from plain JSON types into its records."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from chunklab_core.records.survey import Survey


def survey_from_mapping(stored: Mapping[str, Any]) -> Survey:
    """The survey that was stored as plain JSON types (`dataclasses.asdict`)."""
    survey: Survey = _record(Survey, stored)
    return survey


def _record(kind: Any, value: Any) -> Any:
    """The value in the type of its annotation: JSON has neither records nor tuples."""
    if value is None:
        return None
    if get_origin(kind) in (Union, types.UnionType):
        return _record(next(part for part in get_args(kind) if part is not type(None)), value)
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        if kinds[-1] is Ellipsis:
            return tuple(_record(kinds[0], part) for part in value)
        return tuple(_record(each, part) for each, part in zip(kinds, value, strict=True))
    kind = get_origin(kind) or kind
    if isinstance(kind, type) and is_dataclass(kind):
        fields = _fields(kind)
        return kind(**{name: _record(fields[name], part) for name, part in value.items()})
    return value


@lru_cache(maxsize=64)
def _fields(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
