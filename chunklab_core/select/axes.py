"""How much each axis (strategy, retriever, model, reranker) changed recall, and how sure that is.

Why: a ranking of sixty cells hides that the retriever decided and the chunker did not. Means over all cells of a level
would mix the level with its combinations, so levels are compared only where everything else is equal: the same
questions, the same values on the other axes. A cell without a model (bm25) is compared with the cells of every model
where retrievers are compared, and takes no part where models are compared.

Source: Montgomery, Design and Analysis of Experiments (8th ed., 2012), sections 5.3 and 5.4, for main effects of
a factorial design and the sums of squares of its factors; Cohen, Statistical Power Analysis (1988), section 8.2.2, for
their share of the total (eta squared).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.records.survey import AxisEffect, AxisEffects, AxisLevel, AxisName, CellAxes
from chunklab_core.select.group_bootstrap import RESAMPLES, intervals
from chunklab_core.select.labels import group_labels
from chunklab_core.select.whole_units import checked_scores

AXES: tuple[AxisName, ...] = get_args(AxisName)

_NONE = "none"
_DIGITS = 12
_Grid = Mapping[tuple[str | None, ...], Mapping[str, int]]  # values of the other axes -> level -> cell


def axis_effects(
    recall: ArrayLike,
    cells: Sequence[CellAxes],
    groups: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> AxisEffects:
    """The effect on recall of each axis with two levels or more, largest first.

    Args:
        recall: shape (cells, questions).
        cells: one a row of `recall`, all different.
        groups: one label a question; questions of one label are drawn together.
        resamples: how many resamples are drawn for the intervals.
        seed: seed of the resamples.

    Raises:
        ValueError: shapes or numbers do not fit, or two cells have the same position on the axes.
    """
    values = checked_scores(recall, "recall")
    n_cells, n_questions = values.shape
    if len(cells) != n_cells or len(set(cells)) != n_cells:
        raise ValueError(f"{len(set(cells))} different cells for {n_cells} rows of recall; expected one a row.")
    drawn = group_labels(groups, n_questions)
    grids = {axis: _grid(cells, axis) for axis in AXES}
    varied = [axis for axis in AXES if len(_levels(cells, axis)) > 1]
    shares = _shares(values.mean(axis=1), cells) if _is_full(cells) else {}
    effects = [_effect(axis, values, cells, grids[axis], shares.get(axis), drawn, resamples, seed) for axis in varied]
    effects.sort(key=lambda effect: (-(effect.moved or 0.0), AXES.index(effect.axis)))
    interplay = max(0.0, round(1 - sum(shares.values()), _DIGITS)) if shares else None
    return AxisEffects(tuple(effects), interplay)


def _effect(
    axis: AxisName,
    values: NDArray[np.float64],
    cells: Sequence[CellAxes],
    grid: _Grid,
    share: float | None,
    groups: Sequence[str],
    resamples: int,
    seed: int,
) -> AxisEffect:
    levels = _levels(cells, axis)
    n_compared = {level: sum(level in row and len(row) > 1 for row in grid.values()) for level in levels}
    against_rest = {level: _contrast(grid, level, None, len(cells)) for level in levels}
    effects = {level: round(float((against_rest[level] @ values).mean()), _DIGITS) for level in levels}
    order = sorted(levels, key=lambda level: (n_compared[level] == 0, -effects[level], level))
    ranked = [level for level in order if n_compared[level]]
    extremes = _contrast(grid, ranked[0], ranked[-1], len(cells)) if ranked else np.zeros(len(cells))
    rows = np.array([*(against_rest[level] for level in order), extremes]) @ values
    *by_level, of_extremes = intervals(rows, groups, resamples, seed)
    meet = bool(extremes.any())
    return AxisEffect(
        axis=axis,
        levels=tuple(
            AxisLevel(
                level=level,
                recall=float(values[[_level(cell, axis) == level for cell in cells]].mean()),
                effect=effects[level] if n_compared[level] else None,
                ci95=interval if n_compared[level] else None,
                comparisons=n_compared[level],
            )
            for level, interval in zip(order, by_level, strict=True)
        ),
        moved=round(float(rows[-1].mean()), _DIGITS) if meet else None,
        ci95=of_extremes if meet else None,
        share_of_variance=share,
    )


def _contrast(grid: _Grid, level: str, other: str | None, n_cells: int) -> NDArray[np.float64]:
    """Weights of the cells, so that their sum is `level` less `other` (None: less the mean of all others).

    Shape (cells,). A mean over the combinations of the other axes that have both; 0 where there is none.
    """
    weights, n_compared = np.zeros(n_cells), 0
    for row in grid.values():
        rest = [cell for name, cell in row.items() if (name != level if other is None else name == other)]
        if level in row and rest:
            weights[row[level]] += 1
            weights[rest] -= 1 / len(rest)
            n_compared += 1
    return weights / max(n_compared, 1)


def _grid(cells: Sequence[CellAxes], axis: AxisName) -> _Grid:
    models = sorted({cell.model for cell in cells if cell.model is not None})
    grid: dict[tuple[str | None, ...], dict[str, int]] = defaultdict(dict)
    for at, cell in enumerate(cells):
        level = _level(cell, axis)
        if level is None:
            continue
        beside = models if axis == "retriever" and cell.model is None and models else [cell.model]
        for model in beside:
            place = {"strategy": cell.strategy, "retriever": cell.retriever, "reranker": cell.reranker, "model": model}
            grid[tuple(place[name] for name in AXES if name != axis)][level] = at
    return grid


def _level(cell: CellAxes, axis: AxisName) -> str | None:
    value: str | None = getattr(cell, axis)
    return _NONE if value is None and axis == "reranker" else value


def _levels(cells: Sequence[CellAxes], axis: AxisName) -> list[str]:
    return sorted({level for cell in cells if (level := _level(cell, axis)) is not None})


def _is_full(cells: Sequence[CellAxes]) -> bool:
    """Whether the cells hold every combination; each retriever uses either every model or none."""
    uses: dict[str, set[str | None]] = defaultdict(set)
    for cell in cells:
        uses[cell.retriever].add(cell.model)
    models = {cell.model for cell in cells} - {None}
    searches = [(retriever, model) for retriever, used in uses.items() for model in used]
    strategies, rerankers = {cell.strategy for cell in cells}, {cell.reranker for cell in cells}
    whole = {CellAxes(s, r, m, k) for s, (r, m), k in product(strategies, searches, rerankers)}
    return whole == set(cells) and all(used in ({None}, models) for used in uses.values())


def _shares(means: NDArray[np.float64], cells: Sequence[CellAxes]) -> dict[AxisName, float]:
    """The sum of squares of each axis as a share of that of all cells; empty if all cells are equal."""
    total = float(((means - means.mean()) ** 2).sum())
    if total < 1e-18:
        return {}
    shares = {}
    for axis in AXES:
        levels = [_level(cell, axis) for cell in cells]
        middle = means[[level is not None for level in levels]].mean() if any(levels) else 0.0
        of_level = [means[[level == name for level in levels]] for name in _levels(cells, axis)]
        between = sum(len(part) * (part.mean() - middle) ** 2 for part in of_level)
        shares[axis] = round(float(between) / total, _DIGITS)
    return shares
