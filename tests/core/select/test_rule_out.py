"""Ruling out: the exact tail against all resamples and against drawn ones, and both tests together."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.select.rule_out import exact_tail, ruled_out, tail_bar, tails_against_leader
from chunklab_core.select.whole_units import in_whole_units


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=5))
def test_the_tail_is_that_of_all_resamples(differences: list[int]) -> None:
    n = len(differences)
    at_least = sum(sum(drawn) >= 0 for drawn in product(differences, repeat=n))

    assert exact_tail(np.array(differences)) == pytest.approx(at_least / n**n, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_tail_is_that_of_many_drawn_resamples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    differences = rng.integers(-3, 3, 50)
    drawn = differences[rng.integers(0, 50, (60_000, 50))].sum(axis=1)

    assert exact_tail(differences) == pytest.approx((drawn >= 0).mean(), abs=0.008)


def test_a_tail_of_too_many_values_is_left_to_counting() -> None:
    assert exact_tail(np.array([-1_000_003, 0, 1] * 5)) is None


def test_tails_of_values_without_a_common_denominator_are_counted() -> None:
    leader, other = np.full(3, 2**0.5), np.array([2**0.5 + 0.1, 0.0, 0.0])
    tails = tails_against_leader(in_whole_units([leader, other]), seed=0)

    assert tails == pytest.approx([1, 1 / 27], abs=0.005)  # only the resample of question 1 thrice is as good


def test_each_of_two_tests_is_needed() -> None:
    shares, tails = np.array([0.90, 0.06, 0.03, 0.01]), np.array([1, 0.001, 0.02, 0.03])

    assert ruled_out(shares, tails).tolist() == [False, False, True, False]


def test_the_fewest_that_reach_95_percent_stay() -> None:
    tails = np.array([1, 0, 0, 0])

    assert ruled_out(np.array([0.50, 0.45, 0.05, 0.0]), tails).tolist() == [False, False, True, True]
    assert ruled_out(np.array([0.50, 0.44, 0.06, 0.0]), tails).tolist() == [False, False, False, True]


def test_the_leader_is_never_ruled_out() -> None:
    assert not ruled_out(np.array([0.0, 1.0]), np.array([0.0, 1.0]))[0]


def test_the_bar_is_stricter_among_many() -> None:
    bars = [tail_bar(np.full(n, 0.5)) for n in (1, 2, 5, 6, 41)]

    assert bars == pytest.approx([0.025, 0.025, 0.025, 0.02, 0.0025])


def test_the_bar_rises_by_one_rival_for_each_that_falls() -> None:
    assert tail_bar(np.array([1, 0.001, 0.0165, 0.022, *[0.5] * 4])) == pytest.approx(0.10 / 5)  # of 7 rivals, 2 fell
    assert tail_bar(np.array([1, 0.0, 0.0145, *[0.5] * 5])) == pytest.approx(0.10 / 5)
    assert tail_bar(np.array([1, 0.0144, *[0.5] * 6])) == pytest.approx(0.10 / 7)  # 0.0144 is above 0.10 / 7
    assert tail_bar(np.array([1, *[0.0] * 9])) == pytest.approx(0.025)


def test_one_more_cell_that_is_clearly_bad_rules_out_and_brings_back_no_other() -> None:
    rng = np.random.default_rng(4)
    for n_cells in (2, 5, 6, 7, 20):
        tails = np.array([1, *rng.choice([0.0005, 0.003, 0.012, 0.019, 0.021, 0.024, 0.4], n_cells - 1)])
        shares = np.array([0.99, *np.full(n_cells - 1, 0.01 / n_cells)])
        before, after = ruled_out(shares, tails), ruled_out(np.append(shares, 0.0), np.append(tails, 0.0))

        assert after.tolist() == [*before.tolist(), True]


def test_among_many_equal_cells_hardly_any_is_ruled_out() -> None:
    rng = np.random.default_rng(2)
    scores = (rng.random((20, 60)) < 0.65).astype(float)
    scores = scores[np.argsort(-scores.mean(axis=1), kind="stable")]
    tails = tails_against_leader(in_whole_units(scores), seed=0)

    assert ((tails[1:] > 0) & (tails[1:] <= 1)).all()
    assert not ruled_out(np.full(20, 0.05), tails)[1:19].any()  # equal chances: 19 of 20 are needed for 95 %
