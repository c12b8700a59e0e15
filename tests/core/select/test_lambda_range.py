"""The range of lambda: crossings by hand, and the formula itself at many prices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.records.survey import LambdaPlace, LambdaRange
from chunklab_core.select.balanced import balanced
from chunklab_core.select.lambda_range import lambda_range


def range_of(*cells: tuple[float, float], price: float = 0.05, in_play: list[int] | None = None) -> LambdaRange[int]:
    recall, tokens = np.array(cells, dtype=float).T
    return lambda_range(recall[:, None], tokens[:, None], in_play, price)


def test_first_places_change_hands_where_the_lines_cross() -> None:
    # .9 - 3x, .8 - x and .5 at a price of x
    found = range_of((0.9, 400), (0.8, 200), (0.5, 100), price=0.1)

    assert found.places == (LambdaPlace(0, 0.0, 0.05), LambdaPlace(1, 0.05, 0.3), LambdaPlace(2, 0.3, None))
    assert (found.first, found.below, found.above) == (found.places[1], 0, 2)


def test_at_a_crossing_the_cell_of_more_recall_is_looked_at() -> None:
    assert range_of((0.9, 400), (0.8, 200), price=0.1).first.cell == 0
    assert range_of((0.9, 400), (0.8, 200), price=0.1000001).first.cell == 1


def test_the_cheapest_of_the_best_holds_at_every_price() -> None:
    found = range_of((0.9, 100), (0.9, 200), (0.5, 100), (0.0, 0))

    assert found == LambdaRange(LambdaPlace(0, 0.0, None), None, None, (LambdaPlace(0, 0.0, None),))


def test_a_cell_that_is_never_first_takes_no_place() -> None:
    assert [place.cell for place in range_of((0.9, 300), (0.6, 200), (0.5, 100)).places] == [0, 2]


def test_only_cells_in_play_compete_and_set_the_price() -> None:
    tiny = (0.1, 1)

    assert range_of((0.9, 400), (0.8, 200), tiny, in_play=[0, 1]).places[0].high == pytest.approx(0.1)  # .9 - x, .8
    assert range_of((0.9, 400), (0.8, 200), tiny).places[0].high == pytest.approx(0.1 / 200)


def test_one_cell_and_equal_cells_hold_without_end() -> None:
    assert range_of((0.5, 10)).first == LambdaPlace(0, 0.0, None)
    assert range_of((0.5, 10), (0.5, 10)).places == (LambdaPlace(0, 0.0, None),)
    assert range_of((0.0, 0), (0.0, 0)).places == (LambdaPlace(0, 0.0, None),)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 5)), min_size=1, max_size=7),
    st.lists(st.floats(0, 3), min_size=1, max_size=5),
)
def test_who_stands_first_is_best_by_the_formula(cells: list[tuple[int, int]], prices: list[float]) -> None:
    found = range_of(*((recall / 10, 100 * tokens) for recall, tokens in cells))
    recall, tokens = np.array(cells, dtype=float).T
    for price in prices:
        paid = balanced(recall / 10, tokens, price)
        here = [place for place in found.places if place.low <= price <= (place.high or price)]
        assert here
        assert all(paid[place.cell] == pytest.approx(paid.max(), abs=1e-9) for place in here)
    ends = [place.high for place in found.places]
    assert ends[-1] is None
    assert ends[:-1] == [place.low for place in found.places[1:]]


@pytest.mark.parametrize(("price", "in_play", "message"), [(-0.1, None, "at least 0"), (0.1, [], "no cell is in play")])
def test_no_price_and_no_cell_are_refused(price: float, in_play: list[int] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        range_of((0.5, 10), price=price, in_play=in_play)
