"""The shares beside P(best), the cheapest cell in play, and what must not change a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.records.verdict import Verdict
from chunklab_core.select import select_winner
from chunklab_core.select.cheapest import difference_ci95


def answers(*pattern: tuple[int, str]) -> np.ndarray:
    """Cells x questions from blocks: (3, "10") is three questions that cell 0 finds and cell 1 does not."""
    return np.array([[int(mark) for mark in marks] for times, marks in pattern for _ in range(times)], dtype=float).T


def codes(verdict: Verdict) -> set[str]:
    return {reason.code for reason in verdict.reasons}


LUCKY = answers((20, "11"), (8, "10"), (3, "01"), (9, "00"))  # P(best) about 0.93
CLEAR = answers((30, "11"), (12, "10"), (8, "00"))


def test_a_lead_that_is_common_between_equals_only_leans() -> None:
    verdict = select_winner(LUCKY)

    assert verdict.status == "leans"
    assert verdict.leader_share >= 0.90
    assert 0.75 < verdict.p_best_shrunk[0] < 0.90
    assert "share_without_luck" in codes(verdict)


def test_every_share_adds_up_to_1_and_those_that_do_not_apply_are_none() -> None:
    tokens, documents = np.array([[100.0], [90.0]]) * np.ones((1, 50)), [f"document {at % 12}" for at in range(50)]
    whole, bare = select_winner(CLEAR, tokens=tokens, documents=documents), select_winner(CLEAR, documents=["one"] * 50)

    for shares in (whole.p_best, whole.p_best_shrunk, whole.p_best_by_document, whole.p_best_balanced):
        assert sum(shares or ()) == pytest.approx(1)
    assert whole.speaks_of == "new documents"
    assert (bare.p_best_by_document, bare.p_best_balanced, bare.cheapest_in_play) == (None, None, None)
    assert bare.speaks_of == "new questions on these documents"
    assert "about_questions" in codes(bare)
    assert "about_documents" in codes(whole)


def test_equal_cells_share_and_the_verdict_holds_their_sum() -> None:
    verdict = select_winner(CLEAR[[0, 0, 1]])

    assert verdict.p_best[0] == verdict.p_best[1]
    assert verdict.p_best_shrunk[0] == verdict.p_best_shrunk[1]
    assert verdict.leader_share == pytest.approx(2 * verdict.p_best[0])
    assert verdict.status == "winner"


def test_the_cheapest_in_play_has_the_interval_of_what_it_costs_in_recall() -> None:
    tokens = np.array([[300.0], [100.0], [50.0]]) * np.ones((1, 40))
    verdict = select_winner(np.vstack([LUCKY, np.zeros(40)]), tokens=tokens)
    low, high = verdict.cheapest_ci95 or (0, 0)

    assert verdict.ruled_out == (2,)
    assert verdict.cheapest_in_play == 1
    assert verdict.cheapest_difference == pytest.approx(-5 / 40)
    assert low < -5 / 40 < high


def test_the_leader_as_the_cheapest_costs_nothing() -> None:
    verdict = select_winner(CLEAR, tokens=np.array([[1.0], [2.0]]) * np.ones((1, 50)))

    assert (verdict.cheapest_in_play, verdict.cheapest_difference, verdict.cheapest_ci95) == (0, 0.0, (0.0, 0.0))


def test_the_paired_interval_is_that_of_all_resamples() -> None:
    """Two draws of sizes 1 and 3 with sums 1 and 0: both first 1 (1/4), mixed 1/4 (1/2), both second 0 (1/4)."""
    assert difference_ci95(np.array([1.0, 0.0]), np.array([1.0, 3.0]), seed=0) == (0.0, 1.0)
    # Of 100 pairs, 40 differ by 1: the quantiles of a binomial.
    stats = pytest.importorskip("scipy.stats")
    low, high = difference_ci95(np.array([1.0] * 40 + [0.0] * 60), np.ones(100), seed=0)
    assert (low * 100, high * 100) == pytest.approx(stats.binom.ppf([0.025, 0.975], 100, 0.4), abs=1)


@settings(max_examples=12, derandomize=True, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9), st.sampled_from([40, 90]))
def test_a_tiny_bad_cell_changes_neither_the_status_nor_the_others(seed: int, cells: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    recalls = 0.75 - 0.06 * rng.random((cells, 1))
    scores = (0.6 * rng.standard_normal(n) + 0.8 * rng.standard_normal((cells, n)) < 2 * recalls - 1).astype(float)
    tokens = rng.integers(800, 2500, (cells, 1)) * np.ones((1, n))
    bad = (rng.random(n) < 0.02).astype(float)

    alone = select_winner(scores, tokens=tokens, resamples=4000)
    among = select_winner(np.vstack([scores, bad]), tokens=np.vstack([tokens, np.full(n, 40.0)]), resamples=4000)

    assert among.ruled_out[-1] == cells
    assert (among.status, among.leader, among.in_play) == (alone.status, alone.leader, alone.in_play)
    assert among.p_best_shrunk == (*alone.p_best_shrunk, 0.0)
    assert among.p_best_balanced == pytest.approx((*(alone.p_best_balanced or ()), 0.0))
    assert among.cheapest_in_play == alone.cheapest_in_play


@pytest.mark.parametrize("pattern", [((20, "11"), (8, "10"), (3, "01"), (9, "00")), ((9, "11"), (3, "10"), (6, "00"))])
def test_another_seed_gives_the_same_status_unless_a_share_is_at_the_bar(pattern: Sequence[tuple[int, str]]) -> None:
    verdicts = [select_winner(answers(*pattern), seed=seed) for seed in range(12)]

    assert not any(verdict.at_bar for verdict in verdicts)
    assert len({verdict.status for verdict in verdicts}) == 1


def test_a_share_of_the_model_at_its_bar_is_reported() -> None:
    """10 against 3 of 50: the model's integrals, added up on its grid, give 0.8998, whatever is drawn."""
    verdict = select_winner(answers((10, "10"), (3, "01"), (37, "11")))

    assert verdict.leader_share > 0.95
    assert verdict.p_best_shrunk[0] == pytest.approx(0.8998, abs=0.004)
    assert verdict.at_bar
    assert "at_bar" in codes(verdict)
