"""docs/configuration.md names every key with its real default."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
import yaml
from pages import ROOT, blocks, read, tables

from chunklab_core.chunk import BUILTINS, default_params
from chunklab_core.inputs.config import config_from_mapping
from chunklab_core.inputs.settings import EvaluationConfig

PAGE = ROOT / "docs" / "configuration.md"
KEYS, STRATEGIES, _ = tables(read(PAGE))
DEFAULTS = {row[0].strip("`"): row[1].strip("`") for row in KEYS[1:]}


def keys_of(record: Any, above: str = "") -> list[str]:
    """All keys in a record of settings, with their sections."""
    found = []
    for field in fields(record):
        value = getattr(record, field.name)
        found += keys_of(value, f"{above}{field.name}.") if is_dataclass(value) else [f"{above}{field.name}"]
    return found


def nested(key: str, value: object) -> dict[str, Any]:
    head, _, rest = key.partition(".")
    return {head: nested(rest, value)} if rest else {head: value}


def test_every_key_is_in_the_table_once() -> None:
    assert sorted(row[0].strip("`") for row in KEYS[1:]) == sorted(keys_of(EvaluationConfig()))


@pytest.mark.parametrize("key", [key for key in DEFAULTS if key != "strategies"])
def test_the_default_is_true(key: str) -> None:
    """Writing the default into the file changes nothing."""
    default = yaml.safe_load(DEFAULTS[key])

    assert config_from_mapping(nested(key, default)) == EvaluationConfig()


def test_the_five_strategies_are_those_of_a_run_without_the_key() -> None:
    (listed,) = [body for body in blocks(PAGE, "yaml") if body.startswith("strategies:")]

    assert config_from_mapping(yaml.safe_load(listed)) == EvaluationConfig()


def test_every_strategy_is_in_the_table_with_all_parameters_and_defaults() -> None:
    documented = {row[0].strip("`"): row[2].strip("`") for row in STRATEGIES[1:]}

    assert list(documented)[:-1] == list(BUILTINS)
    for name in BUILTINS:
        assert yaml.safe_load(f"{{{documented[name]}}}") == default_params(name)


def test_the_example_can_be_read() -> None:
    config = config_from_mapping(yaml.safe_load(blocks(PAGE, "yaml")[0]))

    assert config.retrieval.top_k == (8, 3, 20)
    assert [strategy.name for strategy in config.strategies] == ["structure", "recursive"]
