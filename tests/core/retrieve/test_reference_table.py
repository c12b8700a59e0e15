"""The table that the hybrid-search reference prints, from our scores, our fusion and our metrics.

The handbook, the questions, the two chunkings, the word splitter and the stand-in for an embedding model are the
reference's: its program is taken out of the page when the test runs.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunklab_core.index.bm25 import scores, tokenize
from chunklab_core.retrieve.hybrid import fuse
from chunklab_core.score.hit_rate import hit_at_k
from chunklab_core.score.mrr import reciprocal_rank

PAGE = Path(__file__).parents[3] / ".." / "shared" / "reference" / "hybrid-search.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the reference page ../shared/reference is not here")

METHODS = ("BM25", "dense", "hybrid (RRF)")
CHUNKINGS = {"fixed 30-word windows": "chunk_fixed", "sections with heading path": "chunk_sections"}


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    source = re.search(r'^"""hybrid\.py.*?(?=^if __name__)', PAGE.read_text("utf-8"), re.S | re.M)
    assert source is not None
    names: dict[str, Any] = {"__name__": "hybrid"}
    exec(source.group(), names)
    return names


def printed(chunking: str) -> dict[str, list[float]]:
    table = PAGE.read_text("utf-8").split(f"\n{chunking}:")[1].split("\n\n")[0]
    return {
        method: [float(figure) for figure in re.search(rf"{re.escape(method)}((?: +\d\.\d\d){{3}})", table)[1].split()]
        for method in METHODS
    }


def figures(
    program: dict[str, Any], chunking: str, split: Callable[[str], list[str]]
) -> dict[str, tuple[float, float, float]]:
    """hit@1, hit@3 and MRR of the three methods."""
    chunks = program[CHUNKINGS[chunking]](program["HANDBOOK"])
    nearest = program["dense"](chunks)
    rows: dict[str, list[tuple[float, float, float]]] = {method: [] for method in METHODS}
    for query, phrase in program["QUERIES"]:
        weights = scores(query, chunks, tokenize=split)
        words = [f"{row:04}" for row in np.argsort(-weights, kind="stable") if weights[row] > 0]
        vectors = [f"{row:04}" for row in nearest(query)]
        for method, ranked in zip(METHODS, (words, vectors, fuse([words, vectors])), strict=True):
            found = np.array([[phrase in chunks[int(row)]] for row in ranked], dtype=np.bool_).reshape(-1, 1)
            rows[method].append((hit_at_k(found[:1]), hit_at_k(found[:3]), reciprocal_rank(found)))
    return {method: tuple(np.mean(held, axis=0).tolist()) for method, held in rows.items()}


@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_the_printed_table_comes_out_to_two_decimals(program: dict[str, Any], chunking: str) -> None:
    found = figures(program, chunking, program["words"])

    assert {method: [round(figure, 2) for figure in row] for method, row in found.items()} == printed(chunking)


@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_with_our_own_words_the_fusion_is_not_below_either_leg_at_3(program: dict[str, Any], chunking: str) -> None:
    found = figures(program, chunking, tokenize)

    assert found["hybrid (RRF)"][1] >= max(found["BM25"][1], found["dense"][1])
