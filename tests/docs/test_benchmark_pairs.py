"""Which pairs the benchmark of near-duplicates counts as shared gold."""

import pytest

from benchmarks.near_duplicates import SHARED, shared
from chunklab_core.select.near_duplicates import Place

A, B, C, A_SENTENCE, A_HALF = ("d", 0, 100), ("d", 200, 300), ("e", 0, 100), ("d", 10, 30), ("d", 0, 60)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ([A, B], [B, A], SHARED[0]),
        ([A], [A, B], SHARED[1]),
        ([A, B], [A, C], SHARED[2]),
        ([A], [A_SENTENCE], SHARED[3]),
        ([A], [A_HALF], None),
        ([A], [C], None),
        ([None], [None], None),
    ],
)
def test_pairs_are_sorted_by_the_gold_they_share(one: list[Place | None], other: list[Place | None], kind: str) -> None:
    assert shared(one, other) == shared(other, one) == kind
