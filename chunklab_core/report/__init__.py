"""Stage 8, report: Report -> report.json, and one screen of text."""

from __future__ import annotations

from pathlib import Path

from chunklab_core.records.report import Report
from chunklab_core.report.folder import write_whole
from chunklab_core.report.json import report_to_json

FILE_NAME = "report.json"


def write_report(report: Report, folder: Path) -> Path:
    """The path of the report.json just written: whole, or not at all.

    Raises:
        ConfigError: the folder cannot be made or written.
    """
    return write_whole(folder, FILE_NAME, report_to_json(report))
