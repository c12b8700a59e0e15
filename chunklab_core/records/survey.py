"""The survey beside the verdict. Cells are positions in the scores.

An interval is (low, high), 95 %; it is None for fewer than two groups of questions, which show no spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Interval = tuple[float, float]
AxisName = Literal["strategy", "retriever", "model", "reranker"]


@dataclass(frozen=True, slots=True)
class CellAxes:
    """The position of a cell on the axes; None for a model or a reranker that it does not use."""

    strategy: str
    retriever: str
    model: str | None = None
    reranker: str | None = None


@dataclass(frozen=True, slots=True)
class AxisLevel:
    """One value of an axis.

    Attributes:
        level: its name; "none" for a cell without reranker.
        recall: mean over the cells that have it.
        effect: recall above the other values of the axis, with everything else equal.
        ci95: interval of the effect.
        comparisons: how many combinations of the other axes it averages; with 0 the effect is None.
    """

    level: str
    recall: float
    effect: float | None
    ci95: Interval | None
    comparisons: int


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """The effect of an axis.

    Attributes:
        levels: best effect first.
        moved: recall of the best level above the worst, with everything else equal; None if they never meet.
        ci95: interval of `moved`. Best and worst were picked, so it is too narrow with many levels.
        share_of_variance: share of the variance between the means of the cells; None if the grid of cells has holes,
            or if all means are equal.
    """

    axis: AxisName
    levels: tuple[AxisLevel, ...]
    moved: float | None
    ci95: Interval | None
    share_of_variance: float | None


@dataclass(frozen=True, slots=True)
class AxisEffects:
    """All axes with two levels or more, largest effect first; `interplay` is the share of variance that none has."""

    axes: tuple[AxisEffect, ...]
    interplay: float | None


@dataclass(frozen=True, slots=True)
class Dominated:
    """A cell that another one, `by`, beats: at least as much recall for no more tokens, and better in one of them."""

    cell: int
    by: int


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """The cells that are not dominated, fewest tokens first, and those that are; a cell without tokens is in neither."""

    front: tuple[int, ...]
    dominated: tuple[Dominated, ...]


@dataclass(frozen=True, slots=True)
class LambdaPlace:
    """A cell that is first by `balanced_in_play` from price `low` to `high`; None: at any higher price."""

    cell: int
    low: float
    high: float | None


@dataclass(frozen=True, slots=True)
class LambdaRange:
    """The range of prices over which the first place holds.

    Attributes:
        first: the first cell at the given price, and its range.
        below: the first cell at a lower price; None if the range begins at 0.
        above: the first cell at a higher price; None if the range has no end.
        places: all first places, by rising price from 0.
    """

    first: LambdaPlace
    below: int | None
    above: int | None
    places: tuple[LambdaPlace, ...]


@dataclass(frozen=True, slots=True)
class PartRecall:
    """A cell's recall on a part of the questions: `n` of them, in `n_groups` that do not move together."""

    part: str
    n: int
    n_groups: int
    recall: float
    ci95: Interval | None
    ci95_wilson: Interval | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Recall part by part: `cells` holds the parts of each cell, in one order."""

    cells: tuple[tuple[PartRecall, ...], ...]


@dataclass(frozen=True, slots=True)
class StabilityView:
    """Another view of the same answers: its leader, and whether the verdict's leader leads it, alone or with others."""

    kind: Literal["k", "model", "documents", "questions", "lambda"]
    name: str
    leader: int
    holds: bool


@dataclass(frozen=True, slots=True)
class Stability:
    """The views of the answers, and in how many of them the leader leads."""

    leader: int
    n_held: int
    views: tuple[StabilityView, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the questions, and how well it separates two cells.

    Attributes:
        n_groups: number of groups of questions that do not move together.
        weight: its share of today's questions; the weights of overlapping parts add up to 1, too.
        gap: recall of the leader above the rival.
        sd: spread of that gap between questions, as the allocation uses it; None with one group in all.
        share: share of new questions to write for this part; None if sd is, or if the cells never differ.
    """

    part: str
    n_groups: int
    weight: float
    gap: float
    sd: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Strata:
    """The parts in which new questions would separate two cells soonest, highest share first.

    Attributes:
        needed: questions in all for an 80 % chance of separating them, in today's mix; None: no realistic number.
        needed_by_share: the same with new questions by `share`, weighted by `weight`; None, too, if parts overlap.
    """

    by: Literal["tag", "document"]
    leader: int
    rival: int
    strata: tuple[Stratum, ...]
    needed: int | None
    needed_by_share: int | None


@dataclass(frozen=True, slots=True)
class Survey:
    """The survey of one evaluation.

    Attributes:
        lambda_range: range of the first place by `balanced_in_play`.
        question_groups: positions of near-duplicate questions, group by group; other questions are left out.
    """

    axes: AxisEffects
    pareto: ParetoFront
    lambda_range: LambdaRange
    by_tag: Breakdown
    by_document: Breakdown
    by_gold_length: Breakdown
    stability: Stability
    strata: tuple[Strata, ...]
    question_groups: tuple[tuple[int, ...], ...]
