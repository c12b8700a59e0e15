"""Intervals of one cell's mean, against closed forms and published values."""

from __future__ import annotations

import pytest

from chunklab_core.select.bootstrap import ci95
from chunklab_core.select.wilson import ci95_wilson, needs_wilson


def test_no_value_has_no_interval() -> None:
    assert ci95([]) is None
    assert ci95_wilson([]) is None
    assert not needs_wilson([])


@pytest.mark.parametrize(
    ("ones", "n", "low", "high"),
    # Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_of_ones_and_zeros_wilson_is_the_published_interval(ones: int, n: int, low: float, high: float) -> None:
    assert ci95_wilson([1.0] * ones + [0.0] * (n - ones)) == pytest.approx((low, high), abs=5e-5)


def test_half_answers_count_as_more_than_one_question() -> None:
    # Mean 0.5 and variance 0.125 of eight values: n_eff = 0.25 / (0.125 / 8) = 16.
    halves = [0.0, 1.0, 0.5, 0.5] * 2

    assert ci95_wilson(halves) == pytest.approx(ci95_wilson([0.0, 1.0] * 8))


def test_equal_values_between_0_and_1_have_no_spread() -> None:
    assert ci95_wilson([0.5] * 10) == (0.5, 0.5)


def test_wilson_is_called_for_near_the_ends_and_on_few_questions() -> None:
    assert needs_wilson([1.0] * 99 + [0.0])
    assert needs_wilson([0.0] * 99 + [1.0])
    assert needs_wilson([0.0, 1.0] * 10)
    assert not needs_wilson([0.0, 1.0] * 20)


def test_wilson_is_for_shares() -> None:
    with pytest.raises(ValueError, match="for shares"):
        ci95_wilson([0.5, 1.5])
