"""Which chunks of a strategy hold which wordings: by overlap where that settles it, by a search where it does not.

Why: every cell of a strategy, and every k, asks the same question of the same chunks. It is answered once, and
nearly always without reading a chunk: see `chunklab_core.score.locate` for the places and
`chunklab_core.score.chunk_edges` for the chunks that have to be read.
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
    """What is known of one document's chunks before any is read, a dictionary or a set for each chunk.

    Attributes:
        settled: wordings whose first copy is known, and where it stands in the chunk's text.
        open: wordings that have to be searched for.
    """

    settled: list[dict[int, Match]]
    open: list[set[int]]


def match_chunks(
    documents: Sequence[tuple[Document, Sequence[Chunk]]], located: Sequence[Located], wordings: Wordings
) -> list[list[ChunkMatch]]:
    """For each document, what its chunks hold, by chunk and wording: the same as `find` says of every pair of them."""
    cores = [[core_of(document.text, chunk) for chunk in chunks] for document, chunks in documents]
    known = [
        _by_overlap(document, chunks, own, there, wordings)
        for (document, chunks), own, there in zip(documents, cores, located, strict=True)
    ]
    _open_edges(documents, cores, known, wordings)
    return [
        [held for at, chunk in enumerate(chunks) for held in _of_chunk(document, chunk, at, candidates, wordings)]
        for (document, chunks), candidates in zip(documents, known, strict=True)
    ]


def _by_overlap(
    document: Document, chunks: Sequence[Chunk], cores: Sequence[Span], located: Located, wordings: Wordings
) -> _Candidates:
    settled: list[dict[int, Match]] = [{} for _ in chunks]
    waiting: list[set[int]] = [set() for _ in chunks]
    starts, ends = [chunk.span.start for chunk in chunks], [chunk.span.end for chunk in chunks]
    for there in located.occurrences:
        if there.edits or wordings.has_hyphen(there.wording):
            continue
        for at in range(bisect_left(ends, there.end), bisect_right(starts, there.start)):
            if cores[at].start <= there.start and there.end <= cores[at].end:
                shift = len(chunks[at].text) - len(chunks[at].body) - starts[at]
                settled[at].setdefault(there.wording, Match(0, there.start + shift, there.end + shift))
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
    """For each chunk, the nearest places that it holds as its document does; opens what stands at its edge.

    What is nearest in a zone of the document is nearest in any chunk that holds that place, for the chunk has no more.
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
                shift = len(chunks[at].text) - len(chunks[at].body) - starts[at]
                words = place.expected, place.found
                nearest[at][zone.wording] = Match(place.edits, place.start + shift, place.end + shift, *words)
    return nearest


def _with_places(located: Located) -> Iterator[tuple[Zone, Occurrence | None]]:
    """Each zone with the place in it that is nearest, where there is just one and no copy."""
    begins = [(place.wording, place.start) for place in located.occurrences]
    for zone in located.zones:
        first, last = bisect_left(begins, (zone.wording, zone.start)), bisect_left(begins, (zone.wording, zone.end))
        own = located.occurrences[first:last]
        yield zone, own[0] if len(own) == 1 and own[0].edits and own[0].start < own[0].end else None


def _reads_alike(text: str, core: Span, place: Occurrence) -> bool:
    """Whether the place lies in the core, with the words that it cuts."""
    if not core.start <= place.start < place.end <= core.end:
        return False
    return has_whole_words(text, core, place.start, place.end)


def _open_edges(
    documents: Sequence[tuple[Document, Sequence[Chunk]]],
    cores: Sequence[Sequence[Span]],
    known: Sequence[_Candidates],
    wordings: Wordings,
) -> None:
    """Adds to the open wordings those that may touch the edge of a chunk, or its prefix."""
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
