"""The survey around the verdict, in a few lines of the screen.

Why: you can act on a verdict of "undecided" once you know what moved recall, what it costs, what the lead depends on
and where to write the next questions. report.json has the figures behind these lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunklab_core.records.report import Report
from chunklab_core.records.survey import AxisEffect, Strata
from chunklab_core.report.words import some

_AXES_SHOWN = 2
_FRONT_SHOWN = 4
_PARTS_SHOWN = 2
_HALVED = ("documents", "questions")


def survey_lines(report: Report) -> Iterator[str]:
    """At most four lines; none for a single cell."""
    if len(report.cells) < 2:
        return
    yield from _axes(report)
    yield from _price(report)
    if report.stability.views:
        yield _stability(report)
    yield from _next_questions(report.strata)


def _axes(report: Report) -> Iterator[str]:
    moved = [axis for axis in report.axes.effects if axis.moved is not None][:_AXES_SHOWN]
    if moved:
        yield f"What changed recall: {'; '.join(map(_axis, moved))}."


def _axis(axis: AxisEffect) -> str:
    met = [level.level for level in axis.levels if level.effect is not None]
    interval = "" if axis.ci95 is None else f" (95 % CI {axis.ci95[0]:.3f} to {axis.ci95[1]:.3f})"
    return f"{axis.axis} by {axis.moved:.3f}{interval}, {met[0]} against {met[-1]}"


def _price(report: Report) -> Iterator[str]:
    """The cells that give more recall for more tokens, fewest first, and the prices at which the first stays first."""
    front = report.pareto.front
    sentences = [f"Pareto front: {some(front, _FRONT_SHOWN)}."] if front else []
    if report.ranking_metric == "balanced" and len(report.verdict.in_play) > 1:
        first = report.lambda_range.first
        prices = f"of {first.low:.3g} or more" if first.high is None else f"from {first.low:.3g} to {first.high:.3g}"
        sentences.append(f"{first.cell} is first by balanced at a lambda {prices}.")
    if sentences:
        yield " ".join(sentences)


def _stability(report: Report) -> str:
    stability = report.stability
    lost = [view for view in stability.views if not view.holds]
    named = [view.name for view in lost if view.kind not in _HALVED]
    for kind in _HALVED:
        n_lost, n_views = (sum(view.kind == kind for view in views) for views in (lost, stability.views))
        named += [f"{n_lost} of {n_views} halves of the {kind}"] if n_lost else []
    differs = f"; not in: {', '.join(named)}" if named else ""
    return f"{stability.leader} keeps the lead in {stability.n_held} of {stability.n_views} other views{differs}."


def _next_questions(found: Sequence[Strata[str]]) -> Iterator[str]:
    """The parts in which new questions settle most; nothing where no number of them would settle it."""
    for strata in found:
        parts = [(each.part, each.share) for each in strata.parts if each.share]
        if strata.needed is not None and len(parts) > 1:
            shown = [f"{part} ({100 * share:.0f} %)" for part, share in parts[:_PARTS_SHOWN]]
            yield f"To settle this sooner, write new questions for these {strata.by}s: {', '.join(shown)}."
            return
