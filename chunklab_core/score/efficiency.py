"""Context efficiency: the share of the retrieved text that is answer.

Why: recall rewards a chunk for being large; this figure shows what the size cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from chunklab_core.records.chunks import Chunk
from chunklab_core.score.gold import GoldFinds, Place
from chunklab_core.score.tokens import retrieved_tokens

_Range = tuple[int, int]


def context_efficiency(finds: GoldFinds, chunks: Sequence[Chunk], count_tokens: Callable[[str], int]) -> float:
    """Tokens of the found gold within the retrieved text, over the tokens retrieved.

    A slot counts once: its first listed wording that was found, in the first chunk that holds it. Golds that overlap
    count as their union, in one chunk or in characters of a document that two chunks share.

    Returns:
        A fraction in [0, 1]; 0.0 when nothing was retrieved.
    """
    total = retrieved_tokens(chunks)
    if total == 0:
        return 0.0
    seen: dict[str, list[_Range]] = {}  # by document, in its own characters
    gold = 0
    for row, places in groupby(_counted(finds), key=lambda place: place.row):
        chunk = chunks[row]
        shift = len(chunk.text) - len(chunk.body) - chunk.span.start
        before = [(start + shift, end + shift) for start, end in seen.get(chunk.doc_id, [])]
        ranges = _without(_union([(place.match.start, place.match.end) for place in places]), before)
        gold += min(sum(count_tokens(chunk.text[start:end]) for start, end in ranges), chunk.n_tokens)
        bodies = [(max(start - shift, chunk.span.start), end - shift) for start, end in ranges]
        seen.setdefault(chunk.doc_id, []).extend((start, end) for start, end in bodies if start < end)
    return gold / total


def _counted(finds: GoldFinds) -> list[Place]:
    """The one place that counts for each slot found, in the order of chunks."""
    first: dict[int, Place] = {}
    for place in sorted(finds.places, key=lambda place: (place.wording, place.row)):
        first.setdefault(place.slot, place)
    return sorted(first.values(), key=lambda place: place.row)


def _union(ranges: Sequence[_Range]) -> list[_Range]:
    merged: list[_Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _without(ranges: Sequence[_Range], taken: Sequence[_Range]) -> list[_Range]:
    left = list(ranges)
    for low, high in taken:
        parts = ((start, min(end, low)) for start, end in left), ((max(start, high), end) for start, end in left)
        left = sorted((start, end) for part in parts for start, end in part if start < end)
    return left
