"""The Pareto front: cells for which no other gives more recall for no more context.

Why: recall can be bought with tokens. A reader wants to see what each further step of recall costs, and which cells
are never worth it, before choosing a price.

Source: Ehrgott, Multicriteria Optimization (2nd ed., 2005), section 2.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from chunklab_core.records.survey import Dominated, ParetoFront
from chunklab_core.select.entrants import find_entrants


def pareto_front(recall: ArrayLike, tokens: ArrayLike) -> ParetoFront[int]:
    """The cells that are worth their tokens, fewest tokens first.

    Args:
        recall: shape (cells, questions).
        tokens: the same shape, retrieved tokens. A cell that retrieved none is left out.

    Returns:
        Cells equal in both are on the front together, in their order. Each dominated cell comes with the cell of the
        front that has the most recall for no more tokens; in their order.

    Raises:
        ValueError: a wrong shape, NaN, infinity, or negative tokens.
    """
    entrants = find_entrants(recall, tokens)
    totals = entrants.cells.values.sum(axis=1)
    costs = np.zeros(len(totals)) if entrants.tokens is None else entrants.tokens.sum(axis=1)
    front: list[int] = []
    dominated = []
    chosen = [cell for cell in range(len(totals)) if costs[cell] > 0]
    for cell in sorted(chosen, key=lambda cell: (costs[cell], -totals[cell], cell)):
        last = front[-1] if front else cell
        gain = totals[cell] - totals[last]
        is_equal = costs[cell] == costs[last] and abs(gain) <= entrants.cells.slack
        if is_equal or gain > entrants.cells.slack:
            front.append(cell)
        else:
            dominated.append(Dominated(cell, last))
    return ParetoFront(tuple(front), tuple(sorted(dominated, key=lambda each: each.cell)))
