"""A plan as lines for a terminal, a few for each stage however many cells there are, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chunklab_core.plan.plan import Plan, Step
from chunklab_core.plan.reasons import Reason
from chunklab_core.plan.sentences import sentence
from chunklab_core.stages import all_stages

_NAMED = 4  # labels in one line
_SHOWN_REASONS = 4
_MINUTE = 60.0


def plan_text(plan: Plan) -> str:
    """The whole plan; ends without a newline."""
    return "\n".join(_lines(plan))


def plan_to_mapping(plan: Plan) -> dict[str, Any]:
    """A plan in plain JSON types."""
    return {
        "run": sum(step.runs for step in plan.steps),
        "reused": sum(not step.runs for step in plan.steps),
        "seconds": _rounded(plan.seconds),
        "without_estimate": _n_unknown(plan),
        "compared_with": plan.compared_with and plan.compared_with.isoformat(timespec="seconds"),
        "nodes": [_step_to_mapping(step) for step in plan.steps],
    }


def duration(seconds: float) -> str:
    """About how long, as a person would put it."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 1.5 * _MINUTE:
        return f"about {seconds:.0f} s"
    return f"about {seconds / _MINUTE:.0f} min" if seconds < 90 * _MINUTE else f"about {seconds / 3600:.1f} h"


def _step_to_mapping(step: Step) -> dict[str, Any]:
    mapping: dict[str, Any] = {"stage": step.stage, "label": step.label, "runs": step.runs}
    if not step.runs:
        return mapping
    mapping |= {"reasons": [sentence(reason) for reason in step.reasons], "seconds": _rounded(step.seconds)}
    if step.amount:
        amount = step.amount
        mapping["items"] = {"new": amount.new, "of": amount.of, "unit": amount.unit, "about": amount.about}
    return mapping


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


def _n_unknown(plan: Plan) -> int:
    return sum(step.runs and step.seconds is None for step in plan.steps)


# ---------------------------------------------------------------- lines


def _lines(plan: Plan) -> Iterator[str]:
    n_all, n_run = len(plan.steps), sum(step.runs for step in plan.steps)
    if not n_run:
        yield f"Nothing to run: all {n_all} results are reused."
        return
    yield f"{n_run} of {n_all} results to run, {n_all - n_run} reused; {_total(plan)}."
    if plan.compared_with:
        yield f"Compared with the run of {plan.compared_with:%Y-%m-%d %H:%M} UTC."
    yield ""
    for stage in all_stages():
        of_stage = [step for step in plan.steps if step.stage == stage]
        reused = [step for step in of_stage if not step.runs]
        for group in _groups([step for step in of_stage if step.runs]):
            yield f"to run  {stage} {_labels(group, of_stage)}: {_details(group)}"
        if reused:
            yield f"reused  {stage} {_labels(reused, of_stage)}"


def _total(plan: Plan) -> str:
    """How long the run will take, as far as that is known."""
    if not plan.has_history:
        return "no estimate: no earlier run on this machine in the cache"
    if plan.seconds is None:
        return "no estimate: nothing similar has run on this machine"
    n_unknown = _n_unknown(plan)
    more = f", plus {n_unknown} without an estimate" if n_unknown else ""
    return f"{duration(plan.seconds)} in all, running in parallel{more}"


def _groups(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps that run for the same reasons, together."""
    groups: dict[tuple[str, ...], list[Step]] = {}
    for step in steps:
        groups.setdefault(_reasons(step), []).append(step)
    return list(groups.values())


def _reasons(step: Step) -> tuple[str, ...]:
    """The reasons of a step in words."""
    return tuple(dict.fromkeys(_short(reason, step) for reason in step.reasons))


def _short(reason: Reason, step: Step) -> str:
    """A reason in words; a result of the step's own strategy needs no label."""
    if reason.code == "follows":
        stage, label = reason.arguments
        own = {step.label, step.label.rpartition("/")[0]} - {""}
        if isinstance(label, str) and own & {label, label.rpartition("/")[0]}:
            return f"follows {stage}"
    return sentence(reason)


def _labels(steps: Sequence[Step], of_stage: Sequence[Step]) -> str:
    if len(steps) == len(of_stage) > _NAMED:
        return f"(all {len(steps)})"
    named = ", ".join(step.label for step in steps[:_NAMED])
    return named if len(steps) <= _NAMED else f"({len(steps)} of {len(of_stage)}: {named}, ...)"


def _details(group: Sequence[Step]) -> str:
    """Why the steps of a group run, how much of them is new, and how long they take."""
    reasons = _reasons(group[0])
    n_more = len(reasons) - _SHOWN_REASONS
    more = [f"and {n_more} more reason{'' if n_more == 1 else 's'}"] if n_more > 0 else []
    seconds = [step.seconds for step in group if step.seconds is not None]
    took = [duration(sum(seconds))] if len(seconds) == len(group) and sum(seconds) >= 1 else []
    return "; ".join([*reasons[:_SHOWN_REASONS], *more, *_amount(group), *took])


def _amount(group: Sequence[Step]) -> Iterator[str]:
    amounts = [step.amount for step in group if step.amount]
    if not amounts:
        return
    unit = amounts[0].unit
    new, of = [amount.new for amount in amounts], [amount.of for amount in amounts]
    if None in new or None in of:
        yield f"the number of new {unit} is known only after chunking"
        return
    n_new, n_of = sum(n or 0 for n in new), sum(n or 0 for n in of)
    about = "about " if any(amount.about for amount in amounts) else ""
    reused = f", {n_of - n_new:,} reused" if 0 < n_new < n_of and not about else ""
    yield f"{about}{n_new:,} of {n_of:,} {unit} new{reused}"
