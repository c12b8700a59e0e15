"""What was surveyed, as a report shows it: cells in its order, axes by name, and what a reader should know of it.

Why here: strategies and models are surveyed by position, so that another label makes nothing anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from chunklab_core.records.report import Warning
from chunklab_core.records.survey import (
    AxisEffect,
    AxisEffects,
    AxisName,
    Breakdown,
    Dominated,
    LambdaPlace,
    LambdaRange,
    ParetoFront,
    Stability,
    Survey,
)
from chunklab_core.report.parts import caution_about_parts

T = TypeVar("T")

_GROUPS_NAMED = 4  # in a warning
_IDS_NAMED = 4  # of a group


def in_report(
    survey: Survey,
    places: Sequence[int],
    *,
    strategy: Sequence[str],
    retriever: Sequence[str],
    model: Sequence[str],
    reranker: Sequence[str] = (),
) -> Survey:
    """The same survey with every cell by its place in the report.

    Args:
        survey: its cells, strategies, retrievers, models and rerankers are positions.
        places: of each cell of the survey, its place in the report.
        strategy: the labels of the strategies.
        retriever: the names of the retrievers.
        model: the names of the models.
        reranker: the names of the rerankers.
    """
    names: Mapping[AxisName, Sequence[str]] = {
        "strategy": strategy,
        "retriever": retriever,
        "model": model,
        "reranker": reranker,
    }
    return replace(
        survey,
        axes=_axes(survey.axes, names),
        pareto=_pareto(survey.pareto, places),
        lambda_range=_lambda_range(survey.lambda_range, places),
        by_tag=_breakdown(survey.by_tag, places),
        by_document=_breakdown(survey.by_document, places),
        by_gold_length=_breakdown(survey.by_gold_length, places),
        stability=_stability(survey.stability, places, model),
        strata=tuple(replace(one, leader=places[one.leader], rival=places[one.rival]) for one in survey.strata),
    )


def _axes(found: AxisEffects, names: Mapping[AxisName, Sequence[str]]) -> AxisEffects:
    return replace(found, axes=tuple(_axis(axis, names[axis.axis]) for axis in found.axes))


def _axis(found: AxisEffect, names: Sequence[str]) -> AxisEffect:
    """Levels by name; "none" is one already."""
    levels = (replace(one, level=names[int(one.level)] if one.level.isdigit() else one.level) for one in found.levels)
    return replace(found, levels=tuple(levels))


def _pareto(found: ParetoFront, places: Sequence[int]) -> ParetoFront:
    dominated = sorted(
        (Dominated(places[one.cell], places[one.by]) for one in found.dominated), key=lambda one: one.cell
    )
    return ParetoFront(tuple(places[cell] for cell in found.front), tuple(dominated))


def _lambda_range(found: LambdaRange, places: Sequence[int]) -> LambdaRange:
    def placed(one: LambdaPlace) -> LambdaPlace:
        return replace(one, cell=places[one.cell])

    return LambdaRange(
        first=placed(found.first),
        below=None if found.below is None else places[found.below],
        above=None if found.above is None else places[found.above],
        places=tuple(map(placed, found.places)),
    )


def _breakdown(found: Breakdown, places: Sequence[int]) -> Breakdown:
    return replace(found, cells=_moved(found.cells, places))


def _moved(things: Sequence[T], places: Sequence[int]) -> tuple[T, ...]:
    """One thing a cell, each moved to the place of its cell."""
    return tuple(thing for _, thing in sorted(zip(places, things, strict=True), key=lambda pair: pair[0]))


def _stability(found: Stability, places: Sequence[int], models: Sequence[str]) -> Stability:
    views = (
        replace(view, leader=places[view.leader], name=models[int(view.name)] if view.kind == "model" else view.name)
        for view in found.views
    )
    return replace(found, leader=places[found.leader], views=tuple(views))


def warnings_of_survey(survey: Survey, question_ids: Sequence[str]) -> Iterator[Warning]:
    """What a reader should know of the questions, and of figures that rest on few of them."""
    groups = [[question_ids[at] for at in group] for group in survey.question_groups]
    if groups:
        shown = "; ".join(_some(group, _IDS_NAMED) for group in groups[:_GROUPS_NAMED])
        more = f"; and {len(groups) - _GROUPS_NAMED} more groups" if len(groups) > _GROUPS_NAMED else ""
        yield Warning(
            "near_duplicate_questions",
            "warning",
            f"{sum(map(len, groups))} of {len(question_ids)} questions are near-duplicates, in {len(groups)} "
            f"group{'' if len(groups) == 1 else 's'} that are drawn together and count once each: {shown}{more}.",
        )
    parts = {"by_tag": survey.by_tag, "by_document": survey.by_document, "by_gold_length": survey.by_gold_length}
    for where, breakdown in parts.items():
        if caution := caution_about_parts(breakdown):
            yield Warning("small_parts", "info", f"Recall {where.replace('_', ' ')}: {caution}", where)


def _some(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
