"""The field of a comparison: who competes, best first, and on which questions.

Why: two cells that are equal on every question cannot beat one another. They are one entrant, named by the cheaper
one, or a pair of equal best cells would never be told apart and never be named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.select.lattice import Lattice, on_lattice


@dataclass(frozen=True, slots=True)
class Field:
    """What was compared.

    Attributes:
        cells: the scores of every cell, by question.
        entrants: the cells of each entrant, cheapest first; entrants by mean recall, highest first.
        tokens: shape (cells, questions), or None where no cost is known.
    """

    cells: Lattice
    entrants: tuple[tuple[int, ...], ...]
    tokens: NDArray[np.float64] | None

    def entrant_values(self, cells: Lattice) -> Lattice:
        """One row an entrant, in their order, out of scores of all cells."""
        return Lattice(cells.values[[members[0] for members in self.entrants]], cells.unit, cells.slack)

    def entrant_shares(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the shares of each entrant's cells."""
        return np.array([shares[list(members)].sum() for members in self.entrants])

    def cell_shares(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of each cell: that of its entrant, shared equally among its cells."""
        by_cell = np.empty(len(self.cells.values))
        for members, share in zip(self.entrants, shares, strict=True):
            by_cell[list(members)] = share / len(members)
        return by_cell

    def cells_of(self, chosen: NDArray[np.bool_]) -> tuple[int, ...]:
        """The cells of the chosen entrants, in their order."""
        return tuple(cell for members, is_in in zip(self.entrants, chosen, strict=True) if is_in for cell in members)


def make_field(scores: ArrayLike, tokens: ArrayLike | None) -> Field:
    """The cells as entrants.

    Raises:
        ValueError: scores or tokens have another shape, or hold NaN, infinity or negative tokens.
    """
    cells = on_lattice(scores)
    costs = None if tokens is None else _checked(tokens, cells.values.shape)
    price = np.zeros(len(cells.values)) if costs is None else costs.sum(axis=1)
    totals = cells.values.sum(axis=1)
    members: dict[bytes, list[int]] = {}
    for cell in sorted(range(len(totals)), key=lambda cell: (-totals[cell], price[cell], cell)):
        members.setdefault((cells.values[cell] + 0.0).tobytes(), []).append(cell)  # + 0.0: no -0.0
    return Field(cells, tuple(map(tuple, members.values())), costs)


def check_labels(labels: Sequence[str] | None, n_questions: int, what: str) -> None:
    """One label a question.

    Raises:
        ValueError: there are more or fewer.
    """
    if labels is not None and len(labels) != n_questions:
        raise ValueError(f"{what} holds {len(labels)} labels for {n_questions} questions; expected one a question.")


def _checked(tokens: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    costs = np.asarray(tokens, dtype=np.float64)
    if costs.shape != shape:
        raise ValueError(f"tokens has shape {costs.shape}; expected that of scores, {shape} (cells, questions).")
    if not (np.isfinite(costs) & (costs >= 0)).all():
        raise ValueError(
            "tokens holds NaN, infinity or a negative number; expected tokens retrieved for each question."
        )
    return costs
