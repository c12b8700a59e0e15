from __future__ import annotations

from tests.core.score.gold_worlds import located_corpus

from chunklab_core.score.stored import (
    pack_located,
    pack_places,
    unpack_located,
    unpack_places,
)


def test_what_was_located_comes_back_as_it_was_kept() -> None:
    located = [each for _, _, each in located_corpus()[0]]

    assert [unpack_located(pack_located(each)) for each in located] == located  # type: ignore[arg-type]
    kept = unpack_places(pack_places(located))  # type: ignore[arg-type]
    assert [(at, each.occurrences) for at, each in kept] == [(at, each.occurrences) for at, each in enumerate(located)]  # type: ignore[attr-defined]
