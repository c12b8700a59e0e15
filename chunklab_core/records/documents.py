"""Documents, as parse returns them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of characters `[start, end)` of a document's text."""

    start: int
    end: int


ElementKind = Literal["heading", "paragraph", "list", "table", "code", "quote"]


@dataclass(frozen=True, slots=True)
class Element:
    """One block of a document, as its author laid it out.

    `path` holds the titles of the headings above this block, outermost first; a heading's own title is the last
    part of its own path. `level` is 1 to 6 for a heading and 0 for anything else. Elements are in reading order and
    do not overlap; white space between them belongs to none.
    """

    kind: ElementKind
    span: Span
    path: tuple[str, ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a file: a code of `chunklab_core.errors.NOTE_TEXTS`, and plain JSON values for its text."""

    code: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed document. `text` is NFC with \\n line ends; `doc_id` is its path relative to the folder, with /."""

    doc_id: str
    text: str
    elements: tuple[Element, ...] = ()
    warnings: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to parse: its id (path relative to the folder, /, NFC), its own path there, its SHA-256 and size."""

    doc_id: str
    path: str
    digest: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that the run does not read; `path` is relative to the folder, `note` holds the reason."""

    path: str
    note: Note
