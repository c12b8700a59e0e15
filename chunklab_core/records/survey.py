"""What stands around the verdict. Cells are positions in the scores.

An interval is (low, high), 95 %; it is None where fewer than two groups of questions tell no spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Interval = tuple[float, float]
AxisName = Literal["strategy", "retriever", "model", "reranker"]


@dataclass(frozen=True, slots=True)
class CellAxes:
    """Where a cell lies on the axes; a cell that uses no model, or no reranker, has None there."""

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
        effect: recall above the other values of the axis, everything else being equal.
        ci95: of the effect.
        comparisons: how many combinations of the other axes it rests on; 0: none, and the effect is None.
    """

    level: str
    recall: float
    effect: float | None
    ci95: Interval | None
    comparisons: int


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """What an axis did.

    Attributes:
        levels: best effect first.
        moved: recall of the best level above the worst, everything else being equal; None where they never meet.
        ci95: of `moved`. Best and worst were picked, so it is too hopeful where there are many levels.
        share_of_variance: of the variance between the means of the cells; None where the grid of cells has holes, or
            where all means are equal.
    """

    axis: AxisName
    levels: tuple[AxisLevel, ...]
    moved: float | None
    ci95: Interval | None
    share_of_variance: float | None


@dataclass(frozen=True, slots=True)
class AxisEffects:
    """All axes with two levels or more, most moved first; `interplay`: the share of variance that none of them has."""

    axes: tuple[AxisEffect, ...]
    interplay: float | None


@dataclass(frozen=True, slots=True)
class Dominated:
    """A cell for which another one, `by`, gives at least as much recall for no more tokens, and more of one."""

    cell: int
    by: int


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """The cells that are not dominated, fewest tokens first, and those that are. Who retrieved nothing is neither."""

    front: tuple[int, ...]
    dominated: tuple[Dominated, ...]


@dataclass(frozen=True, slots=True)
class LambdaPlace:
    """A cell that stands first by `balanced_in_play` from `low` to `high`; None: however high the price."""

    cell: int
    low: float
    high: float | None


@dataclass(frozen=True, slots=True)
class LambdaRange:
    """The range of prices over which the first place holds.

    Attributes:
        first: the cell that stands first at the price given, and where it does.
        below: who stands first at a lower price; None where the range begins at 0.
        above: who stands first at a higher price; None where the range has no end.
        places: all first places, from 0 on.
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
    """Another look at the same answers: who leads there, and whether the leader does, alone or with others."""

    kind: Literal["k", "model", "documents", "questions", "lambda"]
    name: str
    leader: int
    holds: bool


@dataclass(frozen=True, slots=True)
class Stability:
    """In how many views the leader holds."""

    leader: int
    n_held: int
    views: tuple[StabilityView, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the questions, with what it knows of the tie.

    Attributes:
        n_groups: of questions that do not move together.
        weight: its share of today's questions; parts that overlap add up to 1 all the same.
        gap: recall of the leader above the rival.
        sd: spread of that gap from question to question, as the allocation takes it; None for one group in all.
        share: of further questions that should be asked here; None where sd is, or where the cells never differ.
    """

    part: str
    n_groups: int
    weight: float
    gap: float
    sd: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Strata:
    """Where further questions would settle the tie between two cells soonest, highest share first.

    Attributes:
        needed: questions in all that have an 80 % chance to settle it, asked in today's mix; None: no realistic number.
        needed_by_share: the same where further questions are asked by `share` and weighed by `weight`; None, too, where
            parts overlap.
    """

    by: Literal["tag", "document"]
    leader: int
    rival: int
    strata: tuple[Stratum, ...]
    needed: int | None
    needed_by_share: int | None


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything around the verdict.

    Attributes:
        lambda_range: of the first place by `balanced_in_play`.
        question_groups: positions of near-duplicate questions, group by group; questions that stand alone are left out.
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
