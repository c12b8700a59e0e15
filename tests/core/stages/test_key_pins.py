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
    "parse": "0000000000000000000000000000000000000000000000000000000000000000",
    "chunk": "0000000000000000000000000000000000000000000000000000000000000000",
    "health": "0000000000000000000000000000000000000000000000000000000000000000",
    "embed": "0000000000000000000000000000000000000000000000000000000000000000",
    "index": "0000000000000000000000000000000000000000000000000000000000000000",
    "retrieve": "0000000000000000000000000000000000000000000000000000000000000000",
    "locate": "0000000000000000000000000000000000000000000000000000000000000000",
    "match": "0000000000000000000000000000000000000000000000000000000000000000",
    "ceiling": "0000000000000000000000000000000000000000000000000000000000000000",
    "score": "0000000000000000000000000000000000000000000000000000000000000000",
    "select": "0000000000000000000000000000000000000000000000000000000000000000",
    "survey": "0000000000000000000000000000000000000000000000000000000000000000",
    "vectors": "0000000000000000000000000000000000000000000000000000000000000000",
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
