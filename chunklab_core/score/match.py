"""Which chunks of a strategy hold which wordings: from the overlap of ranges if possible, else by a search.

Why: all cells of a strategy, at every k, need the same answer about the same chunks. It is found once, and nearly
always without reading a chunk: `chunklab_core.score.locate` finds the places in the documents, and
`chunklab_core.score.chunk_edges` finds the chunks that must be read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Span
from chunklab_core.score.chunk_edges import LONGEST_FOLD, core_of, edges_of, has_whole_words, passage_of
from chunklab_core.score.gold import Match, find
from chunklab_core.score.locate import Located, Occurrence, Zone
from chunklab_core.score.wordings import Wordings


@dataclass(frozen=True, slots=True)
class ChunkMatch:
    """One wording in one chunk: `chunk` is the chunk's position in its document."""

    chunk: int
    wording: int
    match: Match


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The matches of one document's chunks before any chunk is read, one dictionary or set a chunk.

    Attributes:
        settled: wordings with a known match, and that match.
        open: wordings that need a search.
    """

    settled: list[dict[int, Match]]
    open: list[set[int]]


def match_chunks(
    documents: Sequence[tuple[Document, Sequence[Chunk]]], located: Sequence[Located], wordings: Wordings
) -> list[list[ChunkMatch]]:
    """The matches of each document, by chunk and wording: the same as `find` returns for every pair of them."""
    cores = [[core_of(document.text, chunk) for chunk in chunks] for document, chunks in documents]
    known = [
        _by_overlap(document, chunks, own_cores, places, wordings)
        for (document, chunks), own_cores, places in zip(documents, cores, located, strict=True)
    ]
    _open_edges(documents, cores, known, wordings)
    return [
        [match for at, chunk in enumerate(chunks) for match in _of_chunk(document, chunk, at, candidates, wordings)]
        for (document, chunks), candidates in zip(documents, known, strict=True)
    ]


def _by_overlap(
    document: Document, chunks: Sequence[Chunk], cores: Sequence[Span], located: Located, wordings: Wordings
) -> _Candidates:
    settled: list[dict[int, Match]] = [{} for _ in chunks]
    waiting: list[set[int]] = [set() for _ in chunks]
    starts, ends = [chunk.span.start for chunk in chunks], [chunk.span.end for chunk in chunks]
    for place in located.occurrences:
        if place.edits or wordings.has_hyphen(place.wording):
            continue
        for at in range(bisect_left(ends, place.end), bisect_right(starts, place.start)):
            if cores[at].start <= place.start and place.end <= cores[at].end:
                shift = chunks[at].shift
                settled[at].setdefault(place.wording, Match(0, place.start + shift, place.end + shift))
    nearest = _by_zone(document, chunks, cores, located, wordings, _Candidates(settled, waiting))
    settled = [{**near, **exact} for near, exact in zip(nearest, settled, strict=True)]
    return _Candidates(settled, waiting)


def _by_zone(
    document: Document,
    chunks: Sequence[Chunk],
    cores: Sequence[Span],
    located: Located,
    wordings: Wordings,
    known: _Candidates,
) -> list[dict[int, Match]]:
    """The nearest places that each chunk holds unchanged; wordings at a chunk's edge are added to the open ones.

    The nearest place in a zone of the document is also the nearest in any chunk that holds it, because the chunk holds
    no other text of the zone.
    """
    nearest: list[dict[int, Match]] = [{} for _ in chunks]
    starts, ends = [chunk.span.start for chunk in chunks], [chunk.span.end for chunk in chunks]
    unfolded = 1 if document.text.isascii() else LONGEST_FOLD
    for zone, place in _with_places(located):
        edits, length = wordings.edits(zone.wording), len(wordings.snippets[zone.wording].text)
        hyphen = wordings.has_hyphen(zone.wording)
        if not edits and not hyphen:
            continue
        for at in range(bisect_right(ends, zone.start), bisect_left(starts, zone.end)):
            shared = min(ends[at], zone.end) - max(starts[at], zone.start)
            if zone.wording in known.settled[at] or shared * unfolded < length - edits:
                continue
            if hyphen or not place or not _reads_alike(document.text, cores[at], place):
                known.open[at].add(zone.wording)
            elif zone.wording not in nearest[at] or place.edits < nearest[at][zone.wording].edits:
                shift = chunks[at].shift
                words = place.expected, place.found
                nearest[at][zone.wording] = Match(place.edits, place.start + shift, place.end + shift, *words)
    return nearest


def _with_places(located: Located) -> Iterator[tuple[Zone, Occurrence | None]]:
    """Each zone with its place, if it has exactly one and that is not a copy; else with None."""
    begins = [(place.wording, place.start) for place in located.occurrences]
    for zone in located.zones:
        first, last = bisect_left(begins, (zone.wording, zone.start)), bisect_left(begins, (zone.wording, zone.end))
        own = located.occurrences[first:last]
        yield zone, own[0] if len(own) == 1 and own[0].edits and own[0].start < own[0].end else None


def _reads_alike(text: str, core: Span, place: Occurrence) -> bool:
    """Whether the core holds the place, with the words that the place cuts."""
    if not core.start <= place.start < place.end <= core.end:
        return False
    return has_whole_words(text, core, place.start, place.end)


def _open_edges(
    documents: Sequence[tuple[Document, Sequence[Chunk]]],
    cores: Sequence[Sequence[Span]],
    known: Sequence[_Candidates],
    wordings: Wordings,
) -> None:
    """Adds to the open wordings those that may touch the edge of a chunk or its prefix."""
    edges, owners = [], []
    hyphened = [at for at in range(len(wordings.snippets)) if wordings.has_hyphen(at)]
    for (document, chunks), own, candidates in zip(documents, cores, known, strict=True):
        for at, (chunk, core) in enumerate(zip(chunks, own, strict=True)):
            here = edges_of(document.text, chunk, core, wordings.search.reach)
            edges += here
            owners += [candidates.open[at]] * len(here)
            if here:
                candidates.open[at].update(w for w in hyphened if wordings.snippets[w].typed.strip() in chunk.text)
    for window in wordings.search.windows([edge.text for edge in edges]):
        if edges[window.text].concerns(window.start, window.end):
            owners[window.text].add(window.snippet)


def _of_chunk(
    document: Document, chunk: Chunk, at: int, candidates: _Candidates, wordings: Wordings
) -> list[ChunkMatch]:
    found = dict(candidates.settled[at])
    if candidates.open[at]:
        passage = passage_of(document.text, chunk)
        for wording in candidates.open[at]:
            match = find(wordings.snippets[wording], passage, wordings.fuzzy_threshold)
            found.pop(wording, None)
            if match:
                found[wording] = match
    return [ChunkMatch(at, wording, found[wording]) for wording in sorted(found)]
