"""How long work will take, from how long such work took on this machine.

Why from history: a laptop and a server differ by a factor of fifty, a model by another, so a built-in speed would
mislead. Where nothing like it was done before, nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from chunklab_core.cache.run_records import RunRecord, new_items, this_machine

_PIECES = 50  # of work of one kind that are looked at, the newest
_REACH = 20.0  # times the largest piece of work that was done; beyond it nothing is said
_LONG = 1.0  # seconds of work from which on a run tells how much of it was done side by side

Kind = tuple[str, str]
"""A stage, and what within it decides the time an item takes: the method, the retriever or the model."""


class History:
    """How long the nodes of earlier runs on this machine took, and the runs around them."""

    def __init__(self, records: Iterable[RunRecord]) -> None:
        self._seen: defaultdict[Kind, list[tuple[int, float]]] = defaultdict(list)
        self._runs: list[tuple[float, float]] = []  # seconds of the run, and of its nodes together
        for record in records:
            if record.machine == this_machine():
                self._learn(record)

    def __bool__(self) -> bool:
        return bool(self._seen)

    def seconds(self, node: Mapping[str, Any], new: int | None) -> float | None:
        """How long a node will take that makes so many items (None: nobody counts them); None if nothing is known."""
        seen = self._seen.get(kind_of(node))
        if not seen:
            return None
        if new is None or not any(n for n, _ in seen):
            return median(seconds for _, seconds in seen)
        if new == 0:  # all is taken over, and what a first item costs (a model to load) is not spent
            return median([seconds for n, seconds in seen if n == 0] or [0.0])
        return _line(seen, new)

    def wall_seconds(self, of_nodes: Sequence[float]) -> float:
        """How long a run takes whose nodes take so long: it has to start, and some of them run side by side."""
        beside = [min(1.0, max(0.0, wall - self._start()) / work) for wall, work in self._runs if work >= _LONG]
        together = sum(of_nodes) * (median(beside) if beside else 1.0)
        return self._start() + max([together, *of_nodes])

    def _start(self) -> float:
        """What a run takes beside its nodes; best known from runs that had nothing to make."""
        idle = [wall for wall, work in self._runs if not work]
        return median(idle or [max(0.0, wall - work) for wall, work in self._runs] or [0.0])

    def _learn(self, record: RunRecord) -> None:
        nodes = {node["ref"]: node for node in record.explained.get("nodes", ())}
        for effort in record.made:
            if effort.ref in nodes and len(seen := self._seen[kind_of(nodes[effort.ref])]) < _PIECES:
                seen.append((new_items(effort) or 0, effort.seconds))
        if record.how == "done" and record.ended:
            wall = (record.ended - record.started).total_seconds()
            self._runs.append((wall, sum(effort.seconds for effort in record.made)))


def kind_of(node: Mapping[str, Any]) -> Kind:
    """What a node's speed depends on, besides its size; `node` as a record holds it."""
    parameters = node["parameters"]
    for name, which in (("strategy", "name"), ("retriever", "name"), ("model", "digest")):
        if isinstance(parameters.get(name), Mapping):
            return node["stage"], str(parameters[name].get(which))
    return node["stage"], ""


def _line(seen: list[tuple[int, float]], new: int) -> float | None:
    """What the straight line through what was seen says: a start, such as loading a model, and so much an item."""
    sizes, seconds = np.array(seen, dtype=np.float64).T
    if new > _REACH * sizes.max():
        return None
    start, each = 0.0, seconds.sum() / sizes.sum()
    if len(set(sizes)) > 1:
        each, start = np.polyfit(sizes, seconds, 1)
    if each < 0:
        start, each = float(np.median(seconds)), 0.0
    if start < 0:
        start, each = 0.0, seconds.sum() / sizes.sum()
    return float(start + each * new)
