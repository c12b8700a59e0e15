"""Parsed documents, read back a few at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import Ref, ResultStore, in_step
from chunklab_core.parse.stored import unpack_document
from chunklab_core.records.documents import Document


def document_entries(store: ResultStore, parsed: Ref) -> list[dict[str, Any]]:
    """What the parse stage kept of each document: id, digest, characters, tokens, warnings."""
    entries: list[dict[str, Any]] = unpack_json(store.read(parsed))["documents"]
    return entries


def stored_documents(
    store: ResultStore, doc_ids: Sequence[str], keys: Sequence[bytes]
) -> Iterator[tuple[Document, int]]:
    """Stored documents with their token counts, a few in memory at once."""
    for ids, part in in_step(doc_ids, keys):
        payloads = store.get_all_items("parse", part)
        yield from (unpack_document(doc_id, payloads[key]) for doc_id, key in zip(ids, part, strict=True))
