"""Stage 7, select: recall of every cell on every question -> Verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.records import Status, Verdict
from chunklab_core.select.balanced_share import balanced_shares
from chunklab_core.select.field import Field, check_labels, make_field
from chunklab_core.select.lattice import sum_by_label
from chunklab_core.select.probability import probability_best, win_shares
from chunklab_core.select.questions_needed import questions_needed
from chunklab_core.select.reasons import BAR, FEW_QUESTIONS, Evidence, sentences
from chunklab_core.select.rule_out import ruled_out, tails_against_leader

__all__ = ["probability_best", "select_winner"]

_RESAMPLES = 100_000
_FEW_DOCUMENTS = 10


def select_winner(
    scores: ArrayLike,
    *,
    tokens: ArrayLike | None = None,
    price_counts: bool = True,
    documents: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    balanced_lambda: float = 0.05,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> Verdict:
    """Which cell is best, if the questions can tell.

    A winner needs a share of 0.90 of paired resamples of the questions and 15 scored questions; the same share with
    documents resampled, where there are 10 or more; and the same share on `balanced_in_play`, where tokens are given.

    Args:
        scores: shape (cells, questions), recall.
        tokens: the same shape, retrieved tokens; decides which of equal cells is the cheapest.
        price_counts: whether cells are ranked by `balanced`, so that a winner has to be worth its tokens, too.
        documents: one label a question, the document its answer stands in.
        groups: one label a question; questions of one label are drawn together and count as one.
        balanced_lambda: the recall a cell pays for retrieving twice the fewest tokens.
        seed: of all resamples.
        names: one name a cell, for the sentences; without them cells are numbered from 0.

    Raises:
        ValueError: shapes or numbers of labels do not fit, something is NaN, or there is no cell or no question.
    """
    field = make_field(scores, tokens)
    n_cells, n_questions = field.cells.values.shape
    for labels, what in ((documents, "documents"), (groups, "groups")):
        check_labels(labels, n_questions, what)
    shown = _shown(names, n_cells)
    drawn = list(groups) if groups is not None else [str(at) for at in range(n_questions)]
    shares = win_shares(field.cells.by_label(drawn), _RESAMPLES, seed)
    price = balanced_lambda if price_counts else None
    evidence = _evidence(field, shares, drawn, documents, price, seed)
    status = _status(evidence, n_cells)
    return Verdict(
        status=status,
        leader=field.entrants[0][0],
        p_best=tuple(shares.tolist()),
        in_play=_cells(field, ~evidence.out),
        ruled_out=_cells(field, evidence.out),
        questions_needed=evidence.needed,
        reasons=sentences(status, evidence, shown),
        at_bar=len(field.entrants) > 1 and evidence.at_bar,
    )


def _shown(names: Sequence[str] | None, n_cells: int) -> Sequence[str]:
    if names is None:
        return [f"cell {at}" for at in range(n_cells)]
    if len(names) != n_cells:
        raise ValueError(f"names holds {len(names)} names for {n_cells} cells; expected one a cell.")
    return names


def _evidence(
    field: Field,
    shares: NDArray[np.float64],
    drawn: Sequence[str],
    documents: Sequence[str] | None,
    price: float | None,
    seed: int,
) -> Evidence:
    by_entrant = field.entrant_shares(shares)
    grouped = field.entrant_values(field.cells.by_label(drawn))
    out = ruled_out(by_entrant, tails_against_leader(grouped, seed))
    n_drawn = grouped.values.shape[1]
    on_balance = _on_balance(field, drawn, _cells(field, ~out), price, seed)
    share = float(by_entrant[0])
    unsettled = len(field.entrants) > 1 and (share < BAR or n_drawn < FEW_QUESTIONS)
    return Evidence(
        field=field,
        n_questions=n_drawn,
        share=share,
        by_document=_by_document(field, documents, seed),
        on_balance=None if on_balance is None else float(field.entrant_shares(on_balance)[0]),
        on_balance_best=None if on_balance is None else int(on_balance.argmax()),
        out=out,
        needed=_needed(field, drawn) if unsettled else None,
    )


def _status(evidence: Evidence, n_cells: int) -> Status:
    if n_cells == 1:
        return "only"
    if len(evidence.field.entrants) == 1:
        return "tied"
    if evidence.share < BAR:
        return "undecided"
    sure = evidence.n_questions >= FEW_QUESTIONS and all(share >= BAR for share in evidence.shares)
    return "winner" if sure else "leans"


def _cells(field: Field, chosen: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(cell for members, is_in in zip(field.entrants, chosen, strict=True) if is_in for cell in members)


def _by_document(field: Field, documents: Sequence[str] | None, seed: int) -> float | None:
    if documents is None or len(set(documents)) < _FEW_DOCUMENTS:
        return None
    return float(field.entrant_shares(win_shares(field.cells.by_label(documents), _RESAMPLES, seed))[0])


def _on_balance(
    field: Field, drawn: Sequence[str], in_play: Sequence[int], price: float | None, seed: int
) -> NDArray[np.float64] | None:
    if field.tokens is None or price is None or len(field.entrants) == 1:
        return None
    tokens, sizes = sum_by_label(field.tokens, drawn), sum_by_label(np.ones((1, len(drawn))), drawn)[0]
    cells = field.cells.by_label(drawn)
    return balanced_shares(cells, tokens, sizes, in_play, price, _RESAMPLES, seed)


def _needed(field: Field, drawn: Sequence[str]) -> int | None:
    """Of the leader against the runner-up, in questions that do not move together."""
    grouped = field.entrant_values(field.cells.by_label(drawn)).values
    questions_a_draw = len(drawn) / grouped.shape[1]
    return questions_needed((grouped[0] - grouped[1]) / (field.cells.unit * questions_a_draw), at_least=FEW_QUESTIONS)
