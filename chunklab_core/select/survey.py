"""The survey beside the verdict: what changed recall, on which parts, at which price, and how stable the lead is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.records.survey import CellAxes, Strata, Survey
from chunklab_core.select.axes import axis_effects
from chunklab_core.select.breakdown import LENGTH_NAMES, gold_length_parts, recall_by_part
from chunklab_core.select.entrants import find_entrants
from chunklab_core.select.lambda_range import lambda_range
from chunklab_core.select.pareto import pareto_front
from chunklab_core.select.stability import stability
from chunklab_core.select.strata import strata


def survey(
    recall: ArrayLike,
    tokens: ArrayLike,
    cells: Sequence[CellAxes],
    *,
    tags: Sequence[Sequence[str]],
    documents: Sequence[Sequence[str]],
    gold_tokens: Sequence[int],
    groups: Sequence[str] | None = None,
    by_k: Mapping[int, ArrayLike] | None = None,
    in_play: Sequence[int] | None = None,
    balanced_lambda: float = 0.05,
    price_counts: bool = True,
    is_settled: bool = False,
    seed: int = 0,
) -> Survey:
    """The survey of these cells.

    Args:
        recall: shape (cells, questions).
        tokens: the same shape, retrieved tokens.
        cells: the position of each row on the axes.
        tags: the tags of each question.
        documents: the documents that hold the gold of each question, its own first; may be empty.
        gold_tokens: the tokens of each question's longest gold.
        groups: one label a question (see `near_duplicates.group_questions`); None: no question has a near-duplicate.
        by_k: recall at each other k, with the shape of `recall`.
        in_play: cells that the verdict did not rule out; None: all.
        balanced_lambda: the recall a cell pays for retrieving twice the fewest tokens.
        price_counts: whether cells are ranked by `balanced`, so that other prices are other views of the leader.
        is_settled: whether the verdict names a winner, so that no new questions are needed.
        seed: seed of all resamples and halvings.

    Raises:
        ValueError: shapes or numbers of labels do not fit.
    """
    entrants = find_entrants(recall, tokens)
    values = np.asarray(recall, dtype=np.float64)
    leader = entrants.members[0][0]
    own = [names[0] if names else "" for names in documents]
    rivals = [] if is_settled else [members[0] for members in entrants.members[1:2]]
    return Survey(
        axes=axis_effects(values, cells, groups, seed=seed),
        pareto=pareto_front(values, tokens),
        lambda_range=lambda_range(values, tokens, in_play, balanced_lambda),
        by_tag=recall_by_part(values, tags, groups, seed=seed),
        by_document=recall_by_part(values, documents, groups, seed=seed),
        by_gold_length=recall_by_part(values, gold_length_parts(gold_tokens), groups, order=LENGTH_NAMES, seed=seed),
        stability=stability(
            values,
            leader,
            tokens=tokens,
            cells=cells,
            by_k=by_k,
            documents=own,
            groups=groups,
            in_play=in_play,
            balanced_lambda=balanced_lambda if price_counts else None,
            seed=seed,
        ),
        strata=_strata(values, leader, rivals, {"tag": tags, "document": documents}, groups),
        question_groups=_of_several(() if groups is None else groups),
    )


def _strata(
    values: NDArray[np.float64],
    leader: int,
    rivals: Sequence[int],
    parts: Mapping[Literal["tag", "document"], Sequence[Sequence[str]]],
    groups: Sequence[str] | None,
) -> tuple[Strata[int], ...]:
    """The strata for leader and runner-up; empty without a runner-up, or with a single part."""
    several = {by: names for by, names in parts.items() if len({name for each in names for name in each}) > 1}
    return tuple(
        strata(values, leader, rival, names, groups, by=by) for rival in rivals for by, names in several.items()
    )


def _of_several(groups: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    members: dict[str, list[int]] = defaultdict(list)
    for question, label in enumerate(groups):
        members[label].append(question)
    return tuple(tuple(questions) for questions in members.values() if len(questions) > 1)
