import numpy as np
import pytest

from chunklab_core.index.dense import build_dense


def test_rows_have_length_one_and_what_has_no_direction_is_zero() -> None:
    rows = build_dense([[3, 4], [0, 0], [np.nan, 1], [np.inf, 0], [-np.inf, 2], [3e38, 3e38], [0, 1e-40]])

    assert rows.dtype == np.float32
    half = np.sqrt(0.5)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [0, 0], [0, 0], [0, 0], [half, half], [0, 1]], atol=1e-7)


def test_no_chunks_is_no_error_and_another_shape_is() -> None:
    assert build_dense(np.empty((0, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match=r"expected \(chunks, dim\)"):
        build_dense([1.0, 2.0])


def test_rows_beyond_one_block_are_the_same() -> None:
    vectors = np.random.default_rng(0).standard_normal((8200, 3))

    np.testing.assert_array_equal(build_dense(vectors)[8190:], build_dense(vectors[8190:]))
