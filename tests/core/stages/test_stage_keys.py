"""Which code a stage's key holds: that of its own room and of what it reads, and no other room's."""

import pytest

from chunklab_core import pipeline
from chunklab_core.cache import keys as fingerprint

READS = {  # rooms whose code may shape the result of a stage, besides the shelf
    "parse": {"parse"},
    "chunk": {"parse", "chunk", "embed"},
    "health": {"parse", "chunk"},
    "embed": {"parse", "chunk", "embed"},
    "index": {"parse", "chunk", "embed", "index"},
    "retrieve": {"embed", "index", "retrieve"},
    "locate": {"parse", "score"},
    "match": {"parse", "chunk", "score"},
    "ceiling": {"score"},
    "score": {"parse", "chunk", "score"},
    "select": {"parse", "score", "select"},
    "survey": {"select"},
}
ROOMS = sorted(set().union(*READS.values()))


@pytest.mark.parametrize("stage", READS)
def test_a_stage_is_keyed_by_the_rooms_it_leans_on_and_no_other(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    facts = fingerprint._facts

    def watched(module: str) -> tuple[str, frozenset[str]]:
        seen.add(module)
        return facts(module)

    monkeypatch.setattr(fingerprint, "_facts", watched)
    pipeline._code_of.cache_clear()
    fingerprint.worked_out.cache_clear()
    pipeline._code_of(stage)

    assert {module.split(".")[1] for module in seen} & set(ROOMS) == READS[stage]
