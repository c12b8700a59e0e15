"""What is known of each slot under one cell, put together for the loss.

Why: the loss asks of a slot where it stands, which chunks hold it, what the model reads of them and what each search
listed. All of that was found before; here it is brought to one place, question by question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.scores import QuestionScore
from chunklab_core.score.in_tokens import InTokens
from chunklab_core.score.loss import QuestionFacts, SlotFacts
from chunklab_core.score.places import GoldChunks, Slot

RowsBySlot = Mapping[Slot, Set[int]]
"""By slot, rows of a strategy's chunks; a slot without any is absent."""


def rows_by_slot(holders: GoldChunks) -> RowsBySlot:
    """The chunks that hold each slot."""
    return _rows_by_slot(holders.table)


def read_by_slot(holders: GoldChunks, window_ends: NDArray[np.int32]) -> RowsBySlot:
    """The chunks that hold a slot where the model reads it: a find of any of its wordings ends within the window.

    Args:
        holders: the finds, at their places in the chunks' texts.
        window_ends: shape (chunks,): the character of the chunk's text up to which the model reads it.
    """
    chunk, end = holders.table[:, 1], holders.table[:, 6]
    return _rows_by_slot(holders.table[end <= window_ends[chunk]])


def cell_facts(
    scores: Sequence[QuestionScore],
    gold: InTokens,
    held: RowsBySlot,
    read: RowsBySlot | None,
    legs: Mapping[str, Sequence[Sequence[int]]],
    windowed: Set[str],
) -> list[QuestionFacts]:
    """The trails of all questions of a cell.

    Args:
        scores: their figures at the k that is looked at.
        gold: where their slots stand in the documents.
        held: all chunks that hold gold.
        read: those in which the model reads it; None where no model reads.
        legs: by retriever and question, the rows that it ranked as candidates.
        windowed: the legs whose model reads a chunk up to its window and no further.
    """
    return [
        QuestionFacts(
            score.question_id,
            tuple(_slot_facts(found, (at, slot), gold, held, read) for slot, found in enumerate(score.found)),
            {name: ranked[at] for name, ranked in legs.items()},
            windowed=windowed,
        )
        for at, score in enumerate(scores)
    ]


def _slot_facts(found: bool, slot: Slot, gold: InTokens, held: RowsBySlot, read: RowsBySlot | None) -> SlotFacts:
    holders = held.get(slot, frozenset())
    return SlotFacts(
        found=found,
        in_document=bool(gold.slots(slot[0])[slot[1]].places or holders),  # across prefix and body: in a chunk alone
        holders=holders,
        read=None if read is None else read.get(slot, frozenset()),
    )


def _rows_by_slot(table: NDArray[np.int64]) -> RowsBySlot:
    rows: dict[Slot, set[int]] = {}
    for question, chunk, slot in table[:, :3].tolist():
        rows.setdefault((question, slot), set()).add(chunk)
    return rows
