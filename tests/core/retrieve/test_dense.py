import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunklab_core.index.dense import build_dense
from chunklab_core.retrieve import dense


def slowly(matrix: NDArray[np.float32], query: NDArray[np.float64], depth: int) -> list[int]:
    """Positions by falling cosine in float64, then position; zero rows left out."""
    cosines = {
        row: float(np.multiply(vector.astype(np.float64), query / np.linalg.norm(query)).sum())
        for row, vector in enumerate(matrix)
        if vector.any()
    }
    return sorted(cosines, key=lambda row: (-cosines[row], row))[:depth]


def test_a_zero_vector_is_never_ahead_of_a_chunk_that_is_like_the_question() -> None:
    (ranking,) = dense.rank(build_dense([[1, 0], [0.5, 0.5], [0, 0]]), [[1, 0]], depth=2)

    assert ranking.rows.tolist() == [0, 1]
    assert ranking.scores.tolist() == pytest.approx([1.0, 0.7071068], abs=1e-6)


@pytest.mark.parametrize("broken", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_what_has_no_direction_is_left_out_on_either_side(broken: list[float]) -> None:
    matrix = build_dense([broken, [1, 0], broken, [-1, 0]])

    found, nothing = dense.rank(matrix, [[2, 0], broken], depth=4)

    assert (found.rows.tolist(), found.scores.tolist()) == ([1, 3], [1.0, -1.0])
    assert len(nothing.rows) == len(nothing.scores) == 0


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 12), st.integers(1, 9))
def test_small_blocks_give_what_the_slow_way_gives(seed: int, n_chunks: int, depth: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = build_dense(rng.integers(-1, 2, size=(n_chunks, 3)))  # full of equals and zeros
    queries = rng.standard_normal((5, 3))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "_ROWS", rows)
        patch.setattr(dense, "_QUERIES", 2)
        patch.setattr(dense, "_PAIRS", 7)
        found = dense.rank(matrix, queries, depth=depth)

    assert [ranking.rows.tolist() for ranking in found] == [slowly(matrix, query, depth) for query in queries]


def test_the_result_does_not_depend_on_the_other_questions() -> None:
    rng = np.random.default_rng(1)
    matrix = build_dense(rng.standard_normal((9000, 48)))
    queries = rng.standard_normal((300, 48))

    together = dense.rank(matrix, queries, depth=20)

    for at in (0, 7, 255, 256, 299):
        (alone,) = dense.rank(matrix, queries[at : at + 1], depth=20)
        assert alone.rows.tolist() == together[at].rows.tolist() == slowly(matrix, queries[at], 20)
        assert alone.scores.tobytes() == together[at].scores.tobytes()


def test_equal_chunks_have_equal_scores_and_the_earlier_ones_stay_at_the_cut() -> None:
    rng = np.random.default_rng(2)
    matrix = np.repeat(build_dense(rng.standard_normal((2, 33))), 9000, axis=0)

    (ranking,) = dense.rank(matrix, matrix[:1], depth=6)

    assert ranking.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert len(set(ranking.scores.tolist())) == 1


def test_no_chunks_and_no_questions_are_no_errors() -> None:
    (nothing,) = dense.rank(build_dense(np.empty((0, 3))), np.ones((1, 3)), depth=5)

    assert nothing.rows.tolist() == []
    assert dense.rank(build_dense(np.ones((2, 3))), np.ones((0, 3)), depth=5) == []


def test_impossible_input_is_refused() -> None:
    with pytest.raises(ValueError, match="depth is 0"):
        dense.rank(build_dense([[1, 0]]), [[1, 0]], depth=0)
    with pytest.raises(ValueError, match="expected one dim"):
        dense.rank(build_dense([[1, 0]]), [[1, 0, 0]], depth=1)
