"""Ruling a cell out: only on evidence against it.

Why: a small chance of being best is not evidence, because among many cells every chance is small. A cell is ruled out
only if it is also hardly ever as good as the leader. That share is a small tail, whose count in resamples changes with
the seed; recalls are whole numbers of a common unit, so the tail is computed exactly instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunklab_core.select.bootstrap import resample_counts
from chunklab_core.select.whole_units import WholeUnits

CREDIBLE = 0.95
_HARDLY_EVER = 0.025
_AMONG_ALL = 0.10
_LONGEST = 1 << 22  # longest distribution that is worth a transform
_RESAMPLES = 100_000
_ROUNDING = 1e-9


def tail_bar(tails: NDArray[np.float64]) -> float:
    """The share of resamples below which an entrant is hardly ever as good as the leader.

    2.5 %, or less where many are compared with one leader: 10 % over the number of rivals. A rival below that bar is
    removed, and the bar rises until no more are removed. So one more clearly bad cell changes nothing for the others,
    and the chance of removing any rival that is as good as the leader stays that of the first bar.

    Args:
        tails: shape (entrants,), as for `ruled_out`.

    Source: Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    rivals = np.sort(tails[1:])
    bars = np.minimum(_HARDLY_EVER, _AMONG_ALL / np.arange(max(len(rivals), 1), 0, -1))
    stays = np.flatnonzero(rivals >= bars[: len(rivals)])
    return float(bars[stays[0] if len(stays) else -1])


def ruled_out(shares: NDArray[np.float64], tails: NDArray[np.float64], bar: float | None = None) -> NDArray[np.bool_]:
    """Entrants outside the fewest whose shares add up to 95 %, that are also hardly ever as good as the leader.

    Args:
        shares: shape (entrants,), the chance that each is the best; the leader is first.
        tails: the same shape, the share of resamples in which each scores at least as well as the leader.
        bar: an entrant below it is hardly ever as good; by default `tail_bar`.
    """
    order = np.argsort(-shares, kind="stable")
    n_credible = int(np.searchsorted(np.cumsum(shares[order]), CREDIBLE - _ROUNDING)) + 1
    outside = np.ones(len(shares), dtype=np.bool_)
    outside[order[:n_credible]] = False
    out = outside & (tails < (tail_bar(tails) if bar is None else bar))
    out[0] = False
    return out


def tails_against_leader(lattice: WholeUnits, seed: int) -> NDArray[np.float64]:
    """The share of paired resamples in which each entrant scores at least as well as the first. Shape (entrants,).

    Exact where the scores are fractions with a common denominator; else counted in 100,000 resamples.
    """
    differences = lattice.values - lattice.values[0]
    tails = np.ones(len(differences))
    counted = []
    for entrant in range(1, len(differences)):
        exact = None if lattice.slack else exact_tail(differences[entrant].astype(np.int64))
        if exact is None:
            counted.append(entrant)
        else:
            tails[entrant] = exact
    if counted:
        tails[counted] = _counted_tails(differences[counted], lattice.slack, seed)
    return tails


def exact_tail(differences: NDArray[np.int64]) -> float | None:
    """Probability that as many draws, with replacement, as there are differences add up to 0 or more.

    The distribution of one draw, convolved with itself n times. None where that has more than four million values.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 6.4, for the exact bootstrap
    distribution; the n-fold convolution is the n-th power of the transform.
    """
    n, low = len(differences), int(differences.min())
    step = int(np.gcd.reduce(differences - low))
    if step == 0:
        return float(low >= 0)
    steps = (differences - low) // step
    length = n * int(steps.max()) + 1
    if length > _LONGEST:
        return None
    size = 1 << (length - 1).bit_length()
    draw = np.bincount(steps, minlength=2) / n
    total = np.fft.irfft(np.fft.rfft(draw, size) ** n, size)[:length]
    first = max(0, -(n * low // step))  # the fewest steps with n * low + step * steps >= 0
    return float(np.clip(total[first:].sum(), 0.0, 1.0))


def _counted_tails(differences: NDArray[np.float64], slack: float, seed: int) -> NDArray[np.float64]:
    at_least = np.zeros(len(differences))
    for counts in resample_counts(differences.shape[1], _RESAMPLES, seed):
        at_least += (counts @ differences.T >= -slack).sum(axis=0)
    return at_least / _RESAMPLES
