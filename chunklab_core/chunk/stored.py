"""The chunks of one document as bytes and back: their spans and prefixes, without a second copy of their text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Span


def pack_chunks(chunks: Sequence[Chunk]) -> bytes:
    """The chunks of one document without its id and its text; `unpack_chunks` takes both from the document."""
    rows = [[chunk.span.start, chunk.span.end, chunk.n_tokens, chunk.prefix] for chunk in chunks]
    return json.dumps(rows, ensure_ascii=False).encode("utf-8", "surrogatepass")


def unpack_chunks(document: Document, payload: bytes) -> list[Chunk]:
    """The packed chunks, under the current id of the document."""
    return [
        Chunk(
            chunk_id=f"{document.doc_id}#{index:06}",
            doc_id=document.doc_id,
            span=Span(start, end),
            body=document.text[start:end],
            prefix=prefix,
            n_tokens=n_tokens,
        )
        for index, (start, end, n_tokens, prefix) in enumerate(json.loads(payload.decode("utf-8", "surrogatepass")))
    ]


def unpack_spans(payload: bytes) -> list[list[int]]:
    """Start, end and tokens of each packed chunk; enough for callers that need no text."""
    return [row[:3] for row in json.loads(payload.decode("utf-8", "surrogatepass"))]
