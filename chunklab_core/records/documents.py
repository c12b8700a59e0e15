"""Documents, as parse hands them on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chunklab_core.records.marks import Name


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of characters `[start, end)` of a document's text."""

    start: int
    end: int


ElementKind = Literal["heading", "paragraph", "list", "table", "code", "quote"]


@dataclass(frozen=True, slots=True)
class Element:
    """One block of a document, as its author laid it out.

    `path` holds the titles of the headings that are open at this block, outermost first; a heading's own
    title is the last part of its own path. `level` is 1 to 6 for a heading and 0 for anything else.
    Elements stand in reading order and do not overlap; white space between them belongs to none.
    """

    kind: ElementKind
    span: Span
    path: tuple[str, ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed document. `text` is NFC with \\n line ends; `doc_id` is its path relative to the folder, with /."""

    doc_id: str
    text: str
    elements: tuple[Element, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was not read; `path` is relative to the folder of documents."""

    path: Name
    reason: Name
