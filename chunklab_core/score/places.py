"""The places of the gold: in which documents, and in which chunks of a strategy.

Why: recall shows that an answer was missed, not where it was lost. If no document holds it, the parser lost it; if no
chunk holds it, the chunker did; else the search did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunklab_core.score.gold import GoldFinds, Match, Place
from chunklab_core.score.locate import Located
from chunklab_core.score.match import ChunkMatch
from chunklab_core.score.wordings import Wordings

Slot = tuple[int, int]
"""A slot of the gold: the positions of its question and of the slot in it."""


@dataclass(frozen=True, slots=True)
class SlotPlace:
    """One wording of a slot in one document: `[start, end)` in its characters, and the edits between the two.

    `document` is its index in the corpus, `wording` the position in the slot.
    """

    wording: int
    document: int
    start: int
    end: int
    edits: int


def slot_places(located: Iterable[tuple[int, str, Located]], wordings: Wordings) -> dict[Slot, tuple[SlotPlace, ...]]:
    """Every place in which gold counts, by slot, in the order of documents; slots without a place are absent.

    Args:
        located: the index and id of each document, and what `chunklab_core.score.locate.locate` found there.
        wordings: the located wordings.
    """
    found: dict[Slot, list[SlotPlace]] = {}
    for document, doc_id, places in located:
        for occurrence in places.occurrences:
            for use in wordings.uses[occurrence.wording]:
                if not use.documents or doc_id in use.documents:
                    place = SlotPlace(use.wording, document, occurrence.start, occurrence.end, occurrence.edits)
                    found.setdefault((use.question, use.slot), []).append(place)
    return {slot: tuple(found[slot]) for slot in sorted(found)}


@dataclass(frozen=True)
class GoldChunks:
    """Which chunks of one strategy hold which gold.

    Attributes:
        table: shape (finds, 7), int64, sorted: question, chunk (its row among the strategy's chunks), slot, wording,
            and of the match edits, start and end in the chunk's text.
        words: the words that differ (expected, found), for finds with edits, by their row in `table`.
    """

    table: NDArray[np.int64]
    words: Mapping[int, tuple[str, str]]

    def n_chunks(self, question: int) -> int:
        """How many chunks hold any slot of a question."""
        first, last = np.searchsorted(self.table[:, 0], [question, question + 1])
        return len(np.unique(self.table[first:last, 1]))

    def finds(self, question: int, n_slots: int, chunks: Sequence[int]) -> GoldFinds:
        """The gold of one question in some chunks, given by their rows; chunk r of the result is `chunks[r]`."""
        places = tuple(place for row, chunk in enumerate(chunks) for place in self._places(question, chunk, row))
        found = np.zeros((len(chunks), n_slots), dtype=np.bool_)
        found[[place.row for place in places], [place.slot for place in places]] = True
        return GoldFinds(found, places)

    def _places(self, question: int, chunk: int, row: int) -> Iterator[Place]:
        for at in self._rows.get((question, chunk), ()):
            slot, wording, edits, start, end = self.table[at, 2:].tolist()
            yield Place(row, slot, wording, Match(edits, start, end, *self.words.get(at, ("", ""))))

    @cached_property
    def _rows(self) -> Mapping[tuple[int, int], list[int]]:
        rows: dict[tuple[int, int], list[int]] = {}
        for at, (question, chunk) in enumerate(self.table[:, :2].tolist()):
            rows.setdefault((question, chunk), []).append(at)
        return rows


def gold_chunks(matches: Iterable[tuple[str, int, Sequence[ChunkMatch]]], wordings: Wordings) -> GoldChunks:
    """The gold in all chunks of a strategy, by question; gold counts only in the documents that its question names.

    Args:
        matches: the id of each document, the row of its first chunk and the result of
            `chunklab_core.score.match.match_chunks`.
        wordings: the matched wordings.
    """
    rows = []
    for doc_id, first, finds in matches:
        for find in finds:
            match = find.match
            for use in wordings.uses[find.wording]:
                if not use.documents or doc_id in use.documents:
                    key = (use.question, first + find.chunk, use.slot, use.wording)
                    rows.append((*key, match.edits, match.start, match.end, match.expected, match.found))
    rows.sort()
    table = np.array([row[:7] for row in rows], dtype=np.int64).reshape(-1, 7)
    return GoldChunks(table, {at: row[7:] for at, row in enumerate(rows) if row[4]})
