"""What surrounds the verdict: effects, prices, parts of the questions, other views, next questions.

Every record is written for a way to refer to cells: `[int]`, the position of a cell in the scores, as a survey finds
them; `[str]`, its name, as a report shows them. Levels and models are positions, too, until a report names them.

An interval is (low, high), 95 %; it is None where fewer than two groups of questions show no spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from chunklab_core.records.marks import (
    Amount,
    Count,
    Keywords,
    Mark,
    Name,
    Positive,
    Reasons,
    Share,
    ShareInterval,
    Undefined,
)

Interval = tuple[float, float]
CellT = TypeVar("CellT", int, str)
AxisName = Literal["strategy", "retriever", "model", "reranker"]


@dataclass(frozen=True, slots=True)
class CellAxes:
    """The place of a cell on the axes; a cell that uses no model, or no reranker, has None there."""

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
        comparisons: the number of combinations of the other axes behind the effect; with 0 the effect is None.
    """

    level: Name
    recall: Share
    effect: Annotated[float | None, Undefined("never_meet")]
    ci95: Annotated[Interval | None, Undefined(lambda level: "never_meet" if level.effect is None else "one_group")]
    comparisons: Count
    undefined: ClassVar[Reasons]


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """The effect of one axis.

    Attributes:
        moved: recall of the best level above the worst, everything else being equal; None where they never meet.
        ci95: of `moved`. Best and worst were picked, so it is too hopeful where there are many levels.
        share_of_variance: of the variance between the means of the cells; None where the grid of cells has holes, or
            where all means are equal.
        levels: best effect first.
    """

    axis: AxisName
    moved: Annotated[float | None, Undefined("never_meet")]
    ci95: Annotated[Interval | None, Undefined(lambda axis: "never_meet" if axis.moved is None else "one_group")]
    share_of_variance: Annotated[Share | None, Undefined("no_variance")]
    levels: Annotated[tuple[AxisLevel, ...], Keywords(minItems=2)]
    undefined: ClassVar[Reasons]


@dataclass(frozen=True, slots=True)
class AxisEffects:
    """All axes with two levels or more, most moved first; `interplay`: the share of variance that none of them has."""

    effects: tuple[AxisEffect, ...]
    interplay: Annotated[Share | None, Undefined(lambda axes: "no_variance" if axes.effects else "no_axis")]
    undefined: ClassVar[Reasons]


@dataclass(frozen=True, slots=True)
class Dominated(Generic[CellT]):
    """A cell for which another one, `by`, gives at least as much recall for no more tokens, and more of one."""

    cell: CellT
    by: CellT


@dataclass(frozen=True, slots=True)
class ParetoFront(Generic[CellT]):
    """The cells that are not dominated, fewest tokens first, and those that are; cells without tokens are neither."""

    front: Annotated[tuple[CellT, ...], Keywords(uniqueItems=True)]
    dominated: tuple[Dominated[CellT], ...]


@dataclass(frozen=True, slots=True)
class LambdaPlace(Generic[CellT]):
    """A cell that is first by `balanced_in_play` from `low` to `high`; None: however high the price."""

    cell: CellT
    low: Amount
    high: Annotated[Amount | None, Undefined("any_price")]
    undefined: ClassVar[Reasons]


@dataclass(frozen=True, slots=True)
class LambdaRange(Generic[CellT]):
    """The range of prices over which the first cell stays first.

    Attributes:
        first: the cell that is first at the price given, and its range.
        below: the cell that is first at a lower price; None where the range begins at 0.
        above: the cell that is first at a higher price; None where the range has no end.
        places: all cells that are first at some price, from 0 on.
    """

    first: LambdaPlace[CellT]
    below: Annotated[CellT | None, Undefined("from_zero")]
    above: Annotated[CellT | None, Undefined("no_end")]
    places: Annotated[tuple[LambdaPlace[CellT], ...], Keywords(minItems=1)]
    undefined: ClassVar[Reasons]


@dataclass(frozen=True, slots=True)
class PartRecall:
    """A cell's recall on a part of the questions: `n` of them, in `n_groups` that do not move together."""

    part: Annotated[str, Mark.KEY]
    n: Positive
    n_groups: Positive
    recall: Share
    ci95: Annotated[ShareInterval | None, Undefined("one_group")]
    undefined: ClassVar[Reasons]
    ci95_wilson: Annotated[ShareInterval | None, Mark.LEFT_OUT]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Recall part by part: `cells` holds the parts of each cell, in one order."""

    cells: tuple[tuple[PartRecall, ...], ...]


@dataclass(frozen=True, slots=True)
class StabilityView(Generic[CellT]):
    """Another look at the same answers: the leader there, and whether the lead holds, alone or shared."""

    kind: Literal["k", "model", "documents", "questions", "lambda"]
    name: Name
    leader: CellT
    holds: bool


@dataclass(frozen=True, slots=True)
class Stability(Generic[CellT]):
    """The number of views in which the leader holds."""

    leader: CellT
    n_held: Count
    n_views: Count
    views: tuple[StabilityView[CellT], ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the questions, and what it shows of the tie.

    Attributes:
        n_groups: of questions that do not move together.
        weight: its share of today's questions; parts that overlap add up to 1 all the same.
        gap: recall of the leader above the rival.
        sd: spread of that gap from question to question, as the allocation takes it; None for one group in all.
        share: of further questions to write for it; None where sd is, or where the cells never differ.
    """

    part: str
    n_groups: Count
    weight: Share
    gap: float
    sd: Annotated[float | None, Undefined("one_question")]
    share: Annotated[Share | None, Undefined(lambda part: "one_question" if part.sd is None else "no_difference")]
    undefined: ClassVar[Reasons]


def _why_no_shared_number(strata: Strata[int]) -> str:
    return "no_number" if strata.needed is None else "overlap"


@dataclass(frozen=True, slots=True)
class Strata(Generic[CellT]):
    """The parts in which further questions would settle the tie between two cells soonest, highest share first.

    Attributes:
        needed: questions in all that have an 80 % chance to settle it, in today's mix; None: no realistic number.
        needed_by_share: the same where further questions are written by `share` and weighed by `weight`; None, too,
            where parts overlap.
    """

    by: Literal["tag", "document"]
    leader: CellT
    rival: CellT
    parts: tuple[Stratum, ...]
    needed: Annotated[Count | None, Undefined("no_number")]
    needed_by_share: Annotated[Count | None, Undefined(_why_no_shared_number)]
    undefined: ClassVar[Reasons]


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything around the verdict, by positions.

    Attributes:
        lambda_range: of the first cell by `balanced_in_play`.
        question_groups: near-duplicate questions, group by group; questions that are like no other are left out.
    """

    axes: AxisEffects
    pareto: ParetoFront[int]
    lambda_range: LambdaRange[int]
    by_tag: Breakdown
    by_document: Breakdown
    by_gold_length: Breakdown
    stability: Stability[int]
    strata: tuple[Strata[int], ...]
    question_groups: tuple[tuple[int, ...], ...]
