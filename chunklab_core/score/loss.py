"""Loss: in which stage the gold that a cell did not bring was lost.

Why: a recall of 0.7 does not say what to change. A gold that the chunker cut comes back with no better model, and one
that stands at rank 7 comes back with a larger k. So every missing slot is given to the first stage that had to lose it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from chunklab_core.records.scores import Loss, LossPart, LostSlots

LOSS_PARTS: tuple[LossPart, ...] = get_args(LossPart)
"""In the order in which they are asked; the first that holds gets the slot."""


@dataclass(frozen=True, slots=True)
class SlotFacts:
    """What is known of one slot of a question under one cell.

    Attributes:
        found: any of the top-k chunks contains it.
        in_document: it stands in a parsed document in which the question's gold counts.
        holders: rows of the strategy's chunks that contain it.
        read: those of them in which the model reads it whole; None where no model reads.
    """

    found: bool
    in_document: bool
    holders: Set[int]
    read: Set[int] | None = None


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """What is known of one question under one cell.

    Attributes:
        slots: at least one.
        legs: by retriever, the rows it ranked, best first and as deep as candidates are taken; plain ints, which
            are looked up faster than numpy's. A cell of one retriever has one leg.
        before_rerank: the top-k rows as they went to the reranker; None without one.
        windowed: the legs whose model reads a chunk up to its window and no further.
    """

    question_id: str
    slots: tuple[SlotFacts, ...]
    legs: Mapping[str, Sequence[int]]
    before_rerank: Sequence[int] | None = None
    windowed: Set[str] = frozenset()


def cell_loss(trails: Sequence[QuestionFacts], k: int) -> Loss:
    """Where a cell lost the gold that is missing from its top k, and which questions miss it.

    A slot weighs 1 / (slots of its question), and a question 1 / (scored questions): just as in the recall. So the
    shares and the recall add up to 1.

    Raises:
        ValueError: there is no question, or one without a slot; of those no recall is defined.
    """
    if not trails or not all(trail.slots for trail in trails):
        raise ValueError("cell_loss: no question, or one without a slot; drop unscored questions before.")
    lost = [LostSlots(trail.question_id, tuple(_part(trail, slot, k) for slot in trail.slots)) for trail in trails]
    shares = exact_shares(one.parts for one in lost)
    return Loss(
        shares=tuple((part, float(share)) for part, share in shares.items()),
        questions=tuple(one for one in lost if any(one.parts)),
    )


def exact_shares(lost: Iterable[Sequence[LossPart | None]]) -> dict[LossPart, Fraction]:
    """Every part with its share of the recall of all questions, one row of slots each; none is rounded."""
    rows = list(lost)
    counts = Counter((part, len(row)) for row in rows for part in row)
    shares = dict.fromkeys(LOSS_PARTS, Fraction(0))
    for (part, n_slots), count in counts.items():
        if part is not None:
            shares[part] += Fraction(count, n_slots * len(rows))
    return shares


def _part(trail: QuestionFacts, slot: SlotFacts, k: int) -> LossPart | None:
    """Where one slot was lost; None where it was not."""
    if slot.found:
        return None
    if not slot.in_document:
        return "parse"
    if not slot.holders:
        return "cut"
    tops = {leg for leg, rows in trail.legs.items() if not slot.holders.isdisjoint(rows[:k])}
    if slot.read is not None and not slot.read and not tops - trail.windowed:
        return "truncated"
    if all(slot.holders.isdisjoint(rows) for rows in trail.legs.values()):
        return "candidates"
    if trail.before_rerank is not None and not slot.holders.isdisjoint(trail.before_rerank[:k]):
        return "rerank"
    return "fusion" if tops else "below_k"
