"""A plan as lines for a terminal: a few a stage, however many cells there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunklab_core.plan.plan import Plan, Step
from chunklab_core.stages import all_stages

_NAMED = 4  # labels in one line
_SHOWN_REASONS = 4
_MINUTE = 60.0


def plan_text(plan: Plan) -> str:
    """The whole plan; ends without a newline."""
    return "\n".join(_lines(plan))


def duration(seconds: float) -> str:
    """About how long, in the words of a person."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 1.5 * _MINUTE:
        return f"about {seconds:.0f} s"
    return f"about {seconds / _MINUTE:.0f} min" if seconds < 90 * _MINUTE else f"about {seconds / 3600:.1f} h"


def _lines(plan: Plan) -> Iterator[str]:
    to_run = [step for step in plan.steps if step.runs]
    if not to_run:
        yield f"Nothing to run: all {len(plan.steps)} results are reused."
        return
    yield f"{len(to_run)} of {len(plan.steps)} results to run, {len(plan.steps) - len(to_run)} reused; {_whole(plan)}."
    if plan.compared_with:
        yield f"Compared with the run of {plan.compared_with:%Y-%m-%d %H:%M} UTC."
    yield ""
    for stage in all_stages():
        of_stage = [step for step in plan.steps if step.stage == stage]
        reused = [step for step in of_stage if not step.runs]
        for alike in _alike([step for step in of_stage if step.runs]):
            yield f"to run  {stage} {_labels(alike, of_stage)}: {_said(alike)}"
        if reused:
            yield f"reused  {stage} {_labels(reused, of_stage)}"


def _whole(plan: Plan) -> str:
    """How long the run will take, as far as that is known."""
    if not plan.has_history:
        return "no estimate: first run on this machine"
    unknown = sum(step.runs and step.seconds is None for step in plan.steps)
    if plan.seconds is None:
        return "no estimate: nothing like it was run on this machine"
    more = f", and {unknown} without an estimate" if unknown else ""
    return f"{duration(plan.seconds)} in all, side by side{more}"


def _alike(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps that run for the same reasons, together."""
    groups: dict[tuple[str, ...], list[Step]] = {}
    for step in steps:
        groups.setdefault(_reasons(step), []).append(step)
    return list(groups.values())


def _reasons(step: Step) -> tuple[str, ...]:
    """The reasons of a step; that it follows a stage of its own strategy is said without the label."""
    strategies = {step.label, step.label.rpartition("/")[0]} - {""}
    short = []
    for reason in step.reasons:
        words, _, label = reason.partition(" ")[2].partition(" ")
        own = reason.startswith("follows ") and (label in strategies or label.rpartition("/")[0] in strategies)
        short.append(f"follows {words}" if own else reason)
    return tuple(dict.fromkeys(short))


def _labels(steps: Sequence[Step], of_stage: Sequence[Step]) -> str:
    if len(steps) == len(of_stage) > _NAMED:
        return f"(all {len(steps)})"
    named = ", ".join(step.label for step in steps[:_NAMED])
    return named if len(steps) <= _NAMED else f"({len(steps)} of {len(of_stage)}: {named}, ...)"


def _said(steps: Sequence[Step]) -> str:
    """Why steps run that are alike, how much of them is new, and how long they take."""
    reasons = _reasons(steps[0])
    more = [f"and {len(reasons) - _SHOWN_REASONS} reasons more"] if len(reasons) > _SHOWN_REASONS else []
    known = [step.seconds for step in steps if step.seconds is not None]
    taken = [duration(sum(known))] if len(known) == len(steps) and sum(known) >= 1 else []
    return "; ".join([*reasons[:_SHOWN_REASONS], *more, *_amount(steps), *taken])


def _amount(steps: Sequence[Step]) -> Iterator[str]:
    amounts = [step.amount for step in steps if step.amount]
    if not amounts:
        return
    unit = amounts[0].unit
    new, of = [each.new for each in amounts], [each.of for each in amounts]
    if None in new or None in of:
        yield f"how many {unit} are new is not known before the chunks are"
        return
    n_new, n_of = sum(n or 0 for n in new), sum(n or 0 for n in of)
    about = "about " if any(each.about for each in amounts) else ""
    yield f"{about}{n_new:,} of {n_of:,} {unit} new"
    if 0 < n_new < n_of and not about:
        yield f"taken over: {n_of - n_new:,}"
