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

from chunklab_core.records import Loss, LossPart, LostSlots

LOSS_PARTS: tuple[LossPart, ...] = get_args(LossPart)
"""In the order in which they are asked; the first that holds gets the slot."""

READS_A_WINDOW = "dense"
"""The leg whose model reads a chunk up to its window and no further."""


@dataclass(frozen=True, slots=True)
class SlotTrail:
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
class QuestionTrail:
    """What is known of one question under one cell.

    Attributes:
        slots: at least one.
        legs: by retriever, the rows it ranked, best first and as deep as candidates are taken; plain ints, which
            are looked up faster than numpy's. A cell of one retriever has one leg.
        before_rerank: the top-k rows as they went to the reranker; None without one.
    """

    question_id: str
    slots: tuple[SlotTrail, ...]
    legs: Mapping[str, Sequence[int]]
    before_rerank: Sequence[int] | None = None


def cell_loss(trails: Sequence[QuestionTrail], k: int) -> Loss:
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


def next_step(part: LossPart, *, k: int, candidates: int, model: str = "", max_length: int | None = None) -> str:
    """What to do about gold that was lost in this part, in one sentence for the reader of a report.

    Args:
        part: where it was lost.
        k: the number of chunks a reader gets.
        candidates: how deep each leg's candidates go.
        model: the embedding model's name, and `max_length` the tokens that it reads, where one is used.
    """
    return {
        "parse": "This gold stands in no parsed text: see whether its document was read, and copy the wording from the "
        "parsed text.",
        "cut": "The chunker cuts this gold apart: raise the overlap or the size of the chunks, or use a chunker that "
        "follows the structure of the documents.",
        "truncated": f"This gold stands past the {max_length or 'last'} tokens that {model or 'the model'} reads of a "
        "chunk: make chunks shorter than that in the model's own tokens, use a model with a longer window, or add the "
        "keyword search (hybrid), which reads chunks whole.",
        "candidates": f"No search lists a chunk with this gold among its first {candidates}: try hybrid, another "
        "embedding model, or more retrieval.candidates.",
        "rerank": f"The reranker moved this gold out of the top {k}: compare with retrieval.rerank: none, or try "
        "another reranker.",
        "fusion": f"One search alone has this gold in its top {k} and the fusion moves it out: compare the "
        "searches by themselves, or lower retrieval.rrf_k, which gives their first ranks more weight.",
        "below_k": f"This gold stands among the candidates, below rank {k}: raise retrieval.top_k, or rerank the "
        "candidates.",
    }[part]


def _part(trail: QuestionTrail, slot: SlotTrail, k: int) -> LossPart | None:
    """Where one slot was lost; None where it was not."""
    if slot.found:
        return None
    if not slot.in_document:
        return "parse"
    if not slot.holders:
        return "cut"
    tops = {leg for leg, rows in trail.legs.items() if not slot.holders.isdisjoint(rows[:k])}
    if slot.read is not None and not slot.read and not tops - {READS_A_WINDOW}:
        return "truncated"
    if all(slot.holders.isdisjoint(rows) for rows in trail.legs.values()):
        return "candidates"
    if trail.before_rerank is not None and not slot.holders.isdisjoint(trail.before_rerank[:k]):
        return "rerank"
    return "fusion" if tops else "below_k"
