"""An installation without the repository has the command and the schema, and explains the missing example."""

import tomllib
from importlib import import_module, resources
from pathlib import Path

import pytest
from pages import ROOT

from flows import cli
from flows.commands import run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_without_the_example_one_line_names_the_needed_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "_EXAMPLE", tmp_path / "examples" / "first_run")

    assert cli.run(["--out", str(tmp_path / "out")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--docs" in line
    assert "--questions" in line
    assert not (tmp_path / "out").exists()


def test_the_console_script_has_the_command_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, _, name = PROJECT["project"]["scripts"]["chunklab"].partition(":")
    command = getattr(import_module(module), name)
    monkeypatch.setattr("sys.argv", ["chunklab", "run", "--help"])

    with pytest.raises(SystemExit) as ended:
        command()
    assert ended.value.code == 0
    assert "--compare-retrievers" in capsys.readouterr().out


def test_the_schema_of_the_report_is_packaged() -> None:
    schema = resources.files("chunklab_core") / "report" / "report.schema.json"
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["chunklab_core"]

    assert schema.is_file()
    assert any(Path("report/report.schema.json").match(pattern) for pattern in patterns)
