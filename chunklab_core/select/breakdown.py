"""Recall part by part: by tag, by document, by length of the gold.

Why: a mean over all questions hides that a chunker fails on tables, or on one handbook, and those failures can be
fixed. Parts are small, so each figure comes with its number of questions and its interval.

Source: Efron and Tibshirani (1993), section 13.3, and Wilson (1927) for the intervals (see `group_bootstrap` and
`wilson`); Cochran, Sampling Techniques (3rd ed., 1977), section 6.4, for the variance of a mean over groups of unequal
size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.records.survey import Breakdown, Interval, PartRecall
from chunklab_core.select.group_bootstrap import RESAMPLES, intervals_of_sums, sums_and_sizes
from chunklab_core.select.labels import group_labels, questions_by_part
from chunklab_core.select.whole_units import checked_scores
from chunklab_core.select.wilson import wilson_interval

GOLD_LENGTHS = ((1, 25), (26, 75), (76, 200), (201, None))  # tokens: a phrase, a sentence or two, a paragraph, more
LENGTH_NAMES = tuple(
    f"{first} to {last} tokens" if last is not None else f"over {first - 1} tokens" for first, last in GOLD_LENGTHS
)


def recall_by_part(
    recall: ArrayLike,
    parts: Sequence[Sequence[str]],
    groups: Sequence[str] | None = None,
    *,
    order: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Breakdown:
    """Recall of every cell on every part of the questions.

    Args:
        recall: shape (cells, questions), fractions in [0, 1].
        parts: the parts of each question, such as its tags or its documents; may be empty.
        groups: one label a question; questions of one label are drawn together.
        order: the order of the parts; parts without a question are left out. None: by name.
        resamples: how many resamples are drawn for the intervals.
        seed: seed of the resamples.

    Raises:
        ValueError: shapes or numbers of labels do not fit.
    """
    values = checked_scores(recall, "recall")
    n_questions = values.shape[1]
    drawn = group_labels(groups, n_questions)
    members = questions_by_part(parts, n_questions)
    listed = [name for name in order if name in members] if order is not None else sorted(members)
    columns = [_part(name, values, members[name], drawn, resamples, seed) for name in listed]
    cells = tuple(tuple(column[cell] for column in columns) for cell in range(len(values)))
    return Breakdown(cells)


def gold_length_parts(gold_tokens: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The band of each question by the length of its longest gold, as parts for `recall_by_part`.

    Bands are the same in every run, so that runs can be compared. The longest gold counts because cuts divide it first.
    """
    return tuple(
        next(
            (name,)
            for name, (_, last) in zip(LENGTH_NAMES, GOLD_LENGTHS, strict=True)
            if last is None or length <= last
        )
        for length in gold_tokens
    )


def _part(
    name: str,
    values: NDArray[np.float64],
    members: Sequence[int],
    groups: Sequence[str],
    resamples: int,
    seed: int,
) -> list[PartRecall]:
    """One part, cell by cell."""
    n = len(members)
    sums, sizes = sums_and_sizes(values[:, members], [groups[question] for question in members])
    means = sums.sum(axis=1) / n
    variances = ((sums - means[:, None] * sizes) ** 2).sum(axis=1) / n**2
    wilson = [
        _wilson(mean, variance, len(sizes)) for mean, variance in zip(means.tolist(), variances.tolist(), strict=True)
    ]
    percentile = intervals_of_sums(sums, sizes, resamples, seed)
    return [
        PartRecall(name, n, len(sizes), mean, interval, beside)
        for mean, interval, beside in zip(means.tolist(), percentile, wilson, strict=True)
    ]


def _wilson(mean: float, variance: float, n_groups: int) -> Interval | None:
    """Wilson's interval where it is needed, for as many yes-or-no answers as the groups are worth; else None."""
    if n_groups >= 30 and 0.05 <= mean <= 0.95:
        return None
    if variance > 1e-18:
        return wilson_interval(mean, mean * (1 - mean) / variance)
    if n_groups > 1 and 0 < mean < 1:
        return mean, mean
    return wilson_interval(mean, n_groups)  # all found, all missed, or one group: as many answers as groups
