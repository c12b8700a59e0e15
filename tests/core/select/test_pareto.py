"""The Pareto front against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.records.survey import Dominated, ParetoFront
from chunklab_core.select.pareto import pareto_front


def front(*cells: tuple[float, float]) -> ParetoFront[int]:
    recall, tokens = np.array(cells, dtype=float).T
    return pareto_front(recall[:, None], tokens[:, None])


def test_the_front_runs_from_cheap_to_good_and_others_name_who_beats_them() -> None:
    found = front((0.9, 300), (0.5, 100), (0.5, 200), (0.4, 100), (0.7, 200), (0.8, 400))

    assert found.front == (1, 4, 0)
    assert found.dominated == (Dominated(2, 4), Dominated(3, 1), Dominated(5, 0))


def test_equal_cells_stand_together_and_who_retrieved_nothing_is_left_out() -> None:
    assert front((0.5, 100), (0.0, 0), (0.5, 100)) == ParetoFront((0, 2), ())
    assert front((0.0, 0)) == ParetoFront((), ())


def test_thirds_and_halves_of_one_sum_are_equal_recall() -> None:
    recall = np.array([[1 / 3, 2 / 3, 0], [1 / 2, 1 / 2, 0]])

    assert pareto_front(recall, np.ones((2, 3))).front == (0, 1)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=8))
def test_a_cell_is_on_the_front_unless_another_dominates_it(cells: list[tuple[int, int]]) -> None:
    found = front(*((recall / 4, tokens) for recall, tokens in cells))

    def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one[0] >= other[0] and one[1] <= other[1] and one != other

    assert set(found.front) == {at for at, cell in enumerate(cells) if not any(beats(other, cell) for other in cells)}
    assert {each.cell for each in found.dominated} == set(range(len(cells))) - set(found.front)
    assert all(beats(cells[each.by], cells[each.cell]) and each.by in found.front for each in found.dominated)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="tokens has shape"):
        pareto_front([[1.0]], [[1.0, 2.0]])
