"""Stage 6, score: the chunks retrieved for one question -> QuestionScore; many of those -> the figures of a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.questions import Question
from chunklab_core.records.scores import FuzzyFind, MetricsAtK, QuestionScore
from chunklab_core.score.average_precision import average_precision_at_k
from chunklab_core.score.efficiency import context_efficiency
from chunklab_core.score.gold import GoldFinds
from chunklab_core.score.hit_rate import hit_at_k
from chunklab_core.score.mrr import first_hit_rank, reciprocal_rank
from chunklab_core.score.ndcg import ndcg_at_k
from chunklab_core.score.precision import precision_at_k
from chunklab_core.score.recall import recall_at_k
from chunklab_core.score.token_level import GoldSlot, Stretch, token_level
from chunklab_core.score.tokens import retrieved_tokens

_AVERAGED = attrgetter(  # in the order of the fields of MetricsAtK
    "recall",
    "hit",
    "reciprocal_rank",
    "precision",
    "retrieved_tokens",
    "context_efficiency",
    "ndcg",
    "average_precision",
    "token_recall",
    "token_precision",
    "token_iou",
)


@dataclass(frozen=True, slots=True)
class QuestionGold:
    """What one question's ranking is held against, whatever was retrieved.

    Attributes:
        n_relevant: how many chunks of the strategy hold any of its slots.
        slots: where the slots stand, in tokens of the documents.
    """

    n_relevant: int
    slots: Sequence[GoldSlot]


def score_question(
    question: Question,
    chunks: Sequence[Chunk],
    finds: GoldFinds,
    k: int,
    *,
    gold: QuestionGold,
    spans: Sequence[Stretch],
    count_tokens: Callable[[str], int],
) -> QuestionScore:
    """One question's figures from its ranked chunks; what stands below rank k is without effect.

    Args:
        question: a question with at least one slot.
        chunks: the ranking, best first, as long as it came back.
        finds: `find_gold` of these chunks, row by row.
        k: the number of chunks a reader gets, at least 1.
        gold: of the same question and strategy.
        spans: the bodies of these chunks, in tokens of the documents.
        count_tokens: how gold within the retrieved text is counted.

    Raises:
        ValueError: k is below 1, the finds are those of another ranking, or the question has no gold.
    """
    if k < 1 or finds.found.shape != (len(chunks), len(question.slots)):
        raise ValueError(
            f"score_question: k is {k}, found has shape {finds.found.shape}; expected k of 1 or more "
            f"and shape ({len(chunks)}, {len(question.slots)}), one row a chunk and one column a slot."
        )
    chunks, finds = chunks[:k], finds.take(range(min(k, len(chunks))))
    in_tokens = token_level(gold.slots, spans[:k])
    return QuestionScore(
        question_id=question.question_id,
        recall=recall_at_k(finds.found),
        hit=hit_at_k(finds.found),
        reciprocal_rank=reciprocal_rank(finds.found),
        precision=precision_at_k(finds.found, k),
        retrieved_tokens=retrieved_tokens(chunks),
        context_efficiency=context_efficiency(finds, chunks, count_tokens),
        ndcg=ndcg_at_k(finds.found, k, gold.n_relevant),
        average_precision=average_precision_at_k(finds.found, gold.n_relevant),
        token_recall=in_tokens.recall,
        token_precision=in_tokens.precision,
        token_iou=in_tokens.iou,
        first_hit_rank=first_hit_rank(finds.found),
        found=tuple(bool(slot.any()) for slot in finds.found.T),
        fuzzy=_fuzzy_finds(finds, chunks),
    )


def mean_scores(scores: Sequence[QuestionScore], k: int) -> MetricsAtK:
    """The figures of a cell at one k: plain means over its scored questions, in which an empty result counts 0.

    Raises:
        ValueError: there is no scored question, so no mean is defined.
    """
    if not scores:
        raise ValueError("mean_scores: no scored question; a mean over none is undefined.")
    rows = np.array([_AVERAGED(score) for score in scores], dtype=np.float64)
    return MetricsAtK(k, *rows.mean(axis=0).tolist())


def _fuzzy_finds(finds: GoldFinds, chunks: Sequence[Chunk]) -> tuple[FuzzyFind, ...]:
    """For every slot and chunk that has no exact copy of any wording: the nearest find, with the words that differ."""
    nearest: dict[tuple[int, int], int] = {}
    for at, place in enumerate(finds.places):
        key = (place.row, place.slot)
        if key not in nearest or place.match.edits < finds.places[nearest[key]].match.edits:
            nearest[key] = at
    best = [finds.places[at] for at in nearest.values()]
    return tuple(
        FuzzyFind(place.slot, chunks[place.row].chunk_id, place.match.expected, place.match.found)
        for place in best
        if place.match.edits
    )
