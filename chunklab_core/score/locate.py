"""Every place of a document that reads like a wording, found once for all strategies.

Why: the place of an answer does not depend on how the document is cut. A chunk holds the answer if it covers a known
place, so no strategy needs a search of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chunklab_core.score.gold import Snippet, copies, differing_words, literal_copies, nearest
from chunklab_core.score.normalize import Passage, normalize_passage
from chunklab_core.score.snippet_search import Window
from chunklab_core.score.wordings import Wordings


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place of a document that reads like a wording: `[start, end)` in its characters, and the edits between.

    `expected` and `found` hold the words that differ, of wording and document.
    """

    wording: int
    start: int
    end: int
    edits: int
    expected: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Zone:
    """A range of a document; nothing outside the zones of a wording reads like it, not even a place cut at an edge."""

    wording: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Located:
    """The wordings in one document: every exact copy, and the nearest place of each zone without a copy."""

    occurrences: tuple[Occurrence, ...]
    zones: tuple[Zone, ...]


def locate(texts: Sequence[str], wordings: Wordings) -> list[Located]:
    """The wordings in some documents; each text is read once."""
    passages = [normalize_passage(text) for text in texts]
    found: list[tuple[list[Occurrence], list[Zone]]] = [([], []) for _ in texts]
    for window in wordings.search.windows([passage.text for passage in passages]):
        occurrences, zones = found[window.text]
        in_window = list(_occurrences(wordings, window, passages[window.text]))
        occurrences += in_window
        zones += [_zone(window, passages[window.text])] if in_window else []
    hyphened = [at for at in range(len(wordings.snippets)) if wordings.has_hyphen(at)]
    for (occurrences, zones), passage in zip(found, passages, strict=True):
        for occurrence in _literals(wordings, hyphened, passage):
            zones.append(Zone(occurrence.wording, occurrence.start, occurrence.end))
            if occurrence not in occurrences:
                occurrences.append(occurrence)
    return [Located(tuple(sorted(o, key=_order)), tuple(sorted(z, key=_order))) for o, z in found]


def _order(place: Occurrence | Zone) -> tuple[int, int, int]:
    return place.wording, place.start, place.end


def _occurrences(wordings: Wordings, window: Window, passage: Passage) -> Iterator[Occurrence]:
    """All copies within the window; without a copy, the nearest place if it is near enough."""
    snippet = wordings.snippets[window.snippet]
    exact = list(copies(snippet, passage, window.start, window.end))
    for start, end in exact:
        yield Occurrence(window.snippet, *passage.raw_span(start, end), 0)
    max_edits = wordings.edits(window.snippet)
    around = passage.with_whole_figures(window.start, window.end)
    if exact or not max_edits or not _has_figures(snippet, passage, *around):
        return
    place = nearest(snippet, passage, max_edits, [around])
    if place:
        edits, start, end = place
        words = differing_words(snippet.text, passage.text, start, end)
        yield Occurrence(window.snippet, *(passage.raw_span(start, end) if end > start else (0, 0)), edits, *words)


def _has_figures(snippet: Snippet, passage: Passage, start: int, end: int) -> bool:
    """Whether the range holds the figures of the snippet in their order; without them nothing can read like it."""
    at = start
    for first, last in snippet.figures:
        at = passage.text.find(snippet.text[first:last], at, end)
        if at < 0:
            return False
        at += last - first
    return True


def _zone(window: Window, passage: Passage) -> Zone:
    """The window in characters of the document."""
    start, end = passage.with_whole_figures(window.start, window.end)
    if (start, end) == (0, len(passage.text)):
        return Zone(window.snippet, 0, len(passage.raw))
    return Zone(window.snippet, *passage.raw_span(start, end))


def _literals(wordings: Wordings, hyphened: Sequence[int], passage: Passage) -> Iterator[Occurrence]:
    """Copies, character by character, of wordings that begin or end at a hyphen."""
    for at in hyphened:
        for start, end in literal_copies(wordings.snippets[at], passage):
            yield Occurrence(at, start, end, 0)
