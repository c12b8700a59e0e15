"""What stands around the verdict, in plain JSON types: cells and questions by name, and a reason for every null."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chunklab_core.records.report import Report
from chunklab_core.records.survey import AxisEffect, AxisLevel, Breakdown, LambdaPlace, PartRecall, Strata, Stratum

_ONE_GROUP = "it rests on fewer than two questions that do not move together"
_NEVER_MEET = "no two levels stand beside each other with everything else equal"
_NO_NUMBER = "no realistic number"
_OVERLAP = "the parts overlap, so no mean over them weighs each question once"


def survey_to_mapping(report: Report) -> dict[str, Any]:
    """The keys of the top level, in the order in which they are written."""
    names, survey = [cell.cell for cell in report.cells], report.survey
    question_ids = [row.score.question_id for row in report.cells[0].per_question]
    axes, pareto, stability = survey.axes, survey.pareto, survey.stability
    return {
        "axes": {
            "effects": [_axis(axis) for axis in axes.axes],
            "interplay": axes.interplay,
            "undefined": _reasons(("interplay", axes.interplay, _no_shares(report))),
        },
        "pareto": {
            "front": [names[cell] for cell in pareto.front],
            "dominated": [{"cell": names[one.cell], "by": names[one.by]} for one in pareto.dominated],
        },
        "lambda_range": _lambda_range(report, names),
        "stability": {
            "leader": names[stability.leader],
            "n_held": stability.n_held,
            "n_views": len(stability.views),
            "views": [
                {"kind": view.kind, "name": view.name, "leader": names[view.leader], "holds": view.holds}
                for view in stability.views
            ],
        },
        "strata": [_strata(one, names) for one in survey.strata],
        "question_groups": [[question_ids[at] for at in group] for group in survey.question_groups],
    }


def parts_to_mapping(report: Report, at: int) -> dict[str, Any]:
    """The keys of the cell at a place of the report: its recall part by part."""
    survey = report.survey
    return {
        "by_tag": _parts(survey.by_tag, at),
        "by_document": _parts(survey.by_document, at),
        "by_gold_length": _parts(survey.by_gold_length, at),
    }


def _parts(breakdown: Breakdown, at: int) -> dict[str, Any]:
    return {part.part: _part(part) for part in breakdown.cells[at]}


def _part(part: PartRecall) -> dict[str, Any]:
    mapping = {
        "n": part.n,
        "n_groups": part.n_groups,
        "recall": part.recall,
        "ci95": _interval(part.ci95),
        "undefined": _reasons(("ci95", part.ci95, _ONE_GROUP)),
    }
    return mapping if part.ci95_wilson is None else {**mapping, "ci95_wilson": _interval(part.ci95_wilson)}


def _axis(axis: AxisEffect) -> dict[str, Any]:
    return {
        "axis": axis.axis,
        "moved": axis.moved,
        "ci95": _interval(axis.ci95),
        "share_of_variance": axis.share_of_variance,
        "levels": [_level(level) for level in axis.levels],
        "undefined": _reasons(
            ("moved", axis.moved, _NEVER_MEET),
            ("ci95", axis.ci95, _NEVER_MEET if axis.moved is None else _ONE_GROUP),
            (
                "share_of_variance",
                axis.share_of_variance,
                "all means are equal, or combinations of the axes are missing",
            ),
        ),
    }


def _level(level: AxisLevel) -> dict[str, Any]:
    return {
        "level": level.level,
        "recall": level.recall,
        "effect": level.effect,
        "ci95": _interval(level.ci95),
        "comparisons": level.comparisons,
        "undefined": _reasons(
            ("effect", level.effect, _NEVER_MEET),
            ("ci95", level.ci95, _NEVER_MEET if level.effect is None else _ONE_GROUP),
        ),
    }


def _no_shares(report: Report) -> str:
    if not report.survey.axes.axes:
        return "no axis has two levels"
    return "all means are equal, or combinations of the axes are missing"


def _lambda_range(report: Report, names: Sequence[str]) -> dict[str, Any]:
    found = report.survey.lambda_range
    below = None if found.below is None else names[found.below]
    above = None if found.above is None else names[found.above]
    return {
        "first": _place(found.first, names),
        "below": below,
        "above": above,
        "places": [_place(place, names) for place in found.places],
        "undefined": _reasons(("below", below, "the range begins at 0"), ("above", above, "the range has no end")),
    }


def _place(place: LambdaPlace, names: Sequence[str]) -> dict[str, Any]:
    return {
        "cell": names[place.cell],
        "low": place.low,
        "high": place.high,
        "undefined": _reasons(("high", place.high, "it stands first however high the price")),
    }


def _strata(found: Strata, names: Sequence[str]) -> dict[str, Any]:
    overlap = found.needed is not None and found.needed_by_share is None
    return {
        "by": found.by,
        "leader": names[found.leader],
        "rival": names[found.rival],
        "parts": [_stratum(one) for one in found.strata],
        "needed": found.needed,
        "needed_by_share": found.needed_by_share,
        "undefined": _reasons(
            ("needed", found.needed, _NO_NUMBER),
            ("needed_by_share", found.needed_by_share, _OVERLAP if overlap else _NO_NUMBER),
        ),
    }


def _stratum(one: Stratum) -> dict[str, Any]:
    few = "one question, or copies of one, tell no spread"
    return {
        "part": one.part,
        "n_groups": one.n_groups,
        "weight": one.weight,
        "gap": one.gap,
        "sd": one.sd,
        "share": one.share,
        "undefined": _reasons(
            ("sd", one.sd, few), ("share", one.share, few if one.sd is None else "the two cells differ on no question")
        ),
    }


def _interval(bounds: tuple[float, float] | None) -> list[float] | None:
    return None if bounds is None else list(bounds)


def _reasons(*entries: tuple[str, object, str]) -> dict[str, str]:
    """Why each value that is None is None, by its key."""
    return {key: reason for key, value, reason in entries if value is None}
