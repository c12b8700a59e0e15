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
    "parse": "0a71d62f25b786a86cc1c569c22c2a47ccd1849f40caa4126b002d65ee4774d9",
    "chunk": "cb53276810958ad07e6bc86af3cb219135c7df0dc5df07f7a970703b5af71707",
    "health": "ec87cc3c1506039dd63139f35e86756542f36dcdf0623570051b4cf113262854",
    "embed": "1d167d5aaafa99afa311daec56f5e1684246b6607e048e2a669d5cf571bb7550",
    "index": "422cbe56d3e4fca06a2d7c458e7080d6c8fb1ecfaba2eee39218033d5e6b8fd3",
    "retrieve": "8c5bfd597846b5de062fd8cbbd20a64c395807fb55436ab259ca2d515a3be273",
    "locate": "c73f43316a224d11a0a852a13993dbd1b62d3ff41b481cc856f5bbb4c308af95",
    "match": "f56f2a8b124569f571d6f8d6fa5cfc4e1569bf25e6f29f203dd4ee69d4609262",
    "ceiling": "efc8b3dba5bab0ddf1cb10f2f4c18838fc3df32a1f580c73f5cec5db56530ce7",
    "score": "fc88a198125e852cf4e1f5421a8db506af4b53074dae798b474a467dfa93b8a1",
    "select": "5243c6e885e40abf300300c2f7d7e90f6d606f07d1bca2adc964b55a5db8636c",
    "survey": "b1740218e5682a0429200c817a37e519b373ef2aa2f124cc8d86f80ff06f1837",
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
