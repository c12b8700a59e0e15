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
    "parse": "bfdadab1f27d1ab002dc3174c0e9874c0a0b6e2da7830d4094de0a6281a54e81",
    "chunk": "ab71a2b12cf0a7c0fefc68089bd32d65936e89d2fc4ae817169b882441963bdb",
    "health": "0fe90ad567b3f48ac961f06e3707862d3e1fcf5083bee083b9b58a3609015f43",
    "embed": "b23e6da50fecd33b417ccd27c086979b95d96d885cbba9dbfd0cff936b761abd",
    "index": "5b2951bea09f1e46c9ffc82a0c5ff6b60180fa730f1d8f32cf652878a388be10",
    "retrieve": "8c5bfd597846b5de062fd8cbbd20a64c395807fb55436ab259ca2d515a3be273",
    "locate": "edc01bc208597d7fadb201e300dc167e421ae8dee29a3d724454a3cbc0573b84",
    "match": "12a4319fa9fd2eb11af7a50d38de9d6371195e09f6a74b3ff3b5295ff2dd3888",
    "ceiling": "1e0872fa3e2c7daa0928b7684bb01b4264c84fac70adaa45181f7db24ed152e0",
    "score": "d2c1b4943cc03b6b54619815ccc0377855c61fadc91a7bc2a28e07ee98f825b0",
    "select": "7cc6d803c4cd1c362ce4b7500450672da71e645d765e522762ba118bb372cc98",
    "survey": "2149afaf15e49d851dbcabc9a10a98ebbcfd4b9c7ab14e0e9ee22c487b8af455",
    "vectors": "73238b7ab6f9d82a5826cd181473af611e27d4c78617329c87165880c9e53bbb",
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
