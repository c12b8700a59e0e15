"""Loss: the stage in which a cell lost the gold that it did not find.

Why: a recall of 0.7 does not show what to change. No better model finds gold that the chunker cut, but a larger k finds
gold at rank 7. So every missing slot is assigned to the first stage that lost it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from chunklab_core.records.scores import Loss, LossPart, LostSlots

LOSS_PARTS: tuple[LossPart, ...] = get_args(LossPart)
"""In the order in which they are checked; the slot is assigned to the first that applies."""


@dataclass(frozen=True, slots=True)
class SlotFacts:
    """The facts about one slot of a question in one cell.

    Attributes:
        found: any of the top-k chunks contains it.
        in_document: a parsed document in which the question's gold counts contains it.
        holders: rows of the strategy's chunks that contain it.
        read: those of them that contain it whole within the model's window; None without a model.
    """

    found: bool
    in_document: bool
    holders: Set[int]
    read: Set[int] | None = None


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """The facts about one question in one cell.

    Attributes:
        slots: at least one.
        legs: the candidates of each retriever as rows, best first; plain ints, because lookups are faster than with
            numpy's. A cell of one retriever has one leg.
        before_rerank: the top-k rows before the reranker; None without one.
        windowed: the legs whose model reads a chunk up to its window and no further.
    """

    question_id: str
    slots: tuple[SlotFacts, ...]
    legs: Mapping[str, Sequence[int]]
    before_rerank: Sequence[int] | None = None
    windowed: Set[str] = frozenset()


def cell_loss(questions: Sequence[QuestionFacts], k: int) -> Loss:
    """The stages in which a cell lost the gold that is missing from its top k, and the questions that miss it.

    A slot weighs 1 / (slots of its question), and a question 1 / (scored questions), as in the recall. So the shares
    and the recall add up to 1.

    Raises:
        ValueError: there is no question, or a question without a slot; their recall is undefined.
    """
    if not questions or not all(question.slots for question in questions):
        raise ValueError("cell_loss: no question, or one without a slot; drop unscored questions before.")
    lost = [
        LostSlots(question.question_id, tuple(_part(question, slot, k) for slot in question.slots))
        for question in questions
    ]
    shares = exact_shares(each.parts for each in lost)
    return Loss(
        shares=tuple((part, float(share)) for part, share in shares.items()),
        questions=tuple(each for each in lost if any(each.parts)),
    )


def exact_shares(lost: Iterable[Sequence[LossPart | None]]) -> dict[LossPart, Fraction]:
    """The exact share of the recall of all questions that each part lost; `lost` has one row of slots a question."""
    rows = list(lost)
    counts = Counter((part, len(row)) for row in rows for part in row)
    shares = dict.fromkeys(LOSS_PARTS, Fraction(0))
    for (part, n_slots), count in counts.items():
        if part is not None:
            shares[part] += Fraction(count, n_slots * len(rows))
    return shares


def _part(question: QuestionFacts, slot: SlotFacts, k: int) -> LossPart | None:
    """The stage that lost one slot; None if it was found."""
    if slot.found:
        return None
    if not slot.in_document:
        return "parse"
    if not slot.holders:
        return "cut"
    tops = {leg for leg, rows in question.legs.items() if not slot.holders.isdisjoint(rows[:k])}
    if slot.read is not None and not slot.read and not tops - question.windowed:
        return "truncated"
    if all(slot.holders.isdisjoint(rows) for rows in question.legs.values()):
        return "candidates"
    if question.before_rerank is not None and not slot.holders.isdisjoint(question.before_rerank[:k]):
        return "rerank"
    return "fusion" if tops else "below_k"
