"""Structure: a document is cut where its author put the borders, section by section.

Why: headings are the one place where the author states what a passage is about. A section that is kept whole and
has its path can be understood alone; a section that is too large is cut where its own blocks end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from chunklab_core.chunk.cutting import Level, Ruler, blank_lines, cut_point, lines, list_items, words
from chunklab_core.chunk.parameters import check_limits
from chunklab_core.chunk.prefix import Path, common, cost, render, shorten
from chunklab_core.chunk.sentences import sentence_breaks
from chunklab_core.records.chunks import Cut
from chunklab_core.records.documents import Document, ElementKind, Span

_LEVELS: dict[str, tuple[Level, ...]] = {
    "text": (blank_lines, sentence_breaks, lines, words),
    "paragraph": (sentence_breaks, lines, words),
    "quote": (sentence_breaks, lines, words),
    "list": (list_items, lines, sentence_breaks, words),
    "code": (blank_lines, lines, words),
    "heading": (words,),
}
_DELIMITER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


@dataclass(frozen=True, slots=True)
class _Block:
    """One element with the white space after it, or text outside all elements."""

    kind: ElementKind | Literal["text"]
    start: int
    end: int
    path: Path


@dataclass(frozen=True, slots=True)
class _Piece:
    """A cut with its heading path, and the path of its parent heading (None: text before any heading)."""

    cut: Cut
    path: Path
    parent: Path | None


@dataclass(frozen=True, slots=True)
class StructureChunker:
    """Sections by their headings, whole while they fit in `max_tokens` with their path.

    A heading without content joins the section that follows. A larger section is cut between its blocks, then
    inside them: tables between rows, with the column names repeated, lists between items, text between
    sentences. With `min_tokens` above 0, smaller neighbours under one parent heading are merged.
    """

    name: ClassVar[str] = "structure"

    max_tokens: int = 800
    min_tokens: int = 0
    heading_path: bool = True

    def __post_init__(self) -> None:
        check_limits(self)

    def __call__(self, document: Document) -> list[Cut]:
        """The chunks' spans in order, with the header rows that parts of a table repeat."""
        ruler = Ruler(document.text)
        pieces: list[_Piece] = []
        for section in _sections(_blocks(document, ruler)):
            path = next((block.path for block in section if block.kind != "heading"), section[-1].path)
            cutter = _SectionCutter(ruler, section, path if self.heading_path else (), self.max_tokens)
            pieces.extend(_Piece(cut, path, path[:-1] if path else None) for cut in cutter.cuts())
        if self.min_tokens:
            pieces = self._merged(ruler, pieces)
        return [piece.cut for piece in pieces]

    def _merged(self, ruler: Ruler, pieces: list[_Piece]) -> list[_Piece]:
        """The pieces, each one below `min_tokens` merged with a neighbour under the same parent, if the two fit."""
        done: list[_Piece] = []
        for piece in pieces:
            joined = self._joined(ruler, done[-1], piece) if done else None
            if joined:
                done[-1] = joined
            else:
                done.append(piece)
        return done

    def _joined(self, ruler: Ruler, first: _Piece, second: _Piece) -> _Piece | None:
        """Two neighbours as one piece, or None where they must stay apart."""
        if first.parent is None or first.parent != second.parent or second.cut.header:
            return None
        if not any(
            ruler.fits(piece.cut.span.start, piece.cut.span.end, self.min_tokens - 1) for piece in (first, second)
        ):
            return None
        span, path = Span(first.cut.span.start, second.cut.span.end), common([first.path, second.path])
        header = "\n".join(ruler.text[line.start : line.end] for line in first.cut.header)
        prefix = cost(render(path if self.heading_path else (), header))
        is_fit = ruler.fits(span.start, span.end, self.max_tokens - prefix)
        return _Piece(Cut(span, first.cut.header), path, first.parent) if is_fit else None


def _blocks(document: Document, ruler: Ruler) -> list[_Block]:
    """The document's elements, each extended to the next, so that no character is left out."""
    if ruler.start >= ruler.stop:
        return []
    elements = [element for element in document.elements if element.span.start < ruler.stop]
    starts = [*(ruler.bounds.start_of_character(element.span.start) for element in elements), ruler.stop]
    blocks = [_Block("text", ruler.start, starts[0], ())] if ruler.start < starts[0] else []
    for element, (start, end) in zip(elements, pairwise(starts), strict=True):
        blocks.append(_Block(element.kind, start, end, element.path))
    return blocks


def _sections(blocks: list[_Block]) -> Iterator[list[_Block]]:
    """Blocks from one heading with content to the next; a heading without content joins the section that follows."""
    section: list[_Block] = []
    for block in blocks:
        if block.kind == "heading" and section and section[-1].kind != "heading":
            yield section
            section = []
        section.append(block)
    if section:
        yield section


class _SectionCutter:
    """Cuts one section into as few chunks as its blocks allow."""

    def __init__(self, ruler: Ruler, section: Sequence[_Block], path: Path, limit: int) -> None:
        self._ruler, self._section, self._path, self._limit = ruler, section, path, limit
        self._starts = [block.start for block in section]
        self._stop = ruler.trim(section[0].start, section[-1].end)
        self._plain_budget = limit - cost(render(shorten(path, limit // 2)))

    def cuts(self) -> Iterator[Cut]:
        """The section's cuts, in order."""
        ruler, start = self._ruler, self._section[0].start
        while start < self._stop:
            header, budget = self._header(start)
            end = self._stop if ruler.fits(start, self._stop, budget) else self._end(start, budget)
            yield Cut(Span(start, ruler.trim(start, end)), header)
            start = ruler.skip_blank(end)

    def _end(self, start: int, budget: int) -> int:
        """Where the chunk from `start` ends, when the rest of the section does not fit."""
        index = self._last_block(start, budget)
        block = self._section[index]
        lo = max(start, block.start)
        follows_heading = index > 0 and self._section[index - 1].kind == "heading"
        is_kept_whole = block.kind in ("table", "heading") or not follows_heading
        if lo > start and is_kept_whole and self._ruler.fits(lo, block.end, self._plain_budget):
            return lo
        levels = (self._rows(block), words) if block.kind == "table" else _LEVELS[block.kind]
        return cut_point(self._ruler, start, block.end, budget, levels, lo)

    def _last_block(self, start: int, budget: int) -> int:
        """Index of the last block whose beginning fits in a chunk from `start`: the first that does not fit whole."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, self._ruler.reach(start, self._stop, budget)) - 1
        for index in range(last, first, -1):
            if self._ruler.fits(start, self._starts[index], budget):
                return index
        return first

    def _header(self, start: int) -> tuple[tuple[Span, ...], int]:
        """The header lines that a chunk from `start` repeats, and the tokens left for its body.

        Rows get the whole header if one row fits beside it, else the column names alone, else nothing.
        """
        block = self._section[bisect_right(self._starts, start) - 1]
        if block.kind != "table":
            return (), self._plain_budget
        names, header, body = _table_head(self._ruler.text, block)
        if start < body:
            return (), self._plain_budget
        row = self._ruler.cost(start, next(lines(self._ruler.text, start, block.end), block.end))
        room = self._limit - row if row < self._limit else self._limit // 2
        for span in (header, names):
            text = self._ruler.text[span.start : span.end]
            if cost(text) <= room:
                path = shorten(self._path, min(room, self._limit // 2), text)
                return (span,), self._limit - cost(render(path, text))
        return (), self._plain_budget

    def _rows(self, table: _Block) -> Level:
        """Beginnings of rows; the header rows and the first row stay together."""
        body = _table_head(self._ruler.text, table)[2]
        return lambda text, lo, hi: lines(text, max(lo, body), hi)


def _table_head(text: str, table: _Block) -> tuple[Span, Span, int]:
    """The line of column names, the header (that line and the delimiter row), and where the first row begins."""
    names = Span(table.start, _line_end(text, table.start, table.end))
    delimiter = Span(min(names.end + 1, table.end), _line_end(text, names.end + 1, table.end))
    is_delimiter = _DELIMITER.fullmatch(text, delimiter.start, delimiter.end)
    header = Span(names.start, delimiter.end) if is_delimiter else names
    return names, header, min(header.end + 1, table.end)


def _line_end(text: str, start: int, stop: int) -> int:
    end = text.find("\n", start, stop)
    return stop if end < 0 else end
