"""The ceiling: the figures under perfect retrieval, limited by the chunker alone.

Why: a chunker that cuts an answer in two hides it from every retriever, and a chunker that gives each answer a whole
page wastes the reader's tokens even if the search is perfect. Both are decided before the first search, and no better
model can change them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf

import numpy as np

from chunklab_core.records.scores import Ceiling
from chunklab_core.score.token_level import GoldSlot, Stretch, token_level

_EXACT_SLOTS = 12  # 4,096 sets of slots; few questions have more gold than that

Holders = Sequence[Collection[int]]
"""The rows of the strategy's chunks that hold any wording of a slot, one entry a slot."""


def question_ceiling(slots: Sequence[GoldSlot], holders: Holders, spans: Mapping[int, Stretch], k: int) -> Ceiling:
    """One question's ceilings at one k, whatever is retrieved.

    Args:
        slots: the places of the gold, at least one slot.
        holders: the holders of the same slots.
        spans: the span of each row that holds gold.
        k: the number of chunks a reader gets, at least 1.
    """
    return Ceiling(
        recall=recall_ceiling(holders, k),
        precision=precision_ceiling(holders, k),
        token_precision=token_precision_ceiling(slots, holders, spans),
    )


def mean_ceiling(ceilings: Sequence[Ceiling]) -> Ceiling:
    """The ceilings of a strategy: plain means over its scored questions.

    Raises:
        ValueError: there is no scored question, so no mean is defined.
    """
    if not ceilings:
        raise ValueError("mean_ceiling: no scored question; a mean over none is undefined.")
    rows = np.array([(each.recall, each.precision, each.token_precision) for each in ceilings])
    return Ceiling(*rows.mean(axis=0).tolist())


def recall_ceiling(holders: Holders, k: int) -> float:
    """The highest recall at k that any ranking of the strategy's chunks can have.

    Exact up to 12 held slots, and with more wherever a greedy choice of chunks reaches its own bound. Else it is that
    bound, which is never below the exact value and at most 1 / (1 - 1/e) = 1.58 times it.

    Raises:
        ValueError: the question has no slot, or k is below 1.
    """
    if not holders or k < 1:
        raise ValueError(f"recall_ceiling: {len(holders)} slots at k {k}; expected one of each or more.")
    return _most_slots(_held_by_row(holders).values(), k) / len(holders)


def precision_ceiling(holders: Holders, k: int) -> float:
    """The highest precision at k: the number of chunks with gold, at most k, over k.

    Overlap raises it, because gold in two chunks fills two places.
    """
    return min(len(set().union(*holders)), k) / k


def token_precision_ceiling(slots: Sequence[GoldSlot], holders: Holders, spans: Mapping[int, Stretch]) -> float:
    """Token precision if exactly the cheapest chunks that hold all gold that any chunk holds are retrieved.

    Cheapest is fewest tokens, exactly so up to 12 held slots; beyond, chunks are taken by tokens for each further slot,
    which costs at most 1 + 1/2 + ... + 1/slots times the least (Chvatal, A greedy heuristic for the set-covering
    problem, 1979). Gold that no chunk holds whole does not count here, but in the recall ceiling.

    Returns:
        A fraction in [0, 1]; 0.0 where no chunk holds any slot.

    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval (2024), section Metrics, "precision
    omega". Theirs retrieves every chunk that touches gold; with slots, one chunk that holds it is enough.
    """
    tokens = {row: spans[row].end - spans[row].start for rows in holders for row in rows}
    return token_level(slots, [spans[row] for row in cheapest_holders(holders, tokens)]).precision


def cheapest_holders(holders: Holders, tokens: Mapping[int, float]) -> tuple[int, ...]:
    """Rows that hold, together, every slot that any row holds, at the fewest tokens; fewest rows among equals."""
    choices = _cheapest_of_each(_held_by_row(holders), tokens)
    reachable = _union(choices)
    if reachable.bit_count() > _EXACT_SLOTS:
        return _greedy_cover(choices, reachable)
    paths: dict[int, tuple[float, int, tuple[int, ...]]] = {0: (0.0, 0, ())}
    for state in _subsets(reachable):
        if state == reachable or state not in paths:
            continue
        missing = reachable & ~state
        lowest = missing & -missing  # some row must hold it, so only these rows are tried now
        cost, n_rows, rows = paths[state]
        for mask, (price, row) in choices.items():
            if mask & lowest:
                path = (cost + price, n_rows + 1, (*rows, row))
                paths[state | mask] = min(paths.get(state | mask, (inf, 0, ())), path)
    return tuple(sorted(paths[reachable][2]))


def _held_by_row(holders: Holders) -> dict[int, int]:
    """The slots that each row holds, as bits."""
    masks: dict[int, int] = {}
    for slot, rows in enumerate(holders):
        for row in rows:
            masks[row] = masks.get(row, 0) | 1 << slot
    return masks


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _subsets(reachable: int) -> Iterable[int]:
    """All subsets of the bits of `reachable`, each after those that it contains."""
    subset = 0
    while True:
        yield subset
        if subset == reachable:
            return
        subset = (subset - reachable) & reachable


def _most_slots(masks: Iterable[int], k: int) -> int:
    """How many slots k rows can hold between them, or an upper bound: see `recall_ceiling`."""
    distinct = set(masks)
    reachable = _union(distinct)
    if reachable.bit_count() <= k:
        return reachable.bit_count()  # a row for each
    best = {mask for mask in distinct if not any(mask != other and mask & other == mask for other in distinct)}
    low, high = _greedy_bounds(best, reachable, k)
    if low == high or reachable.bit_count() > _EXACT_SLOTS:
        return high
    reached = {0}
    for _ in range(k):
        reached = {state | mask for state in reached for mask in best}
    return max(state.bit_count() for state in reached)


def _greedy_bounds(masks: Collection[int], reachable: int, k: int) -> tuple[int, int]:
    """Slots that a greedy choice of k rows holds, and a number that no choice exceeds.

    Whatever is chosen already, k rows add no more than the k largest additions.

    Source: Nemhauser, Wolsey and Fisher, An analysis of approximations for maximizing submodular set functions (1978),
    section 4: the greedy choice has at least 1 - 1/e of the best.
    """
    state, high = 0, reachable.bit_count()
    for _ in range(k):
        gains = sorted(((mask & ~state).bit_count() for mask in masks), reverse=True)
        high = min(high, state.bit_count() + sum(gains[:k]))
        state |= max(masks, key=lambda mask: ((mask & ~state).bit_count(), -mask))
    return state.bit_count(), high


def _cheapest_of_each(masks: Mapping[int, int], tokens: Mapping[int, float]) -> dict[int, tuple[float, int]]:
    """The cheapest row that holds exactly each set of slots, with its price."""
    cheapest: dict[int, tuple[float, int]] = {}
    for row, mask in masks.items():
        cheapest[mask] = min(cheapest.get(mask, (inf, row)), (tokens[row], row))
    return cheapest


def _greedy_cover(choices: Mapping[int, tuple[float, int]], reachable: int) -> tuple[int, ...]:
    state, rows = 0, []
    while state != reachable:
        useful = [(mask, choices[mask]) for mask in choices if mask & ~state]
        mask, (_, row) = min(useful, key=lambda choice: (choice[1][0] / (choice[0] & ~state).bit_count(), choice[1][1]))
        state |= mask
        rows.append(row)
    return tuple(sorted(rows))
