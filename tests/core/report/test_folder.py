"""The folder of a report: checked before any work, written in one step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chunklab_core.errors import ConfigError
from chunklab_core.records.report import Report
from chunklab_core.report import write_report
from chunklab_core.report.folder import check_output
from chunklab_core.report.json import report_to_json


def test_a_report_is_written_whole_and_leaves_nothing_else(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    check_output(folder)
    assert not folder.exists()

    for _ in range(2):
        path = write_report(report, folder)

    assert [entry.name for entry in folder.iterdir()] == ["report.json"]
    assert path.read_bytes().decode("utf-8") == report_to_json(report)
    assert path.read_bytes().endswith(b"}\n")


def test_a_write_that_fails_leaves_the_old_report(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_report(report, tmp_path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        write_report(replace(report, k=9), tmp_path)

    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    (tmp_path / "taken" / "report.json").mkdir(parents=True)

    for folder in (file, file / "below"):
        with pytest.raises(ConfigError, match=r"file is not a folder|Not a directory"):
            check_output(folder)
    with pytest.raises(ConfigError, match=r"report\.json is a folder"):
        check_output(tmp_path / "taken")
