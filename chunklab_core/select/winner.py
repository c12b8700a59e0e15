"""The verdict: which cell is best, if the questions can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.records.verdict import Status, Verdict
from chunklab_core.select.balanced_share import balanced_shares
from chunklab_core.select.cheapest import cheapest, difference_ci95
from chunklab_core.select.entrants import Entrants, find_entrants
from chunklab_core.select.labels import check_labels, group_labels, sizes_of, sum_by_label
from chunklab_core.select.probability import win_shares
from chunklab_core.select.questions_needed import questions_needed
from chunklab_core.select.reasons import BAR, FEW_QUESTIONS, Evidence, reasons_of
from chunklab_core.select.rule_out import ruled_out, tail_bar, tails_against_leader
from chunklab_core.select.shrunk import discounted

FEW_DOCUMENTS = 10


def select_winner(
    scores: ArrayLike,
    *,
    tokens: ArrayLike | None = None,
    price_counts: bool = True,
    documents: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    balanced_lambda: float = 0.05,
    seed: int = 0,
    resamples: int = 100_000,
) -> Verdict:
    """Which cell is best, if the questions can tell.

    A winner needs 15 scored questions and each share that applies must be at least 0.90: the share of paired resamples
    of the questions; the posterior probability that discounts luck; the share of resamples of documents, where there
    are 10 or more; and the share of resamples by `balanced_in_play`, where tokens are given.

    Args:
        scores: shape (cells, questions), recall.
        tokens: the same shape, retrieved tokens; decides which of equal cells is the cheapest.
        price_counts: whether cells are ranked by `balanced`, so that a winner must be worth its tokens, too.
        documents: one label a question, the document that holds its answer.
        groups: one label a question; questions of one label are drawn together and count as one.
        balanced_lambda: the recall a cell pays for retrieving twice the fewest tokens.
        seed: seed of all resamples.
        resamples: how many are drawn for each share; with fewer, seeds differ more.

    Raises:
        ValueError: shapes or numbers of labels do not fit, a value is NaN, or there is no cell or no question.
    """
    entrants = find_entrants(scores, tokens)
    n_cells, n_questions = entrants.cells.values.shape
    check_labels(documents, n_questions, "documents")
    drawn = group_labels(groups, n_questions)
    price = balanced_lambda if price_counts else None
    shares = _shares(entrants, drawn, documents, price, resamples, seed)
    evidence = _evidence(entrants, shares, drawn)
    status = _status(evidence, n_cells)
    return Verdict(
        status=status,
        leader=evidence.leader,
        p_best=tuple(shares.by_question.tolist()),
        in_play=entrants.cells_of(~shares.out),
        ruled_out=entrants.cells_of(shares.out),
        questions_needed=evidence.needed,
        reasons=reasons_of(status, evidence),
        at_bar=evidence.at_bar,
        p_best_shrunk=tuple(shares.shrunk.tolist()),
        p_best_by_document=_listed(shares.by_document),
        p_best_balanced=_listed(shares.on_balance),
        leader_share=evidence.share,
        leader_recall_shrunk=shares.leader_recall,
        **_cheapest(entrants, entrants.cells_of(~shares.out), drawn, seed),
        speaks_of=evidence.speaks_of,
    )


@dataclass(frozen=True, slots=True)
class _Shares:
    """Shares of cells, shape (cells,); None where a share does not apply. `out` has one value an entrant."""

    by_question: NDArray[np.float64]
    shrunk: NDArray[np.float64]
    by_document: NDArray[np.float64] | None
    on_balance: NDArray[np.float64] | None
    out: NDArray[np.bool_]
    tail_bar: float
    leader_recall: float


def _shares(
    entrants: Entrants,
    drawn: Sequence[str],
    documents: Sequence[str] | None,
    price: float | None,
    resamples: int,
    seed: int,
) -> _Shares:
    by_question = win_shares(entrants.cells.by_label(drawn), resamples, seed)
    grouped = entrants.values_of(entrants.cells.by_label(drawn))
    tails = tails_against_leader(grouped, seed)
    out = ruled_out(entrants.shares_of(by_question), tails)
    belief = discounted(grouped.values / grouped.unit, sizes_of(drawn), tails, resamples, seed)
    return _Shares(
        by_question=by_question,
        shrunk=entrants.cell_shares(belief.shares),
        by_document=_by_document(entrants, documents, resamples, seed),
        on_balance=_on_balance(entrants, drawn, entrants.cells_of(~out), price, resamples, seed),
        out=out,
        tail_bar=tail_bar(tails),
        leader_recall=belief.leader_recall,
    )


def _evidence(entrants: Entrants, shares: _Shares, drawn: Sequence[str]) -> Evidence:
    def of_leader(by_cell: NDArray[np.float64] | None) -> float | None:
        return None if by_cell is None else min(1.0, float(entrants.shares_of(by_cell)[0]))

    n_drawn, share = len(set(drawn)), of_leader(shares.by_question) or 0.0
    shrunk = of_leader(shares.shrunk) or 0.0
    is_open = len(entrants.members) > 1 and (min(share, shrunk) < BAR or n_drawn < FEW_QUESTIONS)
    return Evidence(
        entrants=entrants,
        n_questions=n_drawn,
        share=share,
        shrunk=shrunk,
        by_document=of_leader(shares.by_document),
        on_balance=of_leader(shares.on_balance),
        on_balance_best=None if shares.on_balance is None else int(shares.on_balance.argmax()),
        leader_recall=shares.leader_recall,
        out=shares.out,
        tail_bar=shares.tail_bar,
        needed=_needed(entrants, drawn) if is_open else None,
    )


def _status(evidence: Evidence, n_cells: int) -> Status:
    if n_cells == 1:
        return "only"
    if len(evidence.entrants.members) == 1:
        return "tied"
    if evidence.share < BAR:
        return "undecided"
    is_sure = evidence.n_questions >= FEW_QUESTIONS and all(share >= BAR for share in evidence.shares)
    return "winner" if is_sure else "leans"


def _listed(shares: NDArray[np.float64] | None) -> tuple[float, ...] | None:
    return None if shares is None else tuple(shares.tolist())


def _cheapest(entrants: Entrants, in_play: Sequence[int], drawn: Sequence[str], seed: int) -> dict[str, Any]:
    """The fields of the verdict about the cheapest cell in play."""
    if entrants.tokens is None:
        return {}
    cell = cheapest(in_play, entrants.tokens, entrants.cells.values)
    less = (entrants.cells.values[[cell]] - entrants.cells.values[[in_play[0]]]) / entrants.cells.unit
    return {
        "cheapest_in_play": cell,
        "cheapest_difference": float(less.mean()),
        "cheapest_ci95": difference_ci95(sum_by_label(less, drawn)[0], sizes_of(drawn), seed),
    }


def _by_document(
    entrants: Entrants, documents: Sequence[str] | None, resamples: int, seed: int
) -> NDArray[np.float64] | None:
    if documents is None or len(set(documents)) < FEW_DOCUMENTS:
        return None
    return win_shares(entrants.cells.by_label(documents), resamples, seed)


def _on_balance(
    entrants: Entrants, drawn: Sequence[str], in_play: Sequence[int], price: float | None, resamples: int, seed: int
) -> NDArray[np.float64] | None:
    if entrants.tokens is None or price is None or len(entrants.members) == 1:
        return None
    cells, tokens = entrants.cells.by_label(drawn), sum_by_label(entrants.tokens, drawn)
    return balanced_shares(cells, tokens, sizes_of(drawn), in_play, price, resamples, seed)


def _needed(entrants: Entrants, drawn: Sequence[str]) -> int | None:
    """Questions that would separate the leader from the runner-up; questions drawn together count as one."""
    grouped = entrants.values_of(entrants.cells.by_label(drawn)).values
    questions_a_draw = len(drawn) / grouped.shape[1]
    return questions_needed(
        (grouped[0] - grouped[1]) / (entrants.cells.unit * questions_a_draw), at_least=FEW_QUESTIONS
    )
