"""Parsed documents, read back a few at a time.

Why a memory: four stages of every strategy read the whole corpus. Up to `_KEPT_CHARACTERS` it is unpacked once in a
process; a larger corpus is read from the store each time, and memory stays bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import Ref, ResultStore, in_step
from chunklab_core.parse.stored import unpack_document
from chunklab_core.records.documents import Document

_KEPT_CHARACTERS = 8_000_000


def document_entries(store: ResultStore, parsed: Ref) -> list[dict[str, Any]]:
    """What the parse stage kept of each document: id, digest, characters, tokens, warnings."""
    entries: list[dict[str, Any]] = unpack_json(store.read(parsed))["documents"]
    return entries


def stored_documents(
    store: ResultStore, doc_ids: Sequence[str], keys: Sequence[bytes]
) -> Iterator[tuple[Document, int]]:
    """Stored documents with their token counts, a few in memory at once."""
    for ids, part in in_step(doc_ids, keys):
        unpacked = _unpacked(store, part)
        for doc_id, key in zip(ids, part, strict=True):
            document, n_tokens = unpacked[key]
            yield replace(document, doc_id=doc_id), n_tokens


def _unpacked(store: ResultStore, keys: Sequence[bytes]) -> dict[bytes, tuple[Document, int]]:
    """Documents without an id and their token counts, by the key of their item."""
    memory = _memory()
    known = memory.get(keys)
    payloads = store.get_all_items("parse", [key for key in keys if key not in known])
    new = {key: unpack_document("", payload) for key, payload in payloads.items()}
    memory.keep(new)
    return {**known, **new}


class _Memory:
    """The documents that were read last, by the key of their item, which is that of their content."""

    def __init__(self) -> None:
        self._documents: dict[bytes, tuple[Document, int]] = {}
        self._n_characters = 0
        self._lock = threading.Lock()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[Document, int]]:
        """Those of the documents that are known."""
        return {key: known for key in keys if (known := self._documents.get(key))}

    def keep(self, documents: dict[bytes, tuple[Document, int]]) -> None:
        """Keeps documents, and forgets the oldest that are too many."""
        with self._lock:
            for key, (document, n_tokens) in documents.items():
                if key not in self._documents:
                    self._documents[key] = document, n_tokens
                    self._n_characters += len(document.text)
            while self._n_characters > _KEPT_CHARACTERS:
                oldest, _ = self._documents.pop(next(iter(self._documents)))
                self._n_characters -= len(oldest.text)


@cache
def _memory() -> _Memory:
    """One for the process, which all stages share."""
    return _Memory()
