"""The model that discounts the leader's luck: against integrals, against its own promise, and as laws."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest

from chunklab_core.select.covariance import covariance_of_means
from chunklab_core.select.hierarchy import posterior
from chunklab_core.select.lead_needed import lead_needed
from chunklab_core.select.shrunk import discounted

NORMAL = NormalDist()
NOISE = 0.04  # standard error of each mean, independent


def of_two(gap: float, value_at: Callable[[float], float], at_zero: float) -> float:
    """A value averaged over tau by numerical integration: the gap is normal(0, 2 (noise^2 + tau^2)), given tau."""
    integrate = pytest.importorskip("scipy.integrate")

    def likelihood(tau: float) -> float:
        return NormalDist(0, (2 * (NOISE**2 + tau**2)) ** 0.5).pdf(gap)

    def prior(tau: float) -> float:
        return 0.95 * 2 * NormalDist(0, 0.1).pdf(tau)

    total = integrate.quad(lambda tau: prior(tau) * likelihood(tau), 0, 0.6)[0] + 0.05 * likelihood(0)
    above = integrate.quad(lambda tau: prior(tau) * likelihood(tau) * value_at(tau), 0, 0.6)[0]
    return (above + 0.05 * likelihood(0) * at_zero) / total


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.1, 0.2])
def test_of_two_independent_cells_it_is_the_integral(gap: float) -> None:
    def kept(tau: float) -> float:
        return tau**2 / (tau**2 + NOISE**2)

    def better(tau: float) -> float:  # given tau the true gap is normal(kept * gap, 2 * kept * noise^2)
        return NORMAL.cdf(kept(tau) * gap / (2 * kept(tau) * NOISE**2) ** 0.5) if tau else 0.5

    belief = posterior(np.array([0.6 + gap, 0.6]), np.eye(2) * NOISE**2)

    assert belief.shares(200_000, seed=0)[0] == pytest.approx(of_two(gap, better, 0.5), abs=0.004)
    halves = of_two(gap, lambda tau: kept(tau) * gap / 2, 0)
    assert belief.means() == pytest.approx([0.6 + gap / 2 + halves, 0.6 + gap / 2 - halves], abs=0.0005)


def test_it_keeps_its_promise_over_fields_drawn_from_the_model() -> None:
    """The mean share of the leader is how often the leader is the best."""
    rng, promised, kept = np.random.default_rng(3), [], []
    covariance = 0.04**2 * (np.full((4, 4), 0.5) + 0.5 * np.eye(4))
    for _ in range(500):
        true = 0.6 + abs(rng.normal(0, 0.1)) * rng.standard_normal(4)
        seen = rng.multivariate_normal(true, covariance)
        promised.append(posterior(seen, covariance).shares(300, seed=0)[seen.argmax()])
        kept.append(seen.argmax() == true.argmax())

    assert np.mean(promised) == pytest.approx(np.mean(kept), abs=0.05)


def test_much_noise_leaves_all_alike_and_none_leaves_what_was_seen() -> None:
    seen = np.array([0.9, 0.6, 0.5])
    noisy, exact = posterior(seen, np.eye(3) * 25), posterior(seen, np.zeros((3, 3)))

    assert noisy.shares(50_000, seed=0) == pytest.approx([1 / 3] * 3, abs=0.02)
    assert noisy.means() == pytest.approx([2 / 3] * 3, abs=0.001)
    assert exact.shares(1000, seed=0).tolist() == [1, 0, 0]
    assert exact.means() == pytest.approx(seen)


def test_the_leader_of_a_field_is_believed_less_than_it_was_seen() -> None:
    rng = np.random.default_rng(0)
    scores = (rng.random((6, 60)) < 0.6).astype(float)
    scores = scores[np.argsort(-scores.mean(axis=1), kind="stable")]
    found = discounted(scores, np.ones(60), np.ones(6), 2000, 0)

    assert scores.mean() < found.leader_recall < scores[0].mean()


def test_the_covariance_by_hand() -> None:
    # Means 1/2 and 1/4, 1/8 off their common mean; variances 1/3 and 1/4, covariance 1/6 (three degrees of freedom).
    # Around the common mean 1/64 more, or less for the covariance, by 20 / (20 + 3). Then drawn towards one variance,
    # the mean of both, by 2 / (2 + 3), the covariance of the one pair being its own mean; then over four draws.
    scores = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    covariance = covariance_of_means(scores, np.ones(4))

    more = 20 / 23 / 64

    assert covariance[0, 0] == pytest.approx((0.6 / 3 + 0.4 * 7 / 24 + more) / 4)
    assert covariance[1, 1] == pytest.approx((0.6 / 4 + 0.4 * 7 / 24 + more) / 4)
    assert covariance[0, 1] == covariance[1, 0] == pytest.approx((1 / 6 - more) / 4)


def test_wordings_that_move_together_are_one_draw_however_many_they_are() -> None:
    scores = np.random.default_rng(1).integers(0, 3, (3, 12)) / 2

    assert covariance_of_means(scores * 5, np.full(12, 5.0)) == pytest.approx(covariance_of_means(scores, np.ones(12)))


def test_the_covariance_of_groups_of_all_sizes_is_that_of_resampled_means() -> None:
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 6, 400).astype(float)
    sums = rng.binomial(sizes.astype(int), [[0.7], [0.5]]).astype(float)
    drawn = rng.integers(0, 400, (4000, 400))
    means = sums[:, drawn].sum(axis=2) / sizes[drawn].sum(axis=1)

    apart = np.diff(means, axis=0).var()  # 0.2 between the means, so 20 / 419 of 0.01 more on each variance, over 400
    found = covariance_of_means(sums, sizes)

    assert found == pytest.approx(np.cov(means), abs=0.00005)
    assert found[0, 0] + found[1, 1] - 2 * found[0, 1] == pytest.approx(apart, rel=0.1)


def test_more_cells_than_questions_have_no_difference_free_of_noise() -> None:
    scores = (np.random.default_rng(4).random((60, 20)) < 0.6).astype(float)

    assert np.linalg.eigvalsh(covariance_of_means(scores, np.ones(20)))[0] > 0.001


def test_one_question_tells_nothing_apart() -> None:
    assert discounted(np.array([[1.0], [0.0]]), np.ones(1), np.array([1.0, 0.0]), 100, 0).shares.tolist() == [0.5, 0.5]


def test_a_clearly_bad_cell_changes_nothing_for_the_others() -> None:
    rng = np.random.default_rng(5)
    scores = (rng.random((3, 60)) < [[0.75], [0.70], [0.65]]).astype(float)
    with_bad, tails = np.vstack([scores, np.zeros(60)]), np.array([1, 0.2, 0.05, 0.0])
    alone, among = (discounted(rows, np.ones(60), tails[: len(rows)], 5000, 0) for rows in (scores, with_bad))

    assert among.shares.tolist() == [*alone.shares.tolist(), 0.0]
    assert among.leader_recall == alone.leader_recall


def test_the_runner_up_is_never_left_out() -> None:
    scores = np.vstack([np.ones(20), np.zeros(20)])
    shares = discounted(scores, np.ones(20), np.array([1.0, 0.0]), 20_000, 0).shares

    assert shares[0] > 0.99
    assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("noise", [0.02, 0.08])
def test_the_lead_needed_is_the_one_that_the_model_gives_that_share(noise: float) -> None:
    lead = lead_needed(np.array([2 * noise**2]), 0.90)[0]

    assert lead > 1.2816 * (2 * noise**2) ** 0.5  # what P(best) alone asks for
    shares = posterior(np.array([0.5 + lead, 0.5]), np.eye(2) * noise**2).shares(200_000, seed=1)
    assert shares[0] == pytest.approx(0.90, abs=0.003)
