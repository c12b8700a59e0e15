"""Chunks, and the interface of chunkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.documents import Document, Span
from chunklab_core.records.marks import Amount, Count, Name, Reasons, Share, Undefined

NO_MODEL = "none"
"""Stands for the model in the health of chunks that no model reads."""


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


class EmbedTexts(Protocol):
    """Turns texts into vectors; a semantic chunker gets its embedder in this form."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dim), float32, unit rows (or a zero row)."""
        ...


@dataclass(frozen=True, slots=True)
class Health:
    """The quality of a strategy's chunks before any retrieval. Shares are fractions in [0, 1].

    `pct_oversized` has one entry per embedding model (`NO_MODEL` where no model is used);
    `tables_intact` is None where the corpus holds no table.
    """

    strategy: Name
    n_chunks: Count
    median_tokens: Annotated[Amount | None, Undefined("no_chunks")]
    pct_tiny: Annotated[Share | None, Undefined("no_chunks")]
    pct_oversized: Annotated[Mapping[str, Share | None], Undefined("no_chunks")]
    boundary: Annotated[Share | None, Undefined("no_chunks")]
    tables_intact: Annotated[Share | None, Undefined("no_tables")]
    lost_characters: Count
    path_shortened: Count = 0
    undefined: ClassVar[Reasons]
