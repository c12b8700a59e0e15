"""What the stages hand to each other. The names here are those that a plug-in needs."""

from chunklab_core.records.chunks import Chunk, Chunker, Cut, EmbedTexts
from chunklab_core.records.documents import Document, Element, Span

__all__ = [
    "Chunk",
    "Chunker",
    "Cut",
    "Document",
    "Element",
    "EmbedTexts",
    "Span",
]
