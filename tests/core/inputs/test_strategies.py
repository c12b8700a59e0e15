import os
from pathlib import Path

import pytest

from chunklab_core.inputs.config import config_from_mapping, load_config


def test_labels_of_one_strategy_show_the_parameters_that_differ() -> None:
    config = config_from_mapping(
        {
            "strategies": [
                {"name": "fixed", "params": {"chunk_size": 256, "overlap": 0}},
                {"name": "fixed", "params": {"chunk_size": 512, "overlap": 0}},
                {"name": "fixed"},
                {"name": "fixed", "params": {"chunk_size": 64}, "label": "tiny"},
                {"name": "recursive", "params": {"chunk_size": 64}},
            ]
        }
    )

    assert [strategy.label for strategy in config.strategies] == [
        "fixed (chunk_size=256, overlap=0)", "fixed (chunk_size=512, overlap=0)", "fixed", "tiny", "recursive",
    ]  # fmt: skip


def test_equal_numbers_of_different_type_are_different_parameters() -> None:
    config = config_from_mapping(
        {"strategies": [{"name": "x", "params": {"a": 1, "b": 2}}, {"name": "x", "params": {"a": True, "b": 2}}]}
    )

    assert [strategy.label for strategy in config.strategies] == ["x (a=1)", "x (a=true)"]


def test_a_plug_in_is_found_beside_its_config_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (home / "config.yaml").write_text(
        "strategies: [{name: cuts/by_clause.py:ByClause}, {name: package.module:Class}]\n"
    )
    monkeypatch.chdir(elsewhere)

    config = load_config(Path(os.path.relpath(home / "config.yaml", elsewhere)))
    clause, packaged = config.strategies

    file, _, attribute = clause.target.rpartition(":")
    assert (Path(file).resolve(), attribute) == ((home / "cuts" / "by_clause.py").resolve(), "ByClause")
    assert Path(file).is_absolute()
    assert (clause.name, clause.label) == ("cuts/by_clause.py:ByClause", "cuts/by_clause.py:ByClause")
    assert packaged.target == packaged.name
    override = load_config(home / "config.yaml", ["strategies=[{name: a.py:A}]"])
    assert override.strategies[0].target == f"{elsewhere / 'a.py'}:A"
