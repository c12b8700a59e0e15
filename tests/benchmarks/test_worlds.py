"""The simulated worlds have their recalls, their pairing and their copies."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.worlds import equal, mixture, one_better, outcomes, reworded, twins

MANY = 40_000  # a share of them is off by less than 0.01


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_cells_have_their_recalls(rng: np.random.Generator) -> None:
    assert outcomes(rng, [0.2, 0.5, 0.9], MANY).mean(axis=1) == pytest.approx([0.2, 0.5, 0.9], abs=0.01)
    assert one_better(rng, 3, MANY, 0.10).mean(axis=1) == pytest.approx([0.75, 0.65, 0.65], abs=0.01)


def test_cells_find_the_same_questions_hard(rng: np.random.Generator) -> None:
    """Two normal values of correlation 0.6 are both below 0 in 1/4 + arcsin(0.6) / (2 pi) = 0.352 of cases."""
    both = outcomes(rng, [0.5, 0.5], MANY).min(axis=0).mean()

    assert both == pytest.approx(0.25 + np.arcsin(0.6) / (2 * np.pi), abs=0.01)


def test_a_mixture_has_its_sizes_and_names_its_best(rng: np.random.Generator) -> None:
    drawn = [mixture(rng) for _ in range(400)]

    assert {len(scores) for scores, _ in drawn} == {3, 4, 5}
    assert {scores.shape[1] for scores, _ in drawn} == {18, 30, 60, 129}
    ahead = [scores[best].mean() - np.delete(scores, best, axis=0).mean() for scores, best in drawn]
    assert np.mean(ahead) > 0.04


def test_wordings_of_a_fact_share_its_outcome(rng: np.random.Generator) -> None:
    scores, facts = reworded(rng)

    assert scores.shape == (2, 120)
    assert len(set(facts)) == 20
    assert {len({tuple(scores[:, at]) for at in range(120) if facts[at] == fact}) for fact in facts} == {1}


def test_twins_are_equal_and_the_others_are_not(rng: np.random.Generator) -> None:
    first, second, *others = twins(rng)

    assert (first == second).all()
    assert all((first != other).any() for other in others)


def test_a_seed_fixes_a_world() -> None:
    drawn = [equal(np.random.default_rng(seed), 2, 30).tolist() for seed in (1, 1, 2)]

    assert drawn[0] == drawn[1] != drawn[2]
