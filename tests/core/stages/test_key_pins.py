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
    "parse": "ead305f7133b6d93be54c893e5792f96a24faad2abab727012ac706594813ed2",
    "chunk": "cb53276810958ad07e6bc86af3cb219135c7df0dc5df07f7a970703b5af71707",
    "health": "ec87cc3c1506039dd63139f35e86756542f36dcdf0623570051b4cf113262854",
    "embed": "1d167d5aaafa99afa311daec56f5e1684246b6607e048e2a669d5cf571bb7550",
    "index": "422cbe56d3e4fca06a2d7c458e7080d6c8fb1ecfaba2eee39218033d5e6b8fd3",
    "retrieve": "8c5bfd597846b5de062fd8cbbd20a64c395807fb55436ab259ca2d515a3be273",
    "locate": "675f333e4ae31bc35f4856a20c8163d64bc121f81f23f49fd37f887fd9f388b5",
    "match": "ac64d27ce5331fb5ef4effea8e2f30fe6d05ceafd61c0104f5d2c362d117c36e",
    "ceiling": "a9ec67786c1f55a3a0613e0dd4c667d829fcff63f90e251eed73f0a8cd784098",
    "score": "294eb76a8463d17dff62138fd40099883995dc3508e82bc193831d35e931c6c7",
    "select": "d498073dedf21454cc764627b620d79d2a3f927bd3909bac16c941b8b7634653",
    "survey": "812e6fdb059a403fd5c5120d00bcb72a5727e5e70d2fd7108cde61cef3fe3288",
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
