"""The whole document as one chunk.

Why: it shows what recall alone rewards. The chunk holds every answer of the document, at the cost of reading all of
it; a ranking that puts it first measures size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chunklab_core.chunk.cutting import Ruler
from chunklab_core.chunk.parameters import need_flag
from chunklab_core.records.documents import Document, Span


@dataclass(frozen=True, slots=True)
class WholeDocumentChunker:
    """One chunk from the first to the last character that is not white space; it has no maximum."""

    name: ClassVar[str] = "whole_document"

    heading_path: bool = False

    def __post_init__(self) -> None:
        need_flag(self, "heading_path")

    def __call__(self, document: Document) -> list[Span]:
        """One span, or none where the text is blank."""
        ruler = Ruler(document.text)
        return [Span(ruler.start, ruler.stop)] if ruler.start < ruler.stop else []
