"""Intervals of means over questions, with whole groups of questions drawn together.

Why: near-duplicate questions move together. An interval that draws them one by one is too narrow: the more copies, the
narrower.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 13.3, for the percentile interval; see
`labels` for drawing whole groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.survey import Interval
from chunklab_core.select.bootstrap import resample_counts
from chunklab_core.select.labels import sizes_of, sum_by_label

RESAMPLES = 2_000  # the bounds of an interval then vary by about a twentieth of its width
_DIGITS = 12  # sums of fractions differ beyond these from machine to machine


def intervals(
    values: NDArray[np.float64], groups: Sequence[str], resamples: int = RESAMPLES, seed: int = 0
) -> list[Interval | None]:
    """The 95 % interval of the mean of each row.

    Args:
        values: shape (rows, questions).
        groups: one label a question.
        resamples: how many resamples are drawn.
        seed: seed of the resamples; all rows use the same ones.

    Returns:
        One a row; None where there are fewer than two groups.
    """
    return intervals_of_sums(*sums_and_sizes(values, groups), resamples, seed)


def sums_and_sizes(
    values: NDArray[np.float64], groups: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sums of each group, shape (rows, groups), and its number of questions, shape (groups,)."""
    return sum_by_label(values, groups), sizes_of(groups)


def intervals_of_sums(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], resamples: int = RESAMPLES, seed: int = 0
) -> list[Interval | None]:
    """Like `intervals`, from the result of `sums_and_sizes`."""
    if len(sizes) < 2:
        return [None] * len(sums)
    blocks = [sums @ counts.T / (counts @ sizes) for counts in resample_counts(len(sizes), resamples, seed)]
    low, high = np.percentile(np.concatenate(blocks, axis=1), [2.5, 97.5], axis=1).round(_DIGITS)
    return [(float(one), float(other)) for one, other in zip(low, high, strict=True)]
