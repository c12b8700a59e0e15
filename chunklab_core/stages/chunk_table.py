"""The chunks that a strategy made, read back a few documents at a time.

Why here: the text of a chunk is in the item of its document and its place in the item of its chunks, so reading a
chunk needs two rooms, and every later stage reads chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.formats import text_of_array, unpack_arrays
from chunklab_core.cache.protocol import READ_TOGETHER, Ref, ResultStore, in_step
from chunklab_core.chunk.stored import unpack_chunks
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document
from chunklab_core.stages.documents import document_entries, stored_documents


class ChunkTable:
    """The chunks of one strategy over a corpus: numbers in memory, texts read on demand.

    Attributes:
        table: shape (chunks, 4), int64: index of the document, start, end, tokens; in order of document and place.
        doc_ids: ids of the documents, by index.
    """

    def __init__(self, store: ResultStore, chunks: Ref) -> None:
        arrays = unpack_arrays(store.read(chunks))
        self._store = store
        self.table: NDArray[np.int64] = arrays["table"]
        documents = Ref(text_of_array(arrays["documents"]))
        self.doc_ids: list[str] = [entry["id"] for entry in document_entries(store, documents)]
        self._parsed_keys = store.items_of(documents)
        self._chunk_keys = store.items_of(chunks)
        self._first_row = np.searchsorted(self.table[:, 0], np.arange(len(self.doc_ids)))
        self._document = lru_cache(maxsize=READ_TOGETHER)(self._read_document)

    def documents(self) -> Iterator[tuple[Document, list[Chunk]]]:
        """Every document with its chunks, a few in memory at once."""
        for indices in in_step(range(len(self.doc_ids))):
            yield from self._read(indices[0])

    def texts(self) -> Iterator[str]:
        """The text of every chunk, in the order of the table."""
        return (chunk.text for _, chunks in self.documents() for chunk in chunks)

    def chunk(self, row: int) -> Chunk:
        """One chunk, by its row in the table."""
        index = int(self.table[row, 0])
        return self._document(index)[1][row - int(self._first_row[index])]

    def chunk_id(self, row: int) -> str:
        """The id of a chunk, by its row in the table."""
        index = int(self.table[row, 0])
        return f"{self.doc_ids[index]}#{row - int(self._first_row[index]):06}"

    def _read_document(self, index: int) -> tuple[Document, list[Chunk]]:
        return next(self._read([index]))

    def _read(self, indices: Sequence[int]) -> Iterator[tuple[Document, list[Chunk]]]:
        chunks = self._store.get_all_items("chunk", [self._chunk_keys[index] for index in indices])
        ids, keys = [self.doc_ids[index] for index in indices], [self._parsed_keys[index] for index in indices]
        for index, (document, _) in zip(indices, stored_documents(self._store, ids, keys), strict=True):
            yield document, unpack_chunks(document, chunks[self._chunk_keys[index]])
