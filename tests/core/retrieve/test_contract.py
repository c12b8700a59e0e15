"""Promises that every built-in retriever keeps."""

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from chunklab_core.index import INDEXES
from chunklab_core.records.rankings import Ranking
from chunklab_core.retrieve import RETRIEVERS

TEXTS = [
    "The pump is checked in May.",
    "The valve is checked in June.",
    "A ferry leaves the quay at noon.",
    "The pump is checked in May.",
    "The pump and the valve are new.",
    "Dogs are welcome on a lead.",
]
QUERIES = ["When is the pump checked?", "valve", "the quay", "The pump is checked in May."]
PARAMETERS = {"k1": 1.2, "b": 0.75, "rrf_k": 60, "candidates": 100}


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Hashed words."""
    rows = np.zeros((len(texts), 16), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().strip(".?").split():
            row[crc32(word.encode()) % 16] += 1
    return rows


READ_BY = {"vectors": vectors, "words": list}
"""What each index is made from."""


def search(name: str, queries: Sequence[str], texts: Sequence[str] = TEXTS, depth: int = 100) -> list[Ranking]:
    retriever = RETRIEVERS[name]
    parameters = {setting.rpartition(".")[2]: PARAMETERS[setting.rpartition(".")[2]] for setting in retriever.settings}
    rank = import_module(retriever.module).rank
    if retriever.index is None:
        return rank([search(leg, queries, texts) for leg in retriever.legs], **parameters, depth=depth)
    index, read = import_module(INDEXES[retriever.index]), READ_BY[retriever.index]
    opened = index.open_index(index.index_arrays(read(texts)))
    return rank(opened, index.open_questions(read(queries)), **parameters, depth=depth)


def as_lists(rankings: Sequence[Ranking]) -> list[tuple[list[int], list[float]]]:
    return [(ranking.rows.tolist(), ranking.scores.tolist()) for ranking in rankings]


@pytest.mark.parametrize("name", RETRIEVERS)
def test_chunks_are_listed_once_by_falling_score_and_equal_scores_by_position(name: str) -> None:
    for rows, scores in as_lists(search(name, QUERIES)):
        assert len(set(rows)) == len(rows) == len(scores)
        assert set(rows) <= set(range(len(TEXTS)))
        assert np.isfinite(scores).all()
        assert all(one >= other for one, other in pairwise(scores))
    (rows, _) = as_lists(search(name, ["The pump is checked in May."]))[0]
    assert rows[:2] == [0, 3]  # two equal chunks, both equal to the question


@pytest.mark.parametrize("name", RETRIEVERS)
def test_a_lower_depth_gives_the_first_chunks_of_a_higher_one(name: str) -> None:
    deep = as_lists(search(name, QUERIES))

    for depth in (1, 2, 5):
        assert as_lists(search(name, QUERIES, depth=depth)) == [(rows[:depth], scores[:depth]) for rows, scores in deep]


@pytest.mark.parametrize("name", RETRIEVERS)
def test_the_chunks_of_a_question_do_not_depend_on_the_other_questions(name: str) -> None:
    alone = [as_lists(search(name, [query]))[0] for query in QUERIES]

    assert as_lists(search(name, QUERIES)) == alone


@pytest.mark.parametrize("name", RETRIEVERS)
def test_no_chunks_and_no_questions_are_no_errors(name: str) -> None:
    assert search(name, []) == []
    assert as_lists(search(name, QUERIES[:1], [])) == [([], [])]


@pytest.mark.parametrize("name", RETRIEVERS)
def test_a_depth_of_zero_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="depth"):
        search(name, QUERIES, depth=0)
