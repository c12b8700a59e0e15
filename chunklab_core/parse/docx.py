"""DOCX: headings, paragraphs, lists and tables in the order of the page, with changes accepted.

Why: the plain list of paragraphs that a library returns loses tables, text boxes and notes, and repeats a merged cell
once for each column it spans. Lost text is a lost answer; repeated text raises term counts and token costs. So this
parser walks the body in page order and writes everything once.

Headings are written with `#` marks and tables as the rows of a Markdown table, so that a chunk of them reads as what
it is. Text boxes follow the paragraph they are anchored in, notes the paragraph that refers to them. Left out: page
headers and footers, comments, hidden text, pictures, and the reference marks of notes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zipfile import is_zipfile

from chunklab_core.errors import UnreadableDocument
from chunklab_core.parse.decoding import clean, no_text, one_line
from chunklab_core.parse.docx_inline import Inline, W, read_inline, shown_children, value
from chunklab_core.parse.docx_numbering import Numbering
from chunklab_core.parse.outline import Block, with_paths
from chunklab_core.records.documents import Document, ElementKind, Note, Span

if TYPE_CHECKING:
    from docx.parts.document import DocumentPart
    from lxml.etree import _Element

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # the container of old .doc files and of encrypted new ones
_HEADING_STYLE = re.compile("heading ([1-9])", re.IGNORECASE)  # its inner name, the same in every language
_BODY_TEXT = 9  # the outline level that means none
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class DocxParser:
    """Reads a Word document. Paragraphs are separated by a blank line, the items of a list by a line end."""

    def __call__(self, doc_id: str, data: bytes) -> Document:
        """The document of one file's bytes.

        Raises:
            UnreadableDocument: the bytes are not a DOCX file, or the file is damaged or encrypted.
        """
        walk, body = _open(data)
        try:
            pieces = list(walk.blocks(body))
        except RecursionError as error:
            raise UnreadableDocument(Note("nested_too_deeply")) from error
        text, blocks, warnings = _assemble(pieces)
        return Document(doc_id, text, with_paths(blocks), (*warnings, *no_text(text)))


@dataclass(frozen=True, slots=True)
class _Piece:
    """One block before it has a position; `level` and `title` belong to headings."""

    kind: ElementKind
    text: str
    level: int = 0
    title: str = ""


@dataclass(slots=True)
class _Walk:
    """One pass through a document: it counts list numbers, and uses up notes, as it meets them."""

    styles: dict[str, _Element]
    numbering: Numbering
    notes: dict[tuple[str, str], _Element]

    @classmethod
    def of(cls, part: DocumentPart) -> _Walk:
        """A walk at the start of a document."""
        styles = {style.get(f"{W}styleId", ""): style for style in part.styles.element.iter(f"{W}style")}
        notes = {
            (name, note.get(f"{W}id", "")): note
            for name in ("footnotes", "endnotes")
            for note in _related(part, name)
            if note.get(f"{W}type") in (None, "normal")
        }
        return cls(styles, Numbering(_related(part, "numbering")), notes)

    def blocks(self, container: _Element) -> Iterator[_Piece]:
        """The blocks of a body, a text box or a note, in the order of the page."""
        inline, last = Inline(), None
        for child in shown_children(container):
            if child.tag == f"{W}p":
                read_inline(child, inline)
                last = child
                if _runs_on(child):
                    continue
            if last is not None:
                yield from self._paragraph(last, inline)
                inline, last = Inline(), None
            if child.tag == f"{W}tbl":
                yield from self._table(child)
            elif child.tag != f"{W}p":
                yield from self.blocks(child)
        if last is not None:
            yield from self._paragraph(last, inline)

    def _paragraph(self, node: _Element, inline: Inline) -> Iterator[_Piece]:
        if inline.text:
            yield self._piece(node, inline.text)
        yield from self._beside(inline)

    def _piece(self, node: _Element, text: str) -> _Piece:
        level = self._heading_level(node)
        marker, depth = self._marker(node)
        if level:
            title = " ".join(f"{marker} {text}".split())
            return _Piece("heading", f"{'#' * level} {title}", level, title)
        return _Piece("list", f"{_INDENT * depth}{marker} {text}") if marker else _Piece("paragraph", text)

    def _beside(self, inline: Inline) -> Iterator[_Piece]:
        """Text boxes, then notes. A heading in them belongs to the box, not to the document, so it opens no path."""
        for box in inline.boxes:
            yield from map(_without_level, self.blocks(box))
        for reference in inline.notes:
            note = self.notes.pop(reference, None)  # written once, however often it is referred to
            if note is not None:
                yield from map(_without_level, self.blocks(note))

    def _table(self, node: _Element) -> Iterator[_Piece]:
        notes = Inline()
        rows = [list(self._cells(row, notes)) for row in _kept_rows(node)]
        width = max(map(len, rows), default=0)
        if any(map(any, rows)):
            padded = ([cell.replace("|", "\\|") for cell in row] + [""] * (width - len(row)) for row in rows)
            lines = [f"| {' | '.join(row)} |" for row in padded]
            yield _Piece("table", "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]]))
        yield from self._beside(notes)

    def _cells(self, row: _Element, notes: Inline) -> Iterator[str]:
        """One text for each column of the grid: a merged cell once, and nothing in the other columns it covers."""
        yield from [""] * _count(row, "trPr", "gridBefore", 0)
        for cell in _under(row, f"{W}tc"):
            yield "" if _is_covered(cell) else self._cell_text(cell, notes)
            yield from [""] * (_count(cell, "tcPr", "gridSpan", 1) - 1)
        yield from [""] * _count(row, "trPr", "gridAfter", 0)

    def _cell_text(self, cell: _Element, notes: Inline) -> str:
        """The cell, or a text box in it, on one line, followed by the cells of a table inside it."""
        parts = []
        for child in shown_children(cell):
            if child.tag == f"{W}p":
                inline = Inline()
                read_inline(child, inline)
                parts += [self._marker(child)[0] if inline.text else "", inline.text]
                parts += [self._cell_text(box, notes) for box in inline.boxes]
                notes.notes += inline.notes
            elif child.tag == f"{W}tbl":
                parts += [text for row in _kept_rows(child) for text in self._cells(row, notes)]
            else:
                parts.append(self._cell_text(child, notes))
        return " ".join(" ".join(parts).split())

    def _marker(self, node: _Element) -> tuple[str, int]:
        """The marker that a list draws before the paragraph (empty outside of lists), and the list's depth."""
        num_id = level = ""
        for owner in (node, *self._styles_of(node)):
            num_id = num_id or value(owner.find(f"{W}pPr/{W}numPr/{W}numId"))
            level = level or value(owner.find(f"{W}pPr/{W}numPr/{W}ilvl"))
        depth = int(level) if level.isdecimal() else 0
        return self.numbering.marker(num_id, depth), depth

    def _heading_level(self, node: _Element) -> int:
        """1 to 6 for a heading, from the style's name or an outline level (its own or its style's); else 0."""
        for owner in (node, *self._styles_of(node)):
            name = _HEADING_STYLE.fullmatch(value(owner.find(f"{W}name")))
            outline = value(owner.find(f"{W}pPr/{W}outlineLvl"))
            if name:
                return min(int(name[1]), 6)
            if outline.isdecimal():
                return min(int(outline) + 1, 6) if int(outline) < _BODY_TEXT else 0
        return 0

    def _styles_of(self, node: _Element) -> list[_Element]:
        """The paragraph's style and the styles it is based on, nearest first."""
        found: list[_Element] = []
        style_id = value(node.find(f"{W}pPr/{W}pStyle"))
        while style_id in self.styles and self.styles[style_id] not in found:
            found.append(self.styles[style_id])
            style_id = value(found[-1].find(f"{W}basedOn"))
        return found


def _open(data: bytes) -> tuple[_Walk, _Element]:
    import docx

    if not data:
        raise UnreadableDocument(Note("empty_file"))
    if data.startswith(_OLE):
        raise UnreadableDocument(Note("old_doc"))
    if not is_zipfile(io.BytesIO(data)):
        raise UnreadableDocument(Note("not_zip"))
    try:
        part = docx.Document(io.BytesIO(data)).part
        return _Walk.of(part), part.element.body
    except Exception as error:  # a damaged package makes the libraries raise anything
        raise UnreadableDocument(Note("not_docx", {"cause": one_line(error)})) from error


def _related(part: DocumentPart, name: str) -> _Element:
    """The root of a part beside the document (notes, numbering); an empty element where there is none."""
    from docx.oxml import OxmlElement, parse_xml

    for relation in part.rels.values():
        if relation.reltype.endswith(f"/{name}") and not relation.is_external:
            return parse_xml(relation.target_part.blob)
    return OxmlElement(f"w:{name}")


def _assemble(pieces: Iterable[_Piece]) -> tuple[str, list[Block], tuple[Note, ...]]:
    """The document's text, its blocks with their positions, and warnings. The items of a list are one block."""
    parts: list[str] = []
    blocks: list[Block] = []
    warnings: tuple[Note, ...] = ()
    end = 0
    for piece in pieces:
        text, cleaned = clean(piece.text)
        warnings += cleaned
        if not text.strip():
            continue
        in_list = bool(blocks) and piece.kind == blocks[-1].kind == "list"
        parts.append(("\n" if in_list else "\n\n" if parts else "") + text)
        start = end + len(parts[-1]) - len(text.lstrip())
        end += len(parts[-1])
        if in_list:
            blocks[-1] = Block("list", Span(blocks[-1].span.start, end))
        else:
            blocks.append(Block(piece.kind, Span(start, end), piece.level, clean(piece.title)[0]))
    return "".join(parts), blocks, warnings


def _without_level(piece: _Piece) -> _Piece:
    return _Piece("paragraph", piece.title) if piece.level else piece


def _runs_on(paragraph: _Element) -> bool:
    """Whether the paragraph's end mark was deleted, so that the next paragraph continues it."""
    return any(paragraph.find(f"{W}pPr/{W}rPr/{W}{name}") is not None for name in ("del", "moveFrom"))


def _kept_rows(table: _Element) -> Iterator[_Element]:
    return (row for row in _under(table, f"{W}tr") if row.find(f"{W}trPr/{W}del") is None)


def _under(node: _Element, tag: str) -> Iterator[_Element]:
    """The rows of a table, or the cells of a row, even if a content control wraps them."""
    for child in shown_children(node):
        if child.tag == tag:
            yield child
        else:
            yield from _under(child, tag)


def _is_covered(cell: _Element) -> bool:
    """Whether the page shows another cell here, merged over this one, or this cell was deleted."""
    merges = (cell.find(f"{W}tcPr/{W}{name}") for name in ("vMerge", "hMerge"))
    continued = any(merge is not None and value(merge) in ("", "continue") for merge in merges)
    return continued or cell.find(f"{W}tcPr/{W}cellDel") is not None


def _count(node: _Element, properties: str, name: str, default: int) -> int:
    """A number of grid columns; a damaged one counts as `default`, and none is larger than Word's 63 columns."""
    text = value(node.find(f"{W}{properties}/{W}{name}"))
    return min(int(text), 63) if text.isdecimal() else default
