"""docs/configuration.md names every key, with its true default."""

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
    """All keys below a record of settings, with their sections."""
    found = []
    for field in fields(record):
        value = getattr(record, field.name)
        found += keys_of(value, f"{above}{field.name}.") if is_dataclass(value) else [f"{above}{field.name}"]
    return found


def nested(key: str, value: object) -> dict[str, Any]:
    head, _, rest = key.partition(".")
    return {head: nested(rest, value)} if rest else {head: value}


def test_every_key_is_there_once() -> None:
    assert sorted(row[0].strip("`") for row in KEYS[1:]) == sorted(keys_of(EvaluationConfig()))


@pytest.mark.parametrize("key", [key for key in DEFAULTS if key != "strategies"])
def test_the_default_is_true(key: str) -> None:
    """Whoever writes the default out gets what they have without it, and any other value is told apart."""
    default = yaml.safe_load(DEFAULTS[key])

    assert config_from_mapping(nested(key, default)) == EvaluationConfig()


def test_the_five_strategies_are_those_that_run_without_the_key() -> None:
    (listed,) = [body for body in blocks(PAGE, "yaml") if body.startswith("strategies:")]

    assert config_from_mapping(yaml.safe_load(listed)) == EvaluationConfig()


def test_every_strategy_is_there_with_all_parameters_and_defaults() -> None:
    told = {row[0].strip("`"): row[2].strip("`") for row in STRATEGIES[1:]}

    assert list(told)[:-1] == list(BUILTINS)
    for name in BUILTINS:
        assert yaml.safe_load(f"{{{told[name]}}}") == default_params(name)


def test_the_example_can_be_read() -> None:
    config = config_from_mapping(yaml.safe_load(blocks(PAGE, "yaml")[0]))

    assert config.retrieval.top_k == (8, 3, 20)
    assert [strategy.name for strategy in config.strategies] == ["structure", "recursive"]
