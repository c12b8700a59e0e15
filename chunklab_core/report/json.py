"""report.json: all figures of a run, for programs and for later runs to compare with.

Why: a figure that cannot be traced to its inputs, or that differs between two equal runs, is no evidence. So equal
inputs give the same text byte for byte; `provenance.run` alone holds what differs, and a figure that is not defined is
null with its reason under `undefined` beside it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import Any, get_type_hints

from chunklab_core.records.marks import Mark, Undefined
from chunklab_core.records.report import Report
from chunklab_core.report.undefined import reason_in_words

# Legal in JSON and a danger elsewhere: terminals obey C1 and bidi controls, JavaScript breaks lines at U+2028, and
# half a surrogate pair (from a file name that is no UTF-8) cannot be encoded.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_PLAIN = frozenset({str, int, float, bool, type(None)})
_EXPANDED = 3  # levels whose entries get a line each, so that two reports can be compared with a line diff


def report_to_json(report: Report) -> str:
    """The text of report.json; ends with a newline, encodes as UTF-8.

    Raises:
        ValueError: a figure is NaN or infinite; the message names it.
    """
    mapping = report_to_mapping(report)
    try:
        text = "".join(_lines(mapping, 0))
    except ValueError:
        raise ValueError(f"report_to_json: {_first_odd_number(mapping, 'report')} is not a finite number.") from None
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"


def report_to_mapping(report: Report) -> dict[str, Any]:
    """The report in plain JSON types, in the order in which it is written."""
    return _object(report)


# ---------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class WrittenField:
    """A field of a record, as report.json has it; `undefined` holds the reason where it may be null."""

    name: str
    mark: Mark | None
    undefined: Undefined | None


@cache
def written_fields(kind: type) -> tuple[WrittenField, ...]:
    """The fields of a kind of record, in the order of report.json."""
    hints = get_type_hints(kind, include_extras=True)
    marks = {name: getattr(hints[name], "__metadata__", ()) for name in kind.__annotations__}
    fields = (
        WrittenField(
            name,
            next((mark for mark in of_field if isinstance(mark, Mark)), None),
            next((mark for mark in of_field if isinstance(mark, Undefined)), None),
        )
        for name, of_field in marks.items()
    )
    return tuple(field for field in fields if field.mark is not Mark.KEY)


def _object(record: Any) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for field in written_fields(record.__class__):
        if field.name == "undefined":
            written["undefined"] = _reasons(record)
            continue
        value = getattr(record, field.name)
        if field.mark is None or (field.mark is Mark.LEFT_OUT and value not in (None, ())):
            written[field.name] = value if type(value) in _PLAIN else _plain(value)
        elif field.mark is Mark.INLINE:
            written.update(value)
    return written


def _plain(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return _object(value)
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _reasons(record: Any) -> dict[str, str]:
    """Why each value of a record that is null is so, by its key."""
    reasons = {}
    for field in written_fields(record.__class__):
        if field.undefined and _is_null(getattr(record, field.name)):
            reason = field.undefined.reason
            reasons[field.name] = reason_in_words(reason if isinstance(reason, str) else reason(record), record)
    return reasons


def _is_null(value: Any) -> bool:
    return None in value.values() if isinstance(value, Mapping) else value is None


# ---------------------------------------------------------------- text


def _lines(value: Any, depth: int) -> Iterator[str]:
    """JSON text in pieces; entries of the outer levels, and the rows of long lists, get a line each."""
    rows = isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    if not isinstance(value, dict | list) or not value or depth > _EXPANDED or (depth == _EXPANDED and not rows):
        yield _encode(value)
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    separator = opening + "\n"
    for key, item in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        yield separator + " " * (depth + 1) + (f"{_encode(key)}: " if key is not None else "")
        yield from _lines(item, depth + 1)
        separator = ",\n"
    yield "\n" + " " * depth + closing


def _plain_number(value: Any) -> Any:
    """A numpy number or truth value as Python's own."""
    return value.item()


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain_number).encode  # made once, not per row


def _first_odd_number(value: Any, path: str) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{path} ({value})"
    if isinstance(value, Mapping):
        children = ((f"{path}.{key}", item) for key, item in value.items())
    elif isinstance(value, list):
        children = ((f"{path}[{index}]", item) for index, item in enumerate(value))
    else:
        return None
    return next((odd for name, item in children if (odd := _first_odd_number(item, name))), None)
