"""Interval of a mean that is near 0 or 1, or comes from few questions.

Why: resamples of twenty right answers are all right, so the percentile interval has width 0 and is far too sure.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

_Z = 1.959963984540054  # the normal distribution's 97.5th percentile


def needs_wilson(values: ArrayLike) -> bool:
    """Whether the report needs this interval, too: mean under .05 or over .95, or fewer than 30 values."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return flat.size > 0 and (flat.size < 30 or not 0.05 <= flat.mean() <= 0.95)


def ci95_wilson(values: ArrayLike) -> tuple[float, float] | None:
    """Wilson's 95 % interval of the mean of values in [0, 1]; None where there is no value.

    Values between 0 and 1 hold more information than a yes or no; they count as n_eff = mean(1 - mean) / var(mean)
    yes-or-no answers, which is the number of values if all are 0 or 1. Equal values in between have no spread.

    Raises:
        ValueError: a value is outside [0, 1].

    Source: Wilson, Probable inference, the law of succession, and statistical inference (1927); Korn and Graubard,
    Confidence intervals for proportions with small expected number of positive counts (1998), for n_eff.
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    n = flat.size
    if n == 0:
        return None
    if not ((flat >= 0) & (flat <= 1)).all():
        raise ValueError("ci95_wilson: values outside [0, 1]; the interval is for shares.")
    mean = float(flat.mean())
    spread = mean * (1 - mean)
    n_eff = float(n)
    if 0 < mean < 1:
        variance = float(flat.var()) / n
        if variance <= 1e-18:
            return mean, mean
        n_eff = spread / variance
    return wilson_interval(mean, n_eff)


def wilson_interval(mean: float, n_eff: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `n_eff` yes-or-no answers."""
    middle, stretch = mean + _Z**2 / (2 * n_eff), 1 + _Z**2 / n_eff
    half = _Z * sqrt(mean * (1 - mean) / n_eff + _Z**2 / (4 * n_eff**2))
    return max(0.0, (middle - half) / stretch), min(1.0, (middle + half) / stretch)
