"""Small documents with elements laid out by hand, and an embedder that needs no model."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunklab_core.chunk.health import document_health, summarize
from chunklab_core.records.chunks import Chunk, Health
from chunklab_core.records.documents import Document, Element, Span

_BLOCK = re.compile(r"\S(?:.|\n(?!\s*\n))*")


def laid_out(text: str, doc_id: str = "doc") -> Document:
    """A document whose blocks are told apart by empty lines and first characters: enough for these tests."""
    elements: list[Element] = []
    path: list[tuple[int, str]] = []
    for block in _BLOCK.finditer(text):
        heading = re.fullmatch(r"(#{1,6}) (.*)", block.group())
        level = len(heading[1]) if heading else 0
        if heading:
            path = [part for part in path if part[0] < level] + [(level, heading[2])]
        first = block.group()[0]
        kind = "heading" if heading else {"|": "table", "-": "list", "`": "code"}.get(first, "paragraph")
        elements.append(Element(kind, Span(*block.span()), tuple(title for _, title in path), level))
    return Document(doc_id, text, tuple(elements))


def embed_by_first_letter(texts: Sequence[str]) -> NDArray[np.float32]:
    """Texts that begin with the same letter are alike, others have nothing in common."""
    vectors = np.zeros((len(texts), 64), dtype=np.float32)
    vectors[np.arange(len(texts)), [ord(text[0]) % 64 for text in texts]] = 1.0
    return vectors


def health_of(document: Document, chunks: Sequence[Chunk], **settings: Any) -> Health:
    """The health of a strategy that cut this one document."""
    return summarize("s", [document_health(document, chunks, **settings)])
