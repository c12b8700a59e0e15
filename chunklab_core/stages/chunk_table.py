"""The chunks that a strategy made, read back a few documents at a time.

Why here: a chunk's text lies in the item of its document and its place in the item of its chunks, so reading one
needs both rooms, and every later stage reads chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.formats import text_of_array, unpack_arrays
from chunklab_core.cache.protocol import READ_TOGETHER, Ref
from chunklab_core.cache.store import Store
from chunklab_core.chunk.stored import unpack_chunks
from chunklab_core.parse.stored import document_entries, unpack_document
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document


class ChunkTable:
    """The chunks of one strategy over a corpus: numbers at hand, texts read when they are asked for.

    Attributes:
        table: shape (chunks, 4), int64: index of the document, start, end, tokens; in order of document and place.
        doc_ids: ids of the documents, by index.
    """

    def __init__(self, store: Store, chunks: Ref) -> None:
        arrays = unpack_arrays(store.read(chunks))
        self._store = store
        self.table: NDArray[np.int64] = arrays["table"]
        self.documents = Ref(text_of_array(arrays["documents"]))
        self.doc_ids: list[str] = [entry["id"] for entry in document_entries(store, self.documents)]
        self._parsed_keys = store.items_of(self.documents)
        self._chunk_keys = store.items_of(chunks)
        self._first_row = np.searchsorted(self.table[:, 0], np.arange(len(self.doc_ids)))
        self._of_document = lru_cache(maxsize=READ_TOGETHER)(self._read_document)

    def of_documents(self) -> Iterator[tuple[Document, list[Chunk]]]:
        """Every document with its chunks, a few in memory at once."""
        for at in range(0, len(self.doc_ids), READ_TOGETHER):
            indices = range(at, min(at + READ_TOGETHER, len(self.doc_ids)))
            parsed = self._store.get_all_items("parse", [self._parsed_keys[index] for index in indices])
            chunks = self._store.get_all_items("chunk", [self._chunk_keys[index] for index in indices])
            for index in indices:
                document = unpack_document(self.doc_ids[index], parsed[self._parsed_keys[index]])[0]
                yield document, unpack_chunks(document, chunks[self._chunk_keys[index]])

    def texts(self) -> Iterator[str]:
        """The text of every chunk, in the order of the table."""
        return (chunk.text for _, chunks in self.of_documents() for chunk in chunks)

    def at(self, row: int) -> tuple[Document, Chunk]:
        """One chunk with its document, by its row in the table."""
        index = int(self.table[row, 0])
        document, chunks = self._of_document(index)
        return document, chunks[row - int(self._first_row[index])]

    def chunk_id(self, row: int) -> str:
        """A chunk's id, by its row in the table."""
        index = int(self.table[row, 0])
        return f"{self.doc_ids[index]}#{row - int(self._first_row[index]):06}"

    def _read_document(self, index: int) -> tuple[Document, list[Chunk]]:
        parsed_key, chunk_key = self._parsed_keys[index], self._chunk_keys[index]
        payload = self._store.get_all_items("parse", [parsed_key])[parsed_key]
        document = unpack_document(self.doc_ids[index], payload)[0]
        return document, unpack_chunks(document, self._store.get_all_items("chunk", [chunk_key])[chunk_key])
