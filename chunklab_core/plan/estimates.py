"""How long work will take, judged by how long similar work took on this machine.

Why history: a laptop and a server differ by a factor of fifty, and so do models, so a built-in speed would mislead.
There is no estimate for work that is unlike all earlier work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from chunklab_core.cache.run_records import RunRecord, new_items, this_machine

_NEWEST = 50  # pieces of work of one kind that count
_REACH = 20.0  # times the largest earlier piece of work; there is no estimate beyond it
_LONG = 1.0  # seconds of work; shorter runs do not show how much of it ran in parallel

Kind = tuple[str, str]
"""A stage, and the method, the retriever or the model that decides how long one of its items takes."""


class History:
    """How long the nodes of earlier runs on this machine took, and how long the runs took."""

    def __init__(self, records: Iterable[RunRecord]) -> None:
        self._work: defaultdict[Kind, list[tuple[int, float]]] = defaultdict(list)  # new items, seconds
        self._runs: list[tuple[float, float]] = []  # seconds of the run, seconds of all its nodes
        for record in records:
            if record.machine == this_machine():
                self._learn(record)

    def __bool__(self) -> bool:
        return bool(self._work)

    def seconds(self, stage: str, parameters: Mapping[str, Any], n_new: int | None) -> float | None:
        """How long a node will take.

        Args:
            stage: the node's stage.
            parameters: the node's parameters.
            n_new: the items that it has to make; None for a stage without items.

        Returns:
            Seconds; None if there is no similar work.
        """
        work = self._work.get(kind_of(stage, parameters))
        if not work:
            return None
        if n_new is None or not any(n for n, _ in work):
            return median(seconds for _, seconds in work)
        if n_new == 0:  # every item is reused, and the cost of a first item (loading a model) does not arise
            return median([seconds for n, seconds in work if n == 0] or [0.0])
        return _on_line(work, n_new)

    def wall_seconds(self, of_nodes: Sequence[float]) -> float:
        """How long a run takes, given the seconds of its nodes: it has to start, and some nodes run in parallel."""
        shares = [min(1.0, max(0.0, wall - self._start()) / work) for wall, work in self._runs if work >= _LONG]
        together = sum(of_nodes) * (median(shares) if shares else 1.0)
        return self._start() + max([together, *of_nodes])

    def _start(self) -> float:
        """What a run takes besides its nodes; runs that made nothing show it best."""
        idle = [wall for wall, work in self._runs if not work]
        return median(idle or [max(0.0, wall - work) for wall, work in self._runs] or [0.0])

    def _learn(self, record: RunRecord) -> None:
        nodes = {node["ref"]: node for node in record.explained.get("nodes", ())}
        for effort in record.made:
            node = nodes.get(effort.ref)
            work = self._work[kind_of(node["stage"], node["parameters"])] if node else []
            if node and len(work) < _NEWEST:
                work.append((new_items(effort) or 0, effort.seconds))
        if record.how == "done" and record.ended:
            wall = (record.ended - record.started).total_seconds()
            self._runs.append((wall, sum(effort.seconds for effort in record.made)))


def kind_of(stage: str, parameters: Mapping[str, Any]) -> Kind:
    """What the speed of a node depends on, besides its size."""
    for name, key in (("strategy", "name"), ("retriever", "name"), ("model", "digest")):
        if isinstance(parameters.get(name), Mapping):
            return stage, str(parameters[name].get(key))
    return stage, ""


def _on_line(work: Sequence[tuple[int, float]], n_new: int) -> float | None:
    """Seconds for `n_new` items on a straight line through earlier work: a start (loading a model), then each item."""
    sizes, seconds = np.array(work, dtype=np.float64).T
    if n_new > _REACH * sizes.max():
        return None
    start, each = 0.0, seconds.sum() / sizes.sum()
    if len(set(sizes)) > 1:
        each, start = np.polyfit(sizes, seconds, 1)
    if each < 0:
        start, each = float(np.median(seconds)), 0.0
    if start < 0:
        start, each = 0.0, seconds.sum() / sizes.sum()
    return float(start + each * n_new)
