"""Retrieved tokens: the context that a reader, or a model, must pay for.

Why: a chunker that returns whole documents finds everything; only its price separates it from a good one.
"""

from __future__ import annotations

from collections.abc import Sequence

from chunklab_core.records.chunks import Chunk


def retrieved_tokens(chunks: Sequence[Chunk]) -> int:
    """cl100k_base tokens of these chunks together, with prefixes; text that two chunks share counts twice."""
    return sum(chunk.n_tokens for chunk in chunks)
