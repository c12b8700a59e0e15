"""What a run will do, before it does it: the results that it makes and those that it reuses, why, and for how long.

Why: a run may take an hour. A user who sees beforehand that one parameter embeds everything again can change it; a
user who sees afterwards why a stage ran can trust the cache.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.runs import records
from chunklab_core.cache.store import Store
from chunklab_core.graph import nodes_missing, work_once
from chunklab_core.plan.comparison import compare, explain
from chunklab_core.plan.counts import Amount, Counts
from chunklab_core.plan.estimates import History
from chunklab_core.plan.reasons import Reasons, reasons_of
from chunklab_core.stages.stage import Node


@dataclass(frozen=True, slots=True)
class Step:
    """One node of a plan.

    Attributes:
        reasons: why it runs; empty for a node whose result is reused.
        amount: how much of it is new; None for a stage without items, and for a result that is reused.
        seconds: how long it will take; None if its size is unknown or nothing similar ran on this machine.
    """

    stage: str
    label: str
    reasons: Reasons
    amount: Amount | None = None
    seconds: float | None = None

    @property
    def runs(self) -> bool:
        """Whether its result has to be made."""
        return bool(self.reasons)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do.

    Attributes:
        steps: every piece of work once, in the order of the stages.
        compared_with: start of the earlier run that the reasons refer to; None if there is none.
        seconds: how long the steps with an estimate take, some of them in parallel; None if no step has one.
        has_history: whether anything ever ran on this machine with this cache.
    """

    steps: tuple[Step, ...]
    compared_with: datetime | None
    seconds: float | None
    has_history: bool


def make_plan(store: Store, inputs: Ref, work: Sequence[Node], refresh: Collection[str] = ()) -> Plan:
    """The plan of a run. It makes no result, loads no model and removes nothing but damaged results.

    Args:
        store: holds the inputs, and the results of earlier runs.
        inputs: the result of `chunklab_core.stages.prepare.prepare`.
        work: the nodes of the run.
        refresh: stages that run even if the store holds their results.
    """
    comparison = compare(store, explain(unpack_json(store.read(inputs)), work))
    missing = nodes_missing(store, work, refresh)
    reasons = reasons_of(comparison, missing, refresh)
    history = History(records(store) if missing else ())
    counts = Counts(store, work, missing, comparison, refresh)
    steps = tuple(_step(node, reasons.get(node.ref, ()), counts, history) for node in work_once(work))
    seconds = [step.seconds for step in steps if step.seconds is not None]
    return Plan(
        steps=steps,
        compared_with=comparison.earlier.started if comparison.earlier else None,
        seconds=history.wall_seconds(seconds) if seconds else None if missing else 0.0,
        has_history=bool(history),
    )


def _step(node: Node, reasons: Reasons, counts: Counts, history: History) -> Step:
    if not reasons:
        return Step(node.stage, node.label, ())
    amount = counts.amount(node)
    n_new = amount.new if amount else None
    unknown_size = amount is not None and n_new is None
    seconds = None if unknown_size else history.seconds(node.stage, node.arguments, n_new)
    return Step(node.stage, node.label, reasons, amount, seconds)
