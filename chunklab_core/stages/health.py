"""Stage health: what the chunks of one strategy are like, before any retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from chunklab_core.cache.formats import pack_json
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.chunk.health import document_health, summarize
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.stage import Made, Progress, Stage
from chunklab_core.stages.vectors import read_embedded


def health(
    store: ResultStore,
    progress: Progress,
    *,
    chunks: Ref,
    embedded: Sequence[Ref],
    min_floor_tokens: int,
    max_tokens: int | None,
    heading_path: bool,
) -> Made:
    """The health of all chunks together; oversized shares by the digest of the model."""
    table = ChunkTable(store, chunks)
    models = [read_embedded(store, ref) for ref in embedded]
    pieces = {model.digest: (model.pieces.astype(np.int64), model.max_length) for model in models}
    parts, first = [], 0
    for document, of_document in table.documents():
        last = first + len(of_document)
        part = document_health(
            document,
            of_document,
            min_floor_tokens=min_floor_tokens,
            max_tokens=max_tokens,
            heading_path=heading_path,
            pieces={model: (counts[first:last], limit) for model, (counts, limit) in pieces.items()},
        )
        parts.append(part)
        first = last
        progress(len(parts), len(table.doc_ids) + 1)
    return pack_json(asdict(summarize("", parts))), None


STAGE = Stage(
    health,
    "What the chunks of one strategy are like, before any retrieval.",
    inputs=("chunks", "embedded"),
    libraries=("numpy",),
    in_report=True,
)
