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
    "parse": "667ffac41d9548f9a4f506c649b66ea293c3d4e4323305c7f2bb836625fbe5c1",
    "chunk": "c543e4d0502b3143db54f583c0cf9d6855152ad0834010e0c3d1e33a5529017a",
    "health": "e7cd41b7464ada6dc8de38123f59bb9e72893f468a5f75a9b7e4f74b15281b88",
    "embed": "1a7d5b1810a28f6df2faed965e988daecc8dbe4410501f4c67cb223935246054",
    "index": "968905a05def1059233d2345b9c3f81dd46de464542536a9af1e6a0f480e6f6d",
    "retrieve": "63196565809aa13f32d827b7f17c662da13f27f6d07349f0a1ea6ae92ca82531",
    "locate": "70a4b09d4803e352dbb5dd93aa683f23022f3288947f6cc1ca1b3959ee2f6a3d",
    "match": "37d673abcdce25b6ba0bb9855dff4eac1bfc7fbc6004303b0591852a273fc34a",
    "ceiling": "4945cdd087076287cb287697b82c9af4cdbf6a1c5728feaf8d111b42bbd0823f",
    "score": "16d8187ab2728760466381f098b6ffe8900264b2123724ce627e12a0c138ea3a",
    "select": "87ae490e2dc013614db110b99596dd68f7b7b363da7ba62884b19e63d420e6f1",
    "survey": "3799c98e1d045ff4b459472c13600d1e4eea5f82f9f1373d31a6fe6954fdc66f",
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
