"""Marks on the fields of records: which values report.json allows there, and how it writes them.

Why: the records are the only description of report.json. The text and the JSON Schema are made from them, so a new
field is one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any


class Keywords:
    """JSON Schema keywords of a field's values; pydantic reads them when it makes the schema."""

    def __init__(self, **keywords: Any) -> None:
        self._keywords = keywords

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Callable[[Any], dict[str, Any]]) -> Any:
        return {**handler(core_schema), **self._keywords}


class Mark(Enum):
    """How a field is written, where it is not simply its name and its value."""

    LEFT_OUT = "left out where it is None or empty"
    INLINE = "its entries are written in place of it, as fields of the record"
    KEY = "not written"


@dataclass(frozen=True, slots=True)
class Undefined:
    """A field that may be null: `undefined` in the same record then holds the reason.

    `reason` is a code of `chunklab_core.report.undefined`, or gives the code for a record.
    """

    reason: str | Callable[[Any], str]


Reasons = Mapping[str, str]
"""By field that is null, the reason.

A record with such fields declares `undefined: ClassVar[Reasons]` at its place in report.json; the reasons are found
when the record is written.
"""

Share = Annotated[float, Keywords(minimum=0, maximum=1)]
Amount = Annotated[float, Keywords(minimum=0)]
Count = Annotated[int, Keywords(minimum=0)]
Positive = Annotated[int, Keywords(minimum=1)]
Name = Annotated[str, Keywords(minLength=1)]
Digest = Annotated[str, Keywords(pattern="^[0-9a-f]+$")]
ShareInterval = tuple[Share, Share]
