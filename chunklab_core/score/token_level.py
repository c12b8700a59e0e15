"""Token level: how much of the gold was retrieved, and how much else, token by token.

Why: recall counts a slot only where one chunk holds all of it. A gold that two retrieved chunks hold between them is
lost to recall, yet the reader has it; and no figure of chunks shows how much was read to get it.

Everything is measured over spans of the documents, in the tokens of the documents. Prefixes are not part of a
document, so they neither count nor cost here (`context_efficiency` counts them).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.scores import TokenScore


class Stretch(NamedTuple):
    """A range of a document, in tokens from its beginning (see `token_positions`); `document` is any key of it."""

    document: int | str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class GoldSlot:
    """The places of a slot.

    Attributes:
        places: every occurrence of every wording in the documents in which the gold counts, by wording as listed,
            then by document and place.
        n_tokens: of the first wording as typed: the weight of the slot where it is in no document.
    """

    places: Sequence[Stretch]
    n_tokens: float


def token_positions(offsets: NDArray[np.int64], characters: NDArray[np.int64]) -> NDArray[np.float64]:
    """Places of a document's text, counted in its tokens instead of its characters.

    A token that a place cuts counts by the share of its characters before the place. So ranges that touch share no
    token, the parts of a range add up to the whole, and every range of text counts, wherever its edges are.

    Args:
        offsets: shape (tokens + 1,), the character in which each token begins, then the length of the text, as
            `chunklab_core.tokens.TokenizedText` has them.
        characters: places in the text, of any shape.

    Returns:
        The same shape, float64, rising with the place from 0 to the number of tokens.
    """
    after = offsets.searchsorted(characters)  # tokens that begin before the place
    last = np.maximum(after - 1, 0)
    begin, end = offsets[last], offsets[after]
    share = (characters - begin) / np.maximum(end - begin, 1)
    return np.where(after > 0, last + share, 0.0)


def token_level(slots: Sequence[GoldSlot], retrieved: Sequence[Stretch]) -> TokenScore:
    """Recall, precision and intersection over union of the gold's tokens and the retrieved ones.

    With E the tokens of the gold, each once, and R the retrieved ones: recall = |E and R| / |E|,
    precision = |E and R| / |R|, IoU = |E and R| / (|E| + |R| - |E and R|). A token found twice is found once, but
    |R| counts it as often as it was retrieved: what chunks repeat is read twice.

    A slot with several places (interchangeable wordings, or a text that occurs more than once) counts as one place: the
    one with the largest retrieved share, the first listed among equals. Any of them is the answer, so a slot that a
    retrieved chunk's body holds is always found in full, and the order of its wordings changes nothing. Slots that
    overlap count as their union. A slot that is in no document adds its own tokens to |E|; none of them can be found.

    Args:
        slots: at least one.
        retrieved: the spans of the retrieved chunks, in any order.

    Returns:
        Fractions in [0, 1]; all 0.0 when nothing was retrieved.

    Raises:
        ValueError: the question has no gold, so no figure is defined.

    Source: Smith and Troynikov, Evaluating Chunking Strategies for Retrieval (2024), section Metrics; the choice among
    places is ours; theirs has one place for each excerpt.
    """
    if not slots:
        raise ValueError("token_level: no slots. Leave out questions without gold before scoring.")
    cover = _united(retrieved)
    chosen = [_best_place(slot.places, cover) for slot in slots if slot.places]
    gold = _united(chosen)
    n_gold = _length(gold) + sum(slot.n_tokens for slot in slots if not slot.places)
    both = sum(_covered(place, cover) for ranges in gold.values() for place in ranges)
    n_retrieved = sum(span.end - span.start for span in retrieved)
    if not n_retrieved or not n_gold:
        return TokenScore(0.0, 0.0, 0.0)
    return TokenScore(
        recall=min(both / n_gold, 1.0),
        precision=min(both / n_retrieved, 1.0),
        iou=min(both / (n_gold + n_retrieved - both), 1.0),
    )


def token_recall(in_tokens: TokenScore) -> float:
    """Share of the gold's tokens that were retrieved."""
    return in_tokens.recall


def token_precision(in_tokens: TokenScore) -> float:
    """Share of the retrieved tokens that are gold."""
    return in_tokens.precision


def token_iou(in_tokens: TokenScore) -> float:
    """Tokens of the gold that were retrieved, over all tokens of the gold or of what was retrieved."""
    return in_tokens.iou


_Cover = dict[int | str, list[Stretch]]


def _united(stretches: Iterable[Stretch]) -> _Cover:
    """By document, the union of stretches: apart from each other, in order."""
    united: _Cover = {}
    for stretch in sorted(stretches, key=lambda stretch: stretch.start):
        ranges = united.setdefault(stretch.document, [])
        if ranges and stretch.start <= ranges[-1].end:
            ranges[-1] = ranges[-1]._replace(end=max(ranges[-1].end, stretch.end))
        else:
            ranges.append(stretch)
    return united


def _best_place(places: Sequence[Stretch], cover: _Cover) -> Stretch:
    """The place with the largest covered share; the first one among equals."""
    reached = [place for place in places if place.document in cover]
    best, best_share = places[0], 0.0
    for place in reached:
        share = _covered(place, cover) / (place.end - place.start)
        if share > best_share:
            best, best_share = place, share
    return best


def _covered(place: Stretch, cover: _Cover) -> float:
    ranges = cover.get(place.document, ())
    return sum(max(min(place.end, span.end) - max(place.start, span.start), 0.0) for span in ranges)


def _length(cover: _Cover) -> float:
    return sum(span.end - span.start for ranges in cover.values() for span in ranges)
