"""Stage 6, score: the chunks retrieved for one question -> QuestionScore; many of those -> the means of a cell."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.questions import Gold
from chunklab_core.records.scores import FuzzyFind, QuestionScore, TokenScore
from chunklab_core.score.gold import GoldFinds
from chunklab_core.score.mrr import first_hit_rank
from chunklab_core.score.token_level import GoldSlot, Stretch, token_level

METRICS: Mapping[str, str] = {
    "recall_at_k": "chunklab_core.score.recall:recall_at_k",
    "hit_rate_at_k": "chunklab_core.score.hit_rate:hit_at_k",
    "mrr": "chunklab_core.score.mrr:reciprocal_rank",
    "precision_at_k": "chunklab_core.score.precision:precision_at_k",
    "retrieved_tokens_at_k": "chunklab_core.score.tokens:retrieved_tokens",
    "context_efficiency": "chunklab_core.score.efficiency:context_efficiency",
    "ndcg_at_k": "chunklab_core.score.ndcg:ndcg_at_k",
    "map_at_k": "chunklab_core.score.average_precision:average_precision_at_k",
    "token_recall": "chunklab_core.score.token_level:token_recall",
    "token_precision": "chunklab_core.score.token_level:token_precision",
    "token_iou": "chunklab_core.score.token_level:token_iou",
}
"""Every metric, in the order of report.json: its name there, and the function that rates one answer.

A new metric is a file in this room and a line here. Its function takes any attributes of `Answer`, by their names. It
returns a share in [0, 1] (`float`) or counts something (`int`); report.json holds the mean over the scored questions.
"""


@dataclass(frozen=True, slots=True)
class QuestionGold:
    """The gold of one question in one strategy, whatever was retrieved.

    Attributes:
        n_relevant: how many chunks of the strategy hold any of its slots.
        slots: the places of the slots, in tokens of the documents.
    """

    n_relevant: int
    slots: Sequence[GoldSlot]


@dataclass(frozen=True, slots=True)
class Answer:
    """The top k chunks for one question, best first, and all that a metric may want to know about them.

    Attributes:
        k: the number of chunks a reader gets, at least 1; fewer may have come back.
        chunks: as many as came back, at most k.
        finds: the gold in these chunks.
        found: shape (chunks, slots): whether the chunk at a rank contains a slot.
        n_relevant: how many chunks of the strategy hold any slot, retrieved or not.
        in_tokens: the overlap of gold and retrieved text, in tokens of the documents.
        count_tokens: counts the tokens of a text.
    """

    k: int
    chunks: Sequence[Chunk]
    finds: GoldFinds
    found: NDArray[np.bool_]
    n_relevant: int
    in_tokens: TokenScore
    count_tokens: Callable[[str], int]


def score_question(
    question: Gold,
    chunks: Sequence[Chunk],
    finds: GoldFinds,
    k: int,
    *,
    gold: QuestionGold,
    spans: Sequence[Stretch],
    count_tokens: Callable[[str], int],
) -> QuestionScore:
    """Every metric of one question's ranked chunks; chunks below rank k have no effect.

    Args:
        question: has at least one slot.
        chunks: the whole ranking, best first.
        finds: `find_gold` of these chunks, row by row.
        k: the number of chunks a reader gets, at least 1.
        gold: of the same question and strategy.
        spans: the bodies of these chunks, in tokens of the documents.
        count_tokens: counts the gold within the retrieved text.

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
    answer = Answer(k, chunks, finds, finds.found, gold.n_relevant, in_tokens, count_tokens)
    return QuestionScore(
        question_id=question.question_id,
        metrics={name: _rate(name, answer) for name in METRICS},
        first_hit_rank=first_hit_rank(finds.found),
        found=tuple(bool(slot.any()) for slot in finds.found.T),
        fuzzy=_fuzzy_finds(finds, chunks),
    )


def mean_scores(scores: Sequence[QuestionScore]) -> dict[str, float]:
    """Every metric of a cell at one k: the plain mean over its scored questions, in which an empty result counts 0.

    Raises:
        ValueError: there is no scored question, so no mean is defined.
    """
    if not scores:
        raise ValueError("mean_scores: no scored question; a mean over none is undefined.")
    rows = np.array([[score.metrics[name] for name in METRICS] for score in scores], dtype=np.float64)
    return dict(zip(METRICS, rows.mean(axis=0).tolist(), strict=True))


def is_share(metric: str) -> bool:
    """Whether a metric is a share in [0, 1]; any other counts something."""
    function, _ = _metric(metric)
    return inspect.signature(function, eval_str=True).return_annotation is float


def _rate(metric: str, answer: Answer) -> float:
    function, parameters = _metric(metric)
    value: float = function(**{name: getattr(answer, name) for name in parameters})
    return value


@cache
def _metric(name: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """The function of a metric, and the names of its parameters."""
    module, _, function = METRICS[name].partition(":")
    metric = getattr(import_module(module), function)
    return metric, tuple(inspect.signature(metric).parameters)


def _fuzzy_finds(finds: GoldFinds, chunks: Sequence[Chunk]) -> tuple[FuzzyFind, ...]:
    """The nearest find of every slot in every chunk that has no exact copy of any wording, with the differing words."""
    nearest: dict[tuple[int, int], int] = {}
    for index, place in enumerate(finds.places):
        key = (place.row, place.slot)
        if key not in nearest or place.match.edits < finds.places[nearest[key]].match.edits:
            nearest[key] = index
    best = [finds.places[index] for index in nearest.values()]
    return tuple(
        FuzzyFind(place.slot, chunks[place.row].chunk_id, place.match.expected, place.match.found)
        for place in best
        if place.match.edits
    )
