"""Stage 5, retrieve: index and questions -> one Ranking for each question. The table of retrievers.

All retrievers return rankings of positions in the list of chunks, best first. Ties are decided by the earlier position,
that is by (document, position). Only candidates are listed: a chunk without a score is left out.

Each search scores all chunks before its cut, so a filter of chunks belongs there: before the cut of each leg. The
fusion sees only the rankings of the legs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retriever:
    """One retriever: a module with a function `rank`, and what that function takes.

    Attributes:
        module: holds `rank(index, questions, *, depth, ...) -> list[Ranking]`, or for a fusion `rank(legs, *, ...)`.
        index: which of `chunklab_core.index.INDEXES` it searches; None for a fusion.
        legs: the retrievers whose rankings a fusion reads.
        settings: the settings under `retrieval` that `rank` takes, each by the last part of its name.
    """

    module: str
    index: str | None = None
    legs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


RETRIEVERS = {
    "dense": Retriever("chunklab_core.retrieve.dense", index="vectors"),
    "bm25": Retriever("chunklab_core.retrieve.bm25", index="words", settings=("bm25.k1", "bm25.b")),
    "hybrid": Retriever("chunklab_core.retrieve.hybrid", legs=("dense", "bm25"), settings=("rrf_k", "candidates")),
}


def legs_of(retriever: str) -> tuple[str, ...]:
    """The single searches behind a retriever: its legs, or itself."""
    return RETRIEVERS[retriever].legs or (retriever,)


def needs_vectors(retriever: str) -> bool:
    """Whether a retriever, or one of its legs, searches vectors, so that it needs an embedding model."""
    return any(RETRIEVERS[leg].index == "vectors" for leg in legs_of(retriever))
