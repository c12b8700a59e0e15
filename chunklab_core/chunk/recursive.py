"""Recursive splitting: paragraphs stay whole while they fit, then lines, then sentences, then words.

Why: in most texts, blank lines show what belongs together. Following them costs nothing, needs no model, and keeps
answers whole that a fixed window cuts in two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from chunklab_core.chunk.cutting import Ruler, blank_lines, cut_point, lines, words
from chunklab_core.chunk.parameters import check_overlap
from chunklab_core.chunk.prefix import Paths
from chunklab_core.chunk.sentences import sentence_breaks
from chunklab_core.records.documents import Document, Span

_LEVELS = (blank_lines, lines, sentence_breaks, words)


@dataclass(frozen=True, slots=True)
class RecursiveChunker:
    """Pieces of the coarsest kind that fits, packed up to `chunk_size` tokens.

    A chunk begins with the last lines or sentences of the one before, as many as cost at most `overlap`
    tokens and leave room for something new; with the last words, where it was cut between words.
    """

    name: ClassVar[str] = "recursive"

    chunk_size: int = 512
    overlap: int = 64
    heading_path: bool = False

    def __post_init__(self) -> None:
        check_overlap(self)

    def __call__(self, document: Document) -> list[Span]:
        """The chunks' spans, in order."""
        ruler = Ruler(document.text)
        paths = Paths(document) if self.heading_path else None
        spans: list[Span] = []
        start, end = ruler.start, ruler.start
        while end < ruler.stop:
            start, end = self._next(ruler, paths, start, end)
            spans.append(Span(start, end))
        return spans

    def _next(self, ruler: Ruler, paths: Paths | None, start: int, end: int) -> tuple[int, int]:
        """The chunk after the one at `[start, end)`, with as much overlap as leaves room for new text."""
        for first in self._overlaps(ruler, start, end) if end > start else ():
            last = self._end(ruler, paths, first)
            if last > end:
                return first, last
        first = ruler.skip_blank(end)
        return first, self._end(ruler, paths, first)

    def _end(self, ruler: Ruler, paths: Paths | None, start: int) -> int:
        budget = paths.budget(start, self.chunk_size) if paths else self.chunk_size
        if ruler.fits(start, ruler.stop, budget):
            return ruler.stop
        return ruler.trim(start, cut_point(ruler, start, ruler.stop, budget, _LEVELS))

    def _overlaps(self, ruler: Ruler, start: int, end: int) -> Iterator[int]:
        """Positions inside `[start, end)` at which the next chunk may begin, most overlap first."""
        if self.overlap == 0:
            return
        earliest = int(ruler.tokens.offsets[max(0, ruler.tokens.tokens_before(end) - self.overlap)])
        lo = max(start, earliest - 1)
        following = ruler.skip_blank(end)
        natural = sorted({at for level in (lines, sentence_breaks) for at in level(ruler.text, lo, following)})
        if following in natural:
            finer = iter(natural)
        else:
            finer = iter([*natural, *words(ruler.text, lo, end), ruler.bounds.back(earliest, start)][:8])
        yield from (
            at for at in finer if start < at < end and ruler.cost(at, end) <= self.overlap and ruler.bounds.is_safe(at)
        )
