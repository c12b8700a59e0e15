"""Shares of resamples: by hand, by going through all resamples, and as laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.select import probability_best

THIRD = Fraction(1, 3)


def all_resamples(scores: list[list[Fraction]]) -> list[float]:
    """The shares that endless resampling comes to: every resample once, in exact arithmetic."""
    n = len(scores[0])
    shares = [Fraction(0)] * len(scores)
    for drawn in product(range(n), repeat=n):
        totals = [sum(row[at] for at in drawn) for row in scores]
        winners = [cell for cell, total in enumerate(totals) if total == max(totals)]
        for cell in winners:
            shares[cell] += Fraction(1, len(winners))
    return [float(share / n**n) for share in shares]


def test_two_cells_on_two_questions_by_hand() -> None:
    # Drawn: (1,1) A wins, (1,2) and (2,1) tie, (2,2) B wins for A = 1, 0 and B = 0, 1: half each.
    assert probability_best([[1, 0], [0, 1]]) == pytest.approx([0.5, 0.5], abs=0.005)
    # A = 1, 1 and B = 0, 1: only (2,2) ties, so A has 3/4 and half of 1/4.
    assert probability_best([[1, 1], [0, 1]]) == pytest.approx([0.875, 0.125], abs=0.005)


def test_ties_of_fractions_are_ties() -> None:
    scores = [[THIRD, THIRD, THIRD], [Fraction(1), Fraction(0), Fraction(0)], [2 * THIRD, THIRD, Fraction(0)]]

    assert probability_best(np.array(scores, dtype=float)) == pytest.approx(all_resamples(scores), abs=0.005)


def test_ties_of_values_without_a_common_denominator_are_ties() -> None:
    root = 2**0.5
    # Both cells sum to the same in every resample with one of each question, as floats only nearly.
    shares = probability_best([[root + 0.1, root / 3], [root / 3, root + 0.1]])

    assert shares == pytest.approx([0.5, 0.5], abs=0.005)
    assert probability_best([[0.1 * root, 0.2 * root, 0.3 * root]] * 2).tolist() == [0.5, 0.5]


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.data())
def test_shares_are_those_of_all_resamples(data: st.DataObject) -> None:
    cells, n = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 4))
    value = st.sampled_from([Fraction(0), THIRD, Fraction(1, 2), 2 * THIRD, Fraction(1)])
    scores = data.draw(st.lists(st.lists(value, min_size=n, max_size=n), min_size=cells, max_size=cells))
    shares = probability_best(np.array(scores, dtype=float), resamples=20_000)

    assert shares == pytest.approx(all_resamples(scores), abs=0.02)
    assert shares.sum() == pytest.approx(1, abs=1e-12)


def test_order_of_cells_does_not_matter_and_a_seed_gives_the_same_bits() -> None:
    scores = np.random.default_rng(5).integers(0, 3, (4, 30)) / 2
    shares = probability_best(scores, 5000, seed=7)

    assert probability_best(scores[[2, 0, 3, 1]], 5000, seed=7).tolist() == shares[[2, 0, 3, 1]].tolist()
    assert probability_best(scores, 5000, seed=7).tolist() == shares.tolist()
    assert probability_best(scores, 5000, seed=8).tolist() != shares.tolist()


def test_certainty_grows_with_the_questions_for_a_gap_of_five_points() -> None:
    def mean_share(n: int) -> float:
        worlds = (np.random.default_rng(seed).random((2, n)) < [[0.60], [0.55]] for seed in range(30))
        return float(np.mean([probability_best(world, 500)[0] for world in worlds]))

    # The share is near the normal probability of the gap seen, which itself varies as much: of 0.05 in standard
    # deviations of sqrt(2 (0.24 + 0.2475) / n), that is 0.23 at 20 questions and 2.03 at 1,600.
    assert mean_share(20) == pytest.approx(0.59, abs=0.1)
    assert mean_share(1600) == pytest.approx(0.979, abs=0.03)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], "expected \\(cells, questions\\)"),
        ([[], []], "expected \\(cells, questions\\)"),
        ([0.5, 0.5], "expected \\(cells, questions\\)"),
        ([[0.5, float("nan")]], "NaN"),
        ([[0.5, float("inf")]], "infinity"),
    ],
)
def test_what_cannot_be_compared_is_refused(scores: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        probability_best(scores)


def test_no_resample_is_refused() -> None:
    with pytest.raises(ValueError, match="resamples is 0"):
        probability_best([[1.0]], resamples=0)
