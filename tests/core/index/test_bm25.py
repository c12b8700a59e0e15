import math
from collections import Counter

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.index.bm25 import build_bm25, from_arrays, scores, to_arrays, tokenize

PUMPS = ["valve pump filter", "valve pump hose", "motor belt hose", "fan belt"]
CORPORA = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join), max_size=12)
QUERIES = st.lists(st.sampled_from("abcdefghz"), max_size=5).map(" ".join)


@pytest.mark.parametrize(
    ("k1", "query", "expected"),
    [
        (1.2, "valve", [0.668293, 0.668293, 0, 0]),
        (1.2, "valve hose", [0.668293, 1.336587, 0.668293, 0]),
        (1.2, "zebra", [0, 0, 0, 0]),
        (1.5, "valve", [0.665906, 0.665906, 0, 0]),
        (1.5, "valve hose", [0.665906, 1.331811, 0.665906, 0]),
        (1.5, "zebra", [0, 0, 0, 0]),
    ],
)
def test_a_term_in_half_of_the_chunks_scores_above_0(k1: float, query: str, expected: list[float]) -> None:
    found = scores(query, PUMPS, k1=k1)

    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("query", "texts", "expected"),
    [("a", [], []), ("a", ["", ""], [0, 0]), ("", ["a"], [0]), ("a", ["", "b"], [0, 0])],
)
def test_nothing_to_find_is_no_error(query: str, texts: list[str], expected: list[float]) -> None:
    assert scores(query, texts).tolist() == expected


@pytest.mark.parametrize(("k1", "b"), [(-0.1, 0.75), (float("nan"), 0.75), (float("inf"), 0.75), (1.2, 1.1)])
def test_constants_outside_their_range_are_refused(k1: float, b: float) -> None:
    with pytest.raises(ValueError, match="k1 must be 0 or more, b from 0 to 1"):
        scores("a", ["a"], k1=k1, b=b)


def formula(query: list[str], texts: list[list[str]], k1: float, b: float) -> list[float]:
    n, mean = len(texts), sum(map(len, texts)) / max(len(texts), 1)
    totals = []
    for text in texts:
        total = 0.0
        for term in query:
            f, holding = text.count(term), sum(term in other for other in texts)
            if f:
                idf = math.log(1 + (n - holding + 0.5) / (holding + 0.5))
                total += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(text) / mean))
        totals.append(total)
    return totals


@settings(max_examples=100, derandomize=True)
@given(CORPORA, QUERIES, st.sampled_from([0.0, 0.9, 1.2, 2.0]), st.sampled_from([0.0, 0.4, 0.75, 1.0]))
def test_scores_are_those_of_the_formula(texts: list[str], query: str, k1: float, b: float) -> None:
    expected = formula(query.split(), [text.split() for text in texts], k1, b)

    found = scores(query, texts, k1=k1, b=b)

    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert [score > 0 for score in found] == [bool(set(query.split()) & set(text.split())) for text in texts]


@settings(max_examples=30, derandomize=True, deadline=None)
@given(CORPORA.filter(lambda texts: any(text.strip() for text in texts)), QUERIES.filter(bool))
def test_an_independent_library_agrees_on_our_terms(texts: list[str], query: str) -> None:
    oracle = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    oracle.index([tokenize(text) for text in texts], show_progress=False)
    known = [term for term in tokenize(query) if any(term in tokenize(text) for text in texts)]
    expected = oracle.get_scores(known) if known else np.zeros(len(texts))

    np.testing.assert_allclose(scores(query, texts), expected * (1.2 + 1), atol=1e-9)  # lucene leaves out (k1 + 1)


def test_equal_sums_are_equal_to_the_last_bit_whatever_the_terms() -> None:
    texts = ["a b b c c c", "c a a b b b", "b c c a a a"]

    assert len(set(scores("a b c", texts).tolist())) == 1
    assert len(set(scores("c b a", texts).tolist())) == 1


@settings(max_examples=50, derandomize=True)
@given(CORPORA)
def test_postings_count_every_term_of_every_chunk(texts: list[str]) -> None:
    index = build_bm25(iter(texts))

    held = [Counter() for _ in texts]
    for at, term in enumerate(index.vocabulary):
        span = slice(index.indptr[at], index.indptr[at + 1])
        assert index.rows[span].tolist() == sorted(index.rows[span].tolist())
        for row, count in zip(index.rows[span], index.counts[span], strict=True):
            held[row][term] += int(count)
    assert held == [Counter(text.split()) for text in texts]
    assert index.lengths.tolist() == [len(text.split()) for text in texts]
    assert list(index.vocabulary) == sorted(index.vocabulary)


@pytest.mark.parametrize("texts", [[], [""], PUMPS, ["退款 café x_y", "", "a\nb"]])
def test_an_index_survives_its_way_through_plain_arrays(texts: list[str]) -> None:
    index = build_bm25(texts)
    arrays = to_arrays(index)
    again = from_arrays(arrays)

    assert not any(array.dtype.hasobject for array in arrays.values())
    assert again.vocabulary == index.vocabulary
    for name in ("indptr", "rows", "counts", "lengths"):
        np.testing.assert_array_equal(getattr(again, name), getattr(index, name))


def test_a_term_of_a_foreign_splitter_may_hold_anything() -> None:
    index = build_bm25(["x"], tokenize=lambda text: ["two\nlines", "", "\ud800"])

    assert from_arrays(to_arrays(index)).vocabulary == ("", "two\nlines", "\ud800")
