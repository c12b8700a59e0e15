"""A parsed document as bytes and back, without pickle: the form in which the cache stores it."""

from __future__ import annotations

import json
import zlib
from typing import cast

from chunklab_core.records.documents import Document, Element, ElementKind, Note, Span

_LEVEL = 1  # fastest: text shrinks to a third at 200 MB/s, more effort gains little


def pack_document(document: Document, n_tokens: int) -> bytes:
    """A document with its token count, without its id, which comes from the file's name and not from its content."""
    elements = [[e.kind, e.span.start, e.span.end, list(e.path), e.level] for e in document.elements]
    content = {
        "text": document.text,
        "n_tokens": n_tokens,
        "elements": elements,
        "warnings": [[note.code, note.arguments] for note in document.warnings],
    }
    return zlib.compress(json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass"), _LEVEL)


def unpack_document(doc_id: str, payload: bytes) -> tuple[Document, int]:
    """The packed document, under the current name of its file, and its token count."""
    content = json.loads(zlib.decompress(payload).decode("utf-8", "surrogatepass"))
    elements = tuple(
        Element(cast(ElementKind, kind), Span(start, end), tuple(path), level)
        for kind, start, end, path, level in content["elements"]
    )
    warnings = tuple(Note(code, arguments) for code, arguments in content["warnings"])
    return Document(doc_id, content["text"], elements, warnings), content["n_tokens"]
