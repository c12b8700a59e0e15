"""Chunks, and the interface of chunkers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.documents import Document, Span


@dataclass(frozen=True, slots=True)
class Cut:
    """The decision of a chunker: the span of the body, and which lines of the document are repeated before it.

    `header` holds spans of the same document (the header rows of a table that was cut); the room copies
    their text into the prefix, after the heading path.
    """

    span: Span
    header: tuple[Span, ...] = ()


class Chunker(Protocol):
    """Cuts one document. Plug-ins implement this; a plain span means a cut without a header.

    Optional attributes: `heading_path: bool` (put the heading path into the prefix) and `max_tokens` or
    `chunk_size: int` (the declared maximum of body and prefix together).
    """

    def __call__(self, document: Document) -> Sequence[Span | Cut]:
        """The cuts of one document, in reading order."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk: `body` is the slice of the document at `span`, `prefix` is not part of the span.

    `n_tokens` counts `text`, prefix included, in cl100k_base tokens.
    """

    chunk_id: str
    doc_id: str
    span: Span
    body: str
    prefix: str
    n_tokens: int

    @property
    def text(self) -> str:
        """The text that is embedded, indexed, returned, matched and counted."""
        return f"{self.prefix}\n{self.body}" if self.prefix else self.body

    @property
    def shift(self) -> int:
        """What to add to a position in the document to get the position in `text`."""
        return len(self.text) - len(self.body) - self.span.start


class EmbedTexts(Protocol):
    """Turns texts into vectors; a semantic chunker gets its embedder in this form."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dim), float32, unit rows (or a zero row)."""
        ...
