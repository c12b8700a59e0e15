"""Whether the leader still leads in other views: at another k, with another model, on half of the documents or of the
questions, at another price of context.

Why: a share of resamples is about other questions of the same kind, not about the other choices of the evaluation.
"Holds in 17 of 20" shows quickly what the lead depends on. It is a description and not a test: the views share their
answers, so the number has no error rate.

Source: Yu and Kumbier, Veridical data science (2020), section "Stability", for repeating the analysis under other
reasonable choices; Mosteller and Tukey, Data Analysis and Regression (1977), chapter 8, for halves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.records.survey import CellAxes, Stability, StabilityView
from chunklab_core.select.balanced import balanced
from chunklab_core.select.labels import check_labels, group_labels
from chunklab_core.select.whole_units import checked_scores, in_whole_units

_SPLITS = 3  # into two halves each
_FEWEST = 4  # documents, or groups of questions, that are worth halving
_PRICES = (0.25, 0.5, 1.0, 2.0, 4.0)  # times lambda
_TIED = 1e-12
_SEED_OF: Mapping[Literal["documents", "questions"], int] = {"documents": 1, "questions": 2}


def stability(
    recall: ArrayLike,
    leader: int,
    *,
    tokens: ArrayLike | None = None,
    cells: Sequence[CellAxes] | None = None,
    by_k: Mapping[int, ArrayLike] | None = None,
    documents: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    in_play: Sequence[int] | None = None,
    balanced_lambda: float | None = None,
    seed: int = 0,
) -> Stability[int]:
    """In how many views the leader still has the highest recall, alone or with others.

    Args:
        recall: shape (cells, questions).
        leader: the cell to check.
        tokens: the same shape, retrieved tokens: the cheapest of equal cells is named; without tokens, the first.
        cells: one a row. With two models or more, each model is a view of its cells and of those without a model. It
            holds where the leader's cell of that model leads the view.
        by_k: recall at each other k, with the shape of `recall`.
        documents: one label a question. With four or more, three random halvings are six views.
        groups: one label a question; with four or more, the questions are halved likewise, each group in one half.
        in_play: the cells that compete under a price; None: all.
        balanced_lambda: the price; a quarter, half, once, twice and four times it are views. None or 0: no such view.
        seed: seed of the halvings.

    Raises:
        ValueError: shapes or numbers of labels do not fit, or there is no such leader.
    """
    values = checked_scores(recall, "recall")
    n_cells, n_questions = values.shape
    if not 0 <= leader < n_cells:
        raise ValueError(f"leader is {leader}; expected a row of the {n_cells} of recall.")
    check_labels(documents, n_questions, "documents")
    costs = np.zeros((n_cells, n_questions)) if tokens is None else np.asarray(tokens, dtype=np.float64)
    drawn = group_labels(groups, n_questions)
    views = [
        *_at_other_k(by_k or {}, leader, costs),
        *_by_model(values, leader, costs, cells or ()),
        *_halves("documents", values, leader, costs, () if documents is None else documents, seed),
        *_halves("questions", values, leader, costs, drawn, seed),
    ]
    if tokens is not None and balanced_lambda:
        views += _at_other_prices(
            values, leader, costs, range(n_cells) if in_play is None else in_play, balanced_lambda
        )
    return Stability(leader, sum(view.holds for view in views), len(views), tuple(views))


def _first(values: NDArray[np.float64], costs: NDArray[np.float64], leader: int) -> tuple[int, bool]:
    """The cell of highest recall (the leader, else the cheapest of equals), and whether the leader is one of them."""
    lattice = in_whole_units(values)
    totals, prices = lattice.values.sum(axis=1), costs.sum(axis=1)
    level = totals >= totals.max() - lattice.slack
    first = min(np.flatnonzero(level).tolist(), key=lambda cell: (cell != leader, prices[cell], cell))
    return first, bool(level[leader])


def _at_other_k(by_k: Mapping[int, ArrayLike], leader: int, costs: NDArray[np.float64]) -> Iterator[StabilityView[int]]:
    for k, recall in sorted(by_k.items()):
        values = checked_scores(recall, "recall")
        if values.shape != costs.shape:
            raise ValueError(f"by_k[{k}] has shape {values.shape}; expected that of recall, {costs.shape}.")
        yield StabilityView("k", f"k = {k}", *_first(values, costs, leader))


def _by_model(
    values: NDArray[np.float64], leader: int, costs: NDArray[np.float64], cells: Sequence[CellAxes]
) -> Iterator[StabilityView[int]]:
    models = sorted({cell.model for cell in cells if cell.model is not None})
    for model in models if len(models) > 1 else []:
        here = [at for at, cell in enumerate(cells) if cell.model in (model, None)]
        sought = cells[leader] if cells[leader].model is None else replace(cells[leader], model=model)
        if sought in cells:
            first, holds = _first(values[here], costs[here], here.index(cells.index(sought)))
            yield StabilityView("model", model, here[first], holds)


def _halves(
    kind: Literal["documents", "questions"],
    values: NDArray[np.float64],
    leader: int,
    costs: NDArray[np.float64],
    labels: Sequence[str],
    seed: int,
) -> Iterator[StabilityView[int]]:
    units = sorted(set(labels))
    if len(units) < _FEWEST:
        return
    rng = np.random.default_rng([seed, _SEED_OF[kind]])
    for split in range(1, _SPLITS + 1):
        picked = {units[at] for at in rng.permutation(len(units))[: len(units) // 2].tolist()}
        chosen = np.array([label in picked for label in labels])
        for half, columns in (("a", chosen), ("b", ~chosen)):
            first, holds = _first(values[:, columns], costs[:, columns], leader)
            yield StabilityView(kind, f"half {split}{half} of the {kind}", first, holds)


def _at_other_prices(
    values: NDArray[np.float64], leader: int, costs: NDArray[np.float64], in_play: Sequence[int], price: float
) -> Iterator[StabilityView[int]]:
    are_in_play = np.isin(np.arange(len(values)), list(in_play))
    recall, tokens = values.mean(axis=1), costs.mean(axis=1)
    for times in _PRICES:
        paid = np.where(are_in_play, balanced(recall, tokens, times * price, are_in_play), -np.inf)
        level = np.flatnonzero(paid >= paid.max() - _TIED).tolist()
        first = min(level, key=lambda cell: (cell != leader, tokens[cell], cell))
        yield StabilityView("lambda", f"lambda = {times * price:g}", first, leader in level)
