"""Percentile intervals of one cell's mean."""

from __future__ import annotations

import numpy as np
import pytest

from chunklab_core.select.bootstrap import ci95


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1.0])
def test_equal_values_give_an_interval_of_width_0(value: float) -> None:
    assert ci95([value] * 20) == (value, value)


@pytest.mark.parametrize(("ones", "n"), [(30, 50), (90, 100), (5, 40)])
def test_of_ones_and_zeros_the_interval_holds_the_binomial_quantiles(ones: int, n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    low, high = ci95([1.0] * ones + [0.0] * (n - ones), resamples=20_000) or (0.0, 0.0)

    assert low * n == pytest.approx(stats.binom.ppf(0.025, n, ones / n), abs=1)
    assert high * n == pytest.approx(stats.binom.ppf(0.975, n, ones / n), abs=1)


def test_a_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(0).random(40)

    assert ci95(values, seed=3) == ci95(values, seed=3)
