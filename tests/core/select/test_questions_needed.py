from __future__ import annotations

import numpy as np
import pytest

from chunklab_core.select.lead_needed import lead_needed
from chunklab_core.select.questions_needed import chance, questions_needed


def test_the_forecast_is_the_share_of_simulated_futures_that_decide() -> None:
    gap, variance, n, total = 0.04, 0.2, 60, 400
    rng = np.random.default_rng(0)
    kept = 0.02 / (0.02 + variance / n)
    true = rng.normal(kept * gap, np.sqrt(kept * variance / n), 200_000)
    new = rng.normal(true, np.sqrt(variance / (total - n)))
    later = (n * gap + (total - n) * new) / total
    decided = np.abs(later) >= lead_needed(np.array([variance / total]), 0.90)[0]

    assert chance(gap, variance, n, np.array([total]))[0] == pytest.approx(decided.mean(), abs=0.005)


def test_a_wider_gap_needs_fewer_questions_and_no_gap_no_realistic_number() -> None:
    wide, narrow = [1.0] * 12 + [-1.0] * 6 + [0.0] * 42, [1.0] * 10 + [-1.0] * 6 + [0.0] * 44
    needed = questions_needed(np.array(wide)), questions_needed(np.array(narrow))

    assert needed[0] is not None
    assert needed[1] is not None
    assert 60 < needed[0] < needed[1]
    assert questions_needed(np.array([0.001, -0.001] * 4000)) is None
    assert questions_needed(np.array([1.0])) is None
