"""One key of each stage and one of the vectors, as literals.

A literal that changes shows what an edit retires: every result of that stage in every cache, and for `vectors` every
stored vector. Change a literal only together with code that is meant to give other results. Which edits must not
change any is in test_stage_keys.py.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chunklab_core.cache import keys
from chunklab_core.graph import ref_of
from chunklab_core.models import card
from chunklab_core.models.card import model_card

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the syntax trees behind the keys differ from one Python to the next"
)

ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "parse": {"corpus": "corpus/1", "suffixes": [".md"], "pdf": None, "folder": "docs"},
    "chunk": {"documents": "parse/1", "strategy": {"name": "fixed"}, "target": "fixed", "model_place": {}},
    "health": {
        "chunks": "chunk/1",
        "embedded": [],
        "min_floor_tokens": 200,
        "max_tokens": 512,
        "heading_path": False,
    },
    "embed": {"texts": "chunk/1", "model": {"digest": "1", "max_length": 256}, "prompt": "", "model_place": {}},
    "index": {"source": "chunk/1", "kind": "words"},
    "retrieve": {
        "sources": ["index/1", "queries/1"],
        "retriever": {"name": "bm25", "depth": 100, "k1": 1.2, "b": 0.75},
    },
    "locate": {"documents": "parse/1", "gold": "gold/1", "fuzzy_threshold": 0.9},
    "match": {"chunks": "chunk/1", "located": "locate/1", "gold": "gold/1", "fuzzy_threshold": 0.9},
    "ceiling": {"matched": "match/1", "gold": "gold/1", "top_k": [5]},
    "score": {
        "retrieved": "retrieve/1",
        "legs": ["retrieve/1"],
        "embedded": [],
        "chunks": "chunk/1",
        "matched": "match/1",
        "gold": "gold/1",
        "leg_names": ["bm25"],
        "candidates": 100,
        "top_k": [5],
    },
    "select": {
        "scores": ["score/1"],
        "documents": "parse/1",
        "located": "locate/1",
        "gold": "gold/1",
        "queries": "queries/1",
        "ranking_metric": "balanced",
        "balanced_lambda": 0.05,
        "seed": 0,
        "resamples": 10_000,
    },
    "survey": {
        "scores": ["score/1"],
        "verdict": "select/1",
        "gold": "gold/1",
        "tags": "tags/1",
        "cells": [[0, 0, None, None]],
        "ranking_metric": "balanced",
        "balanced_lambda": 0.05,
        "seed": 0,
    },
}
PINS = {
    "parse": "5d346f537693352dd58bbd6443be8c245f3c369b0a2bd389c46b05ce79ec43c7",
    "chunk": "6e2d6d21778470c2bc06a0b12a9a1c5826f626fdbf9652add4a584df5a564d73",
    "health": "add7399a29a8d1232b8912d3b3075e4aa8b8190bf0c928f6dcde3e318be99409",
    "embed": "213297d5498611ef0399d647d755c680506dfc56e862d37d13dc31fbed0f315f",
    "index": "57c532761db61e6011dba2d818288640d5bcd553f42179273b6414c89a1be2d7",
    "retrieve": "63196565809aa13f32d827b7f17c662da13f27f6d07349f0a1ea6ae92ca82531",
    "locate": "279f152d9ced1abec749f96d97320a1e9fce3bb2b1177f40ef990b49bf704335",
    "match": "4c193718cf6f08ed07dc87344766a86b26ffd1d1a26b3c98977a2e9d4dfa96e6",
    "ceiling": "ace3979cce855277d61b8b786e2a61e17aa96e811cd2e678f7dca4ccaf2c338f",
    "score": "f05b6be440eb5849a8eba8088ce8cec213404d77a6cf520c577248a7eb0bfc8a",
    "select": "0b8fc217229b467aa564990b807564bfc8eb9f14d704b46b210a8fc5c3bc992f",
    "survey": "0f3137e7de78332547b69e3872ea76f97b3667480e9c86a47ada399a551266ff",
    "vectors": "93373b7cd8f38228d94f185384f04190ab56eb44ec4a065feff200a91f17fd00",
}


@pytest.fixture
def fixed_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of equal code are equal whatever is installed."""
    for module in (keys, card):
        monkeypatch.setattr(module, "version_of", lambda _: "1")
    monkeypatch.setattr(keys.unicodedata, "unidata_version", "1")


def key_of(name: str, folder: Path) -> str:
    if name != "vectors":
        return ref_of(name, **ARGUMENTS[name])
    (folder / "config.json").write_text("{}")
    return f"vectors/{model_card(str(folder)).digest}"


@pytest.mark.usefixtures("fixed_versions")
@pytest.mark.parametrize("name", [*ARGUMENTS, "vectors"])
def test_a_key_is_the_one_that_is_written_here(name: str, tmp_path: Path) -> None:
    assert key_of(name, tmp_path) == f"{name}/{PINS[name]}"
