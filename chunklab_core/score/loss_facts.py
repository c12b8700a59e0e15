"""The facts about each slot in one cell, gathered for the loss.

Why: the loss needs the places of a slot, the chunks that hold it, the part of them that the model reads and the ranking
of each search. Earlier stages found all of these; this module gathers them question by question.
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
"""Rows of a strategy's chunks, by slot; a slot without any is absent."""


def rows_by_slot(gold_chunks: GoldChunks) -> RowsBySlot:
    """The chunks that hold each slot."""
    return _rows_by_slot(gold_chunks.table)


def read_by_slot(gold_chunks: GoldChunks, window_ends: NDArray[np.int32]) -> RowsBySlot:
    """The chunks that hold a slot within the model's window: a find of any of its wordings ends inside it.

    Args:
        gold_chunks: the finds in the chunks' texts.
        window_ends: shape (chunks,): the character of each chunk's text at which the model's window ends.
    """
    chunk, end = gold_chunks.table[:, 1], gold_chunks.table[:, 6]
    return _rows_by_slot(gold_chunks.table[end <= window_ends[chunk]])


def cell_facts(
    scores: Sequence[QuestionScore],
    gold: InTokens,
    holding: RowsBySlot,
    read: RowsBySlot | None,
    legs: Mapping[str, Sequence[Sequence[int]]],
    windowed: Set[str],
) -> list[QuestionFacts]:
    """The facts about all questions of a cell.

    Args:
        scores: their figures at one k.
        gold: the places of their slots in the documents.
        holding: all chunks that hold gold.
        read: those that hold it within the model's window; None without a model.
        legs: the rows that each retriever ranked as candidates, by retriever and question.
        windowed: the legs whose model reads a chunk up to its window and no further.
    """
    return [
        QuestionFacts(
            score.question_id,
            tuple(_slot_facts(found, (at, slot), gold, holding, read) for slot, found in enumerate(score.found)),
            {name: ranked[at] for name, ranked in legs.items()},
            windowed=windowed,
        )
        for at, score in enumerate(scores)
    ]


def _slot_facts(found: bool, slot: Slot, gold: InTokens, holding: RowsBySlot, read: RowsBySlot | None) -> SlotFacts:
    places, holders = gold.slots(slot[0])[slot[1]].places, holding.get(slot, frozenset())
    return SlotFacts(
        found=found,
        in_document=bool(places or holders),  # gold across prefix and body is only in the chunk
        holders=holders,
        read=None if read is None else read.get(slot, frozenset()),
    )


def _rows_by_slot(table: NDArray[np.int64]) -> RowsBySlot:
    rows: dict[Slot, set[int]] = {}
    for question, chunk, slot in table[:, :3].tolist():
        rows.setdefault((question, slot), set()).add(chunk)
    return rows
