"""What stands around the verdict, in a few lines of the screen.

Why: a verdict of "undecided" is no dead end. What moved recall, what it costs, what the lead depends on and where the
next questions should be asked is what a reader can act on; the figures behind it stand in report.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunklab_core.records.report import Report
from chunklab_core.records.survey import AxisEffect, Strata

_AXES_SHOWN = 2
_FRONT_SHOWN = 4
_PARTS_SHOWN = 2
_HALVED = ("documents", "questions")


def survey_lines(report: Report) -> Iterator[str]:
    """At most four lines; none where one cell stands alone."""
    if len(report.cells) < 2:
        return
    yield from _axes(report)
    yield from _price(report)
    if report.survey.stability.views:
        yield _stability(report)
    yield from _next_questions(report.survey.strata)


def _axes(report: Report) -> Iterator[str]:
    moved = [axis for axis in report.survey.axes.axes if axis.moved is not None][:_AXES_SHOWN]
    if moved:
        yield f"Moved recall: {'; '.join(map(_axis, moved))}."


def _axis(axis: AxisEffect) -> str:
    met = [level.level for level in axis.levels if level.effect is not None]
    interval = "" if axis.ci95 is None else f" (95 % CI {axis.ci95[0]:.3f} to {axis.ci95[1]:.3f})"
    return f"{axis.axis} by {axis.moved:.3f}{interval}, {met[0]} against {met[-1]}"


def _price(report: Report) -> Iterator[str]:
    """Who gives more recall for more tokens, fewest first, and at which prices the first place holds."""
    front = [report.cells[at].cell for at in report.survey.pareto.front]
    sentences = [f"Pareto front: {_some(front, _FRONT_SHOWN)}."] if front else []
    if report.ranking_metric == "balanced" and len(report.verdict.in_play) > 1:
        first = report.survey.lambda_range.first
        there = f"from {first.low:.3g} on" if first.high is None else f"{first.low:.3g} to {first.high:.3g}"
        sentences.append(f"First by balanced at lambda {there}: {report.cells[first.cell].cell}.")
    if sentences:
        yield " ".join(sentences)


def _stability(report: Report) -> str:
    found = report.survey.stability
    lost = [view for view in found.views if not view.holds]
    named = [view.name for view in lost if view.kind not in _HALVED]
    for kind in _HALVED:
        n_lost, n_views = (sum(view.kind == kind for view in views) for views in (lost, found.views))
        named += [f"{n_lost} of {n_views} halves of the {kind}"] if n_lost else []
    differs = f"; not in: {', '.join(named)}" if named else ""
    return (
        f"The lead of {report.cells[found.leader].cell} holds in {found.n_held} of {len(found.views)} views{differs}."
    )


def _next_questions(found: Sequence[Strata]) -> Iterator[str]:
    """Where the next questions tell most; nothing where no number of them would settle it."""
    for strata in found:
        parts = [(one.part, one.share) for one in strata.strata if one.share]
        if strata.needed is not None and len(parts) > 1:
            shown = [f"{part} ({100 * share:.0f} %)" for part, share in parts[:_PARTS_SHOWN]]
            yield f"Of further questions, these {strata.by}s should have the most: {', '.join(shown)}."
            return


def _some(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
