"""How much of the gold an answer holds, and where the rest was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from chunklab_core.records.marks import Count, Name, Share


@dataclass(frozen=True, slots=True)
class FuzzyFind:
    """A slot that was found with edits: the wording typed, and the words that differ."""

    slot: Count
    chunk_id: Name
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """One question under one cell at one k.

    Attributes:
        metrics: by the names in `chunklab_core.score.METRICS`.
        first_hit_rank: rank (from 1) of the first chunk that contains a slot; None where no chunk does.
        found: per slot, whether any of the k chunks contains it.
    """

    question_id: str
    metrics: Mapping[str, float]
    first_hit_rank: int | None
    found: tuple[bool, ...]
    fuzzy: tuple[FuzzyFind, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenScore:
    """One question's figures in tokens of the documents instead of slots. Fractions in [0, 1]."""

    recall: float
    precision: float
    iou: float


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The best figures that the chunker allows, for one question or in the mean.

    No ranking of the strategy's chunks exceeds `recall` and `precision` at the same k. `token_precision` is that of the
    cheapest chunks that hold all gold which any chunk holds; a ranking that holds less gold may exceed it.
    """

    recall: Share
    precision: Share
    token_precision: Share


LossPart = Literal["parse", "cut", "truncated", "candidates", "rerank", "fusion", "below_k"]


@dataclass(frozen=True, slots=True)
class LostSlots:
    """A question that misses gold: for every slot, in their order, where it was lost; None where it was found."""

    question_id: str
    parts: tuple[LossPart | None, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """Where a cell lost the gold that it did not return.

    Attributes:
        shares: every part with its share of the recall, in the order in which they are checked; together 1 - recall.
        questions: those with a missing slot, in the order of the questions.
    """

    shares: tuple[tuple[LossPart, float], ...]
    questions: tuple[LostSlots, ...]
