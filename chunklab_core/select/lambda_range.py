"""The range of lambda over which the first place by `balanced_in_play` holds.

Why: lambda, the price of context, is a matter of taste. A first place that holds from 0 to 0.4 needs no discussion of
it; a first place that ends at 0.06 does.

`balanced` of a cell is a straight line in lambda, so the first cells form the upper edge of a bundle of lines. Recalls
and tokens are whole numbers of their units, so the crossings are computed as fractions, without rounding.

Source: de Berg, Cheong, van Kreveld and Overmars, Computational Geometry (3rd ed., 2008), section 11.4, for upper
envelopes of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from chunklab_core.records.survey import LambdaPlace, LambdaRange
from chunklab_core.select.entrants import Entrants, find_entrants


def lambda_range(
    recall: ArrayLike, tokens: ArrayLike, in_play: Sequence[int] | None = None, balanced_lambda: float = 0.05
) -> LambdaRange[int]:
    """The first cell at each price.

    Args:
        recall: shape (cells, questions).
        tokens: the same shape, retrieved tokens.
        in_play: the cells that compete, and over which the fewest tokens (T_min) are taken; None: all.
        balanced_lambda: the price of the first place to report. Where two cells meet there, the one of higher recall.

    Returns:
        Cells with the same line are reported as the first of them.

    Raises:
        ValueError: a wrong shape, NaN, infinity, negative tokens, no cell in play, or a price below 0.
    """
    if not balanced_lambda >= 0:
        raise ValueError(f"balanced_lambda is {balanced_lambda}; it must be at least 0.")
    entrants = find_entrants(recall, tokens)
    cells = range(len(entrants.cells.values)) if in_play is None else sorted(set(in_play))
    if not len(cells):
        raise ValueError("lambda_range: no cell is in play; expected at least the leader.")
    places = _upper_edge(_lines(entrants, cells))
    at = next(at for at, place in enumerate(places) if place.high is None or balanced_lambda <= place.high)
    return LambdaRange(
        first=places[at],
        below=places[at - 1].cell if at else None,
        above=places[at + 1].cell if at + 1 < len(places) else None,
        places=tuple(places),
    )


def _lines(entrants: Entrants, cells: Sequence[int]) -> dict[int, tuple[Fraction, Fraction]]:
    """Recall and tokens / T_min - 1 of each cell, as fractions. A cell that retrieved nothing pays nothing."""
    n_questions = entrants.cells.values.shape[1]
    units = Fraction(entrants.cells.unit) * n_questions
    costs = np.zeros(len(entrants.cells.values)) if entrants.tokens is None else entrants.tokens.sum(axis=1)
    cheapest = min((Fraction(float(costs[cell])) for cell in cells if costs[cell] > 0), default=Fraction(1))
    return {
        cell: (
            Fraction(float(entrants.cells.values[cell].sum())) / units,
            Fraction(float(costs[cell])) / cheapest - 1 if costs[cell] > 0 else Fraction(0),
        )
        for cell in cells
    }


def _upper_edge(lines: dict[int, tuple[Fraction, Fraction]]) -> list[LambdaPlace[int]]:
    """First places from 0 on. From each crossing on, the cheapest of those that meet there leads."""
    now = min(lines, key=lambda cell: (-lines[cell][0], lines[cell][1], cell))
    low = Fraction(0)
    places: list[LambdaPlace[int]] = []
    while True:
        recall, cost = lines[now]
        crossings = [((recall - r) / (cost - c), c, cell) for cell, (r, c) in lines.items() if c < cost]
        if not crossings:
            return [*places, LambdaPlace(now, float(low), None)]
        high, _, after = min(crossings)
        places.append(LambdaPlace(now, float(low), float(high)))
        now, low = after, high
