"""The places of gold and chunks, in tokens of the documents.

Why: a reader pays for tokens, and converting places of a text into tokens needs the text. The text is read once a
strategy, with the chunks; every cell and every k looks the places up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document
from chunklab_core.records.questions import Gold
from chunklab_core.score.places import Slot, SlotPlace
from chunklab_core.score.token_level import GoldSlot, Stretch, token_positions
from chunklab_core.tokens import tokenize


@dataclass(frozen=True)
class InTokens:
    """Places of a strategy's chunks and of all gold.

    Attributes:
        chunks: shape (chunks, 3), float64: index of the document, start and end of the body.
        gold: shape (places, 6), float64, sorted: question, slot, wording, index of the document, start, end.
        weights: shape (slots, 3), int64: question, slot, tokens of the slot's first wording as typed.
    """

    chunks: NDArray[np.float64]
    gold: NDArray[np.float64]
    weights: NDArray[np.int64]

    def spans(self, rows: Sequence[int]) -> list[Stretch]:
        """The bodies of some chunks, given by their rows."""
        return [Stretch(int(document), start, end) for document, start, end in self.chunks[list(rows)].tolist()]

    def slots(self, question: int) -> list[GoldSlot]:
        """The places of a question's slots, slot by slot."""
        return self._slots[question]

    @cached_property
    def _slots(self) -> Mapping[int, list[GoldSlot]]:
        places: dict[Slot, list[Stretch]] = {}
        for question, slot, _, document, start, end in self.gold.tolist():
            places.setdefault((int(question), int(slot)), []).append(Stretch(int(document), start, end))
        slots: dict[int, list[GoldSlot]] = {}
        for question, slot, n_tokens in self.weights.tolist():
            slots.setdefault(question, []).append(GoldSlot(places.get((question, slot), ()), n_tokens))
        return slots


@dataclass(frozen=True, slots=True)
class DocumentInTokens:
    """One document's part of `InTokens`."""

    chunks: NDArray[np.float64]
    gold: NDArray[np.float64]


def document_in_tokens(
    index: int, document: Document, chunks: Sequence[Chunk], places: Mapping[Slot, Sequence[SlotPlace]]
) -> DocumentInTokens:
    """One document's part; `index` is its position in the corpus, `places` the result of `slot_places` for it alone."""
    spans = np.array([(chunk.span.start, chunk.span.end) for chunk in chunks], dtype=np.int64).reshape(-1, 2)
    known = [
        (*slot, place.wording, place.start, place.end)
        for slot, of_slot in places.items()
        for place in of_slot
        if place.end > place.start
    ]
    gold = np.array(known, dtype=np.int64).reshape(-1, 5)
    if not len(spans) and not len(gold):
        return DocumentInTokens(np.zeros((0, 3)), np.zeros((0, 6)))
    offsets = tokenize(document.text).offsets
    return DocumentInTokens(
        np.column_stack((np.full(len(spans), index), token_positions(offsets, spans))),
        np.column_stack((gold[:, :3], np.full(len(gold), index), token_positions(offsets, gold[:, 3:]))),
    )


def in_tokens(
    parts: Iterable[DocumentInTokens], questions: Sequence[Gold], count_tokens: Callable[[str], int]
) -> InTokens:
    """The parts of all documents, in their order, with the weight of each slot of the questions."""
    made = list(parts)
    gold = np.concatenate([np.zeros((0, 6)), *(part.gold for part in made)])
    weights = [
        (at, slot, count_tokens(wordings[0]))
        for at, question in enumerate(questions)
        for slot, wordings in enumerate(question.slots)
    ]
    return InTokens(
        np.concatenate([np.zeros((0, 3)), *(part.chunks for part in made)]),
        gold[np.lexsort(gold.T[::-1])],
        np.array(weights, dtype=np.int64).reshape(-1, 3),
    )
