"""Chunk health: what a strategy's chunks are like, before anything is searched.

Why: a strategy can lose before the first question: by fragments too small to answer anything, by tails that the model
never reads, or by tables cut between a row and the names of its columns.

docs/metrics.md has the definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from chunklab_core.chunk.prefix import Paths, path_shortened
from chunklab_core.chunk.sentences import begins_sentence
from chunklab_core.records.chunks import NO_MODEL, Chunk, Health
from chunklab_core.records.documents import Document

Pieces = Mapping[str, tuple[Sequence[int] | NDArray[np.int64], int | None]]
"""The cost of each chunk in a model's own tokens, and how many tokens the model reads (None: all), by model."""


@dataclass(frozen=True, slots=True)
class DocumentHealth:
    """The part of a strategy's health that comes from one document: counts, so that a run can add them up.

    `oversized` counts the chunks above the declared maximum or above the model's own limit, by model.
    """

    n_tokens: tuple[int, ...]
    tiny: int
    oversized: tuple[tuple[str, int], ...]
    whole_sentences: int
    tables: int
    tables_intact: int
    lost_characters: int
    path_shortened: int


def document_health(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    min_floor_tokens: int,
    max_tokens: int | None,
    heading_path: bool = False,
    pieces: Pieces | None = None,
) -> DocumentHealth:
    """The part that comes from one document and its chunks, in order.

    Args:
        min_floor_tokens: chunks that cost less are tiny.
        heading_path: whether the strategy puts the heading path into the prefix.
        pieces: for these chunks; without models only `max_tokens` counts.
    """
    text = document.text
    n_tokens = tuple(chunk.n_tokens for chunk in chunks)
    tables = [element.span for element in document.elements if element.kind == "table"]
    paths = Paths(document) if heading_path else None
    return DocumentHealth(
        n_tokens=n_tokens,
        tiny=sum(count < min_floor_tokens for count in n_tokens),
        oversized=tuple(_oversized(n_tokens, max_tokens, pieces or {NO_MODEL: ((), None)})),
        whole_sentences=sum(_is_whole(text, chunk) for chunk in chunks),
        tables=len(tables),
        tables_intact=sum(_lies_in_one(text, table.start, table.end, chunks) for table in tables),
        lost_characters=sum(len("".join(gap.split())) for gap in _gaps(text, chunks)),
        path_shortened=sum(path_shortened(document, chunk, paths) for chunk in chunks) if paths else 0,
    )


def summarize(strategy: str, parts: Iterable[DocumentHealth]) -> Health:
    """The health of a strategy over all its documents. A share of nothing is None."""
    parts = list(parts)
    counts = list(chain.from_iterable(part.n_tokens for part in parts))
    models = dict.fromkeys(model for part in parts for model, _ in part.oversized)
    oversized = {model: sum(dict(part.oversized).get(model, 0) for part in parts) for model in models}
    n_tables = sum(part.tables for part in parts)
    return Health(
        strategy=strategy,
        n_chunks=len(counts),
        median_tokens=float(np.median(counts)) if counts else None,
        pct_tiny=_share(sum(part.tiny for part in parts), len(counts)),
        pct_oversized={model: _share(count, len(counts)) for model, count in oversized.items()},
        boundary=_share(sum(part.whole_sentences for part in parts), len(counts)),
        tables_intact=_share(sum(part.tables_intact for part in parts), n_tables),
        lost_characters=sum(part.lost_characters for part in parts),
        path_shortened=sum(part.path_shortened for part in parts),
    )


def _share(count: int, total: int) -> float | None:
    return count / total if total else None


def _oversized(n_tokens: Sequence[int], max_tokens: int | None, pieces: Pieces) -> Iterable[tuple[str, int]]:
    """How many chunks are above the declared maximum (cl100k_base tokens) or a model's limit (own tokens), by model."""
    above = np.asarray(n_tokens, dtype=np.int64) > (np.inf if max_tokens is None else max_tokens)
    for model, (counts, limit) in pieces.items():
        if limit is None:
            yield model, int(above.sum())
        else:
            yield model, int((above | (np.asarray(counts, dtype=np.int64) > limit)).sum())


def _is_whole(text: str, chunk: Chunk) -> bool:
    """Whether a chunk starts and ends between sentences of its document."""
    return begins_sentence(text, chunk.span.start) and begins_sentence(text, chunk.span.end)


def _lies_in_one(text: str, start: int, end: int, chunks: Sequence[Chunk]) -> bool:
    """Whether the body of a single chunk holds the span, without the white space around it."""
    block = text[start:end]
    end = start + len(block.rstrip())
    start += len(block) - len(block.lstrip())
    return any(chunk.span.start <= start and end <= chunk.span.end for chunk in chunks)


def _gaps(text: str, chunks: Sequence[Chunk]) -> Iterable[str]:
    """The parts of the text that are in no chunk's body."""
    covered = 0
    for chunk in chunks:
        if chunk.span.start > covered:
            yield text[covered : chunk.span.start]
        covered = max(covered, chunk.span.end)
    yield text[covered:]
