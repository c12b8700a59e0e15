import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from chunklab_core.inputs.config import config_from_mapping, load_config
from chunklab_core.inputs.settings import to_mapping


def test_a_report_shows_no_secrets_no_absolute_paths_and_only_json_types(tmp_path: Path) -> None:
    config = config_from_mapping(
        {
            "embedding": {"model": str(tmp_path / "models" / "mine")},
            "output": {"dir": str(tmp_path / "out")},
            "strategies": [
                {
                    "name": f"{tmp_path / 'mine.py'}:Mine",
                    "params": {"api_key": "sk-1", "auth_token": "t", "max_tokens": 9, "model": str(tmp_path / "m")},
                }
            ],
        }
    )

    shown = to_mapping(config)
    text = json.dumps(shown, allow_nan=False)

    assert str(tmp_path) not in text
    assert "sk-1" not in text
    assert shown["embedding"]["model"] == "mine"
    assert shown["strategies"] == [
        {
            "name": "mine.py:Mine",
            "label": "mine.py:Mine",
            "params": {"api_key": "(hidden)", "auth_token": "(hidden)", "max_tokens": 9, "model": "m"},
        }
    ]
    assert shown["retrieval"]["bm25"] == {"k1": 1.2, "b": 0.75}


def test_settings_from_a_report_read_back_equal() -> None:
    config = config_from_mapping({"retrieval": {"compare": ["bm25", "hybrid"], "top_k": [2, 9]}, "eval": {"seed": 3}})
    shown = to_mapping(config)

    shown["retrieval"].pop("mode")  # it has no effect beside `compare`

    assert config_from_mapping(shown) == config


def test_settings_are_frozen_and_can_be_keys() -> None:
    config = load_config()

    assert len({config, load_config()}) == 1
    with pytest.raises(FrozenInstanceError):
        config.retrieval.top_k = (1,)  # type: ignore[misc]
