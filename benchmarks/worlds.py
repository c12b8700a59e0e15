"""Simulated comparisons whose right answer is known.

Why: whether a verdict can be trusted shows only where the truth is known, and on real documents it never is. Each
world draws the outcomes of some cells on some questions, 0 or 1, shape (cells, questions). A question is hard or easy
for every cell, which makes the comparison a paired one, and each cell has some luck of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

EQUAL_RECALL = 0.65
_SHARED = 0.6  # part of the variance that all cells have in common

Scores = NDArray[np.float64]


def outcomes(rng: np.random.Generator, recalls: Sequence[float], n_questions: int) -> Scores:
    """Cells of these true recalls on the same questions.

    A latent normal value, part question and part cell, lies below the quantile that gives the cell its recall.
    """
    bounds = [NormalDist().inv_cdf(float(np.clip(recall, 1e-6, 1 - 1e-6))) for recall in recalls]
    question = rng.standard_normal(n_questions)
    cell = rng.standard_normal((len(bounds), n_questions))
    latent = np.sqrt(_SHARED) * question + np.sqrt(1 - _SHARED) * cell
    return (latent < np.array(bounds)[:, None]).astype(np.float64)


def equal(rng: np.random.Generator, n_cells: int, n_questions: int) -> Scores:
    """Cells of one true recall: whichever is named, it is named wrongly."""
    return outcomes(rng, [EQUAL_RECALL] * n_cells, n_questions)


def one_better(rng: np.random.Generator, n_cells: int, n_questions: int, gap: float) -> Scores:
    """Cell 0 is better by `gap` than the others, which are equal."""
    return outcomes(rng, [EQUAL_RECALL + gap, *[EQUAL_RECALL] * (n_cells - 1)], n_questions)


def mixture(rng: np.random.Generator, apart: float | None = None) -> tuple[Scores, int]:
    """A comparison as it might come: 3 to 5 cells, 18 to 129 questions, recalls 2 to 10 points apart; and the best.

    With `apart`, true recalls are spread by that standard deviation in all comparisons.
    """
    n_cells = int(rng.integers(3, 6))
    n_questions = int(rng.choice([18, 30, 60, 129]))
    apart = float(rng.choice([0.02, 0.05, 0.10])) if apart is None else apart
    recalls = np.clip(rng.uniform(0.45, 0.85) + apart * rng.standard_normal(n_cells), 0.02, 0.98)
    return outcomes(rng, recalls.tolist(), n_questions), int(np.argmax(recalls))


def reworded(rng: np.random.Generator, n_facts: int = 20, n_wordings: int = 6) -> tuple[Scores, list[str]]:
    """Two equal cells on few facts, each asked in several words with one outcome; and the fact of each question."""
    facts = [f"fact {number}" for number in range(n_facts) for _ in range(n_wordings)]
    return np.repeat(equal(rng, 2, n_facts), n_wordings, axis=1), facts


def twins(rng: np.random.Generator, n_questions: int = 200) -> Scores:
    """Cells 0 and 1 are one and the same and clearly the best; without cell 0, the world of the single."""
    return outcomes(rng, [0.85, 0.60, 0.55], n_questions)[[0, 0, 1, 2]]


def two_apart(rng: np.random.Generator, n_questions: int) -> Scores:
    """Cell 0 finds 60 % of the answers and cell 1 55 %."""
    return outcomes(rng, [0.60, 0.55], n_questions)
