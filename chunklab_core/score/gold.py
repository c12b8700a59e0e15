"""Whether a chunk holds an answer: the one decision behind every metric.

Why: gold is text and never a chunk's id, so it survives any new way of chunking. Containment is decided once, into
`found[k, slots]`; each metric is a small function of that array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.questions import Gold
from chunklab_core.score.align import Units, best_place, candidate_windows, may_align, units_of
from chunklab_core.score.ngrams import block_hashes, may_hold
from chunklab_core.score.normalize import Passage, normalize_passage
from chunklab_core.text import figure_spans, inside

_HYPHENS = ("-", "\u2010", "\u00ad")
_ROUNDING = 1e-9  # a tenth of 70 characters is 7 edits, though 1 - 0.90 is less than 0.1 in binary


@dataclass(frozen=True, slots=True)
class Snippet:
    """One wording of an answer, prepared once for any number of passages.

    Attributes:
        typed: the wording as its author wrote it.
        text: the wording as it is compared.
        figures: ranges of its figures in `text`.
        blocks: `block_hashes` of `text`.
    """

    typed: str
    text: str
    figures: tuple[tuple[int, int], ...]
    blocks: NDArray[np.int64]  # (blocks,)


@dataclass(frozen=True, slots=True)
class Match:
    """The place `[start, end)` of a snippet in a passage as given, and the words that differ.

    `edits` is 0 for an exact copy; `expected` and `found` hold the words that differ, of snippet and passage.
    """

    edits: int
    start: int
    end: int
    expected: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """One wording found in one chunk: `row` is the chunk's position (from 0), `wording` the position in its slot."""

    row: int
    slot: int
    wording: int
    match: Match


@dataclass(frozen=True, slots=True)
class GoldFinds:
    """The gold of one question in some chunks.

    Attributes:
        found: shape (chunks, slots); `found[r, s]` is True when chunk r holds a wording of slot s.
        places: every wording found in every chunk, in the order of chunk, slot and wording.
    """

    found: NDArray[np.bool_]
    places: tuple[Place, ...]

    def take(self, rows: Sequence[int]) -> GoldFinds:
        """The finds of these rows, in this order, so that one decision serves several rankings of the same chunks."""
        by_row = {row: [place for place in self.places if place.row == row] for row in rows}
        places = (Place(new, p.slot, p.wording, p.match) for new, row in enumerate(rows) for p in by_row[row])
        return GoldFinds(self.found[np.array(rows, dtype=np.intp)], tuple(places))


def contains(snippet: str, passage: str, fuzzy_threshold: float = 0.90) -> bool:
    """Whether the passage holds the snippet: a copy, or one with few slips and the same figures.

    Found means that for some stretch of the passage `1 - edits / len(snippet) >= fuzzy_threshold`, both sides
    normalized; each figure is one piece that must be in its place, in exact copies too.

    Raises:
        ValueError: the snippet holds no text to search for, or the threshold is not a fraction.
    """
    return find(make_snippet(snippet), normalize_passage(passage), fuzzy_threshold) is not None


def make_snippet(typed: str) -> Snippet:
    """A wording prepared for `find`.

    Raises:
        ValueError: it holds only blanks, table borders and invisible characters.
    """
    whole = normalize_passage(typed)
    if not whole.text:
        raise ValueError(f"gold snippet {typed!r} holds no text to search for; write the passage.")
    return Snippet(typed, whole.text, tuple(whole.figures), block_hashes(whole.text))


def find(snippet: Snippet, passage: Passage, fuzzy_threshold: float = 0.90) -> Match | None:
    """The place of the passage that reads most like the snippet, or None where none is near enough.

    Raises:
        ValueError: the threshold is not from 0 to 1.
    """
    if not 0 <= fuzzy_threshold <= 1:
        raise ValueError(f"fuzzy_threshold is {fuzzy_threshold}; it must be a fraction from 0 to 1.")
    exact = _exact(snippet, passage)
    if exact:
        return exact
    max_edits = edits_allowed(snippet, fuzzy_threshold)
    if max_edits == 0 or not may_hold(snippet.blocks, passage.grams, max_edits) or not _in_order(snippet, passage):
        return None
    return _nearest(snippet, passage, max_edits)


def edits_allowed(snippet: Snippet, fuzzy_threshold: float) -> int:
    """The most edits between the snippet and a passage that still holds it."""
    return int((1 - fuzzy_threshold) * len(snippet.text) + _ROUNDING)


def find_gold(
    question: Gold, chunks: Sequence[Chunk], passages: Sequence[Passage], fuzzy_threshold: float = 0.90
) -> GoldFinds:
    """The question's gold in these chunks.

    Args:
        question: its `documents`, where given, are the only ones in which its gold counts.
        chunks: any chunks, for instance a ranking, best first.
        passages: the text of each chunk, from `normalize_chunk`.
        fuzzy_threshold: the share of a wording's characters that must be right.
    """
    slots = [[make_snippet(wording) for wording in slot] for slot in question.slots]
    found = np.zeros((len(chunks), len(slots)), dtype=np.bool_)
    places = []
    for row, (chunk, passage) in enumerate(zip(chunks, passages, strict=True)):
        if question.documents and chunk.doc_id not in question.documents:
            continue
        for slot, wordings in enumerate(slots):
            for wording, snippet in enumerate(wordings):
                match = find(snippet, passage, fuzzy_threshold)
                if match:
                    places.append(Place(row, slot, wording, match))
                    found[row, slot] = True
    return GoldFinds(found, tuple(places))


def _exact(snippet: Snippet, passage: Passage) -> Match | None:
    for start, end in copies(snippet, passage, 0, len(passage.text)):
        return Match(0, *passage.raw_span(start, end))
    return next((Match(0, start, end) for start, end in literal_copies(snippet, passage)), None)


def copies(snippet: Snippet, passage: Passage, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Exact copies of the snippet in `passage.text[first:last]` that cut no figure, as ranges of that text."""
    at = passage.text.find(snippet.text, first, last)
    while at >= 0:
        end = at + len(snippet.text)
        if not inside(passage.figures, at) and not inside(passage.figures, end):
            yield at, end
        at = passage.text.find(snippet.text, at + 1, last)


def literal_copies(snippet: Snippet, passage: Passage) -> Iterator[tuple[int, int]]:
    """Copies that begin or end at a hyphen, where the passage joins what the snippet cannot; ranges of `raw`."""
    if not has_outer_hyphen(snippet):
        return
    typed = snippet.typed.strip()
    at = passage.raw.find(typed)
    figures = sorted([*figure_spans(passage.raw), *passage.cuts]) if at >= 0 else []
    while at >= 0:
        end = at + len(typed)
        if not inside(figures, at) and not inside(figures, end):
            yield at, end
        at = passage.raw.find(typed, at + 1)


def has_outer_hyphen(snippet: Snippet) -> bool:
    """Whether the wording begins or ends at a hyphen; a passage may then hold a copy that its normalized text lacks."""
    typed = snippet.typed.strip()
    return typed.startswith(_HYPHENS) or typed.endswith(_HYPHENS)


def _in_order(snippet: Snippet, passage: Passage) -> bool:
    """Whether the passage has all figures of the snippet in their order; without them no alignment can exist."""
    figures = (passage.text[start:end] for start, end in passage.figures)
    return all(
        snippet.text[start:end] in figures for start, end in snippet.figures
    )  # `in` uses up the generator as far as it reads


def _nearest(snippet: Snippet, passage: Passage, max_edits: int) -> Match | None:
    best = nearest(snippet, passage, max_edits, candidate_windows(snippet.text, passage.text, max_edits))
    if best is None:
        return None
    edits, start, end = best
    raw_start, raw_end = passage.raw_span(start, end) if end > start else (0, 0)
    return Match(edits, raw_start, raw_end, *differing_words(snippet.text, passage.text, start, end))


def nearest(
    snippet: Snippet, passage: Passage, max_edits: int, windows: Sequence[tuple[int, int]]
) -> tuple[int, int, int] | None:
    """The place in these windows with the fewest edits, the first of equals: edits, start, end in `passage.text`.

    A figure that the edge of a window cuts belongs to the window. None if no place has few enough edits.
    """
    wanted: Units | None = None
    best: tuple[int, int, int] | None = None
    for window in windows:
        start, end = passage.with_whole_figures(*window)
        if not may_align(snippet.text, passage.text[start:end], max_edits):
            continue
        wanted = wanted or units_of(snippet.text, snippet.figures, 0, len(snippet.text))
        place = best_place(wanted, units_of(passage.text, passage.figures, start, end), max_edits)
        if place and (best is None or place[0] < best[0]):
            best = place
    return best


def differing_words(expected: str, text: str, start: int, end: int) -> tuple[str, str]:
    """The words of the snippet and of the passage that differ; words that the place cuts are completed."""
    while start and text[start - 1 : start].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    ours, theirs = expected.split(), text[start:end].split()
    changes = [code for code in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes() if code[0] != "equal"]
    return (
        " ... ".join(" ".join(ours[a:b]) for _, a, b, _, _ in changes if b > a),
        " ... ".join(" ".join(theirs[a:b]) for _, _, _, a, b in changes if b > a),
    )
