"""The entrants of a comparison: the cells that compete, best first, with equal cells as one.

Why: two cells that are equal on every question cannot beat one another. As two entrants, an equal best pair would
share the wins and never be named; so they are one entrant, named by its cheaper cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.select.whole_units import WholeUnits, in_whole_units


@dataclass(frozen=True, slots=True)
class Entrants:
    """What is compared.

    Attributes:
        cells: the scores of every cell, by question.
        members: the cells of each entrant, cheapest first; entrants by mean recall, highest first.
        tokens: shape (cells, questions), or None where no cost is known.
    """

    cells: WholeUnits
    members: tuple[tuple[int, ...], ...]
    tokens: NDArray[np.float64] | None

    def values_of(self, cells: WholeUnits) -> WholeUnits:
        """The rows of the entrants, in their order, from scores of all cells."""
        return WholeUnits(cells.values[[members[0] for members in self.members]], cells.unit, cells.slack)

    def shares_of(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of each entrant: the sum over its cells."""
        return np.array([shares[list(members)].sum() for members in self.members])

    def cell_shares(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of each cell: an equal part of its entrant's share."""
        by_cell = np.empty(len(self.cells.values))
        for members, share in zip(self.members, shares, strict=True):
            by_cell[list(members)] = share / len(members)
        return by_cell

    def cells_of(self, chosen: NDArray[np.bool_]) -> tuple[int, ...]:
        """The cells of the chosen entrants, in their order."""
        return tuple(
            cell for members, is_chosen in zip(self.members, chosen, strict=True) if is_chosen for cell in members
        )


def find_entrants(scores: ArrayLike, tokens: ArrayLike | None) -> Entrants:
    """The cells, grouped into entrants.

    Raises:
        ValueError: scores or tokens have the wrong shape or hold NaN, infinity or negative tokens.
    """
    cells = in_whole_units(scores)
    costs = None if tokens is None else _checked(tokens, cells.values.shape)
    price = np.zeros(len(cells.values)) if costs is None else costs.sum(axis=1)
    totals = cells.values.sum(axis=1)
    equal_cells: dict[bytes, list[int]] = {}
    for cell in sorted(range(len(totals)), key=lambda cell: (-totals[cell], price[cell], cell)):
        equal_cells.setdefault((cells.values[cell] + 0.0).tobytes(), []).append(cell)  # + 0.0: no -0.0
    return Entrants(cells, tuple(map(tuple, equal_cells.values())), costs)


def _checked(tokens: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    costs = np.asarray(tokens, dtype=np.float64)
    if costs.shape != shape:
        raise ValueError(f"tokens has shape {costs.shape}; expected that of scores, {shape} (cells, questions).")
    if not (np.isfinite(costs) & (costs >= 0)).all():
        raise ValueError(
            "tokens holds NaN, infinity or a negative number; expected tokens retrieved for each question."
        )
    return costs
