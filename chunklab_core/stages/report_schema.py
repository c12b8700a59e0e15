"""Writes the JSON Schema of report.json: `python -m chunklab_core.stages.report_schema`.

Why here: the schema needs the records of the report and the metrics of the score room.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chunklab_core.report
from chunklab_core.score import METRICS, is_share

PATH = Path(chunklab_core.report.__file__).with_name("report.schema.json")
_WIDTH = 120


def schema_text() -> str:
    """The text of the schema file; ends with a newline."""
    from chunklab_core.report.schema import report_schema  # pydantic is slow to import, and a run needs none of it

    return _text(report_schema({metric: is_share(metric) for metric in METRICS}), "") + "\n"


def _text(value: Any, indent: str) -> str:
    """JSON, on one line where it fits."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(flat) < _WIDTH or not isinstance(value, dict | list):
        return flat
    inner = f"{indent}  "
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)}: {_text(item, inner)}" for key, item in value.items()]
    else:
        entries = [_text(item, inner) for item in value]
    first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return f"{first}\n{inner}" + f",\n{inner}".join(entries) + f"\n{indent}{last}"


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
