"""A run beside an earlier one: which earlier run it resembles most, and which of its nodes did the same work.

A key tells that two pieces of work differ, but not how. So the record of a run holds the parts that made up its keys,
and the next run compares its own parts with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chunklab_core.cache.formats import pack_json, unpack_json
from chunklab_core.cache.keys import version_of, versions_of
from chunklab_core.cache.run_records import RunRecord
from chunklab_core.cache.runs import records
from chunklab_core.cache.store import Store
from chunklab_core.models.sentence_transformer import LIBRARIES
from chunklab_core.stages import all_stages
from chunklab_core.stages.stage import Node

MISSING = object()
"""The value of a parameter that one of the two runs does not have."""

Explained = Mapping[str, Any]
"""A node as a record holds it: stage, label, ref, the parts of its key, the methods that its arguments choose
(`chosen`), and its other arguments (`beside`)."""

Difference = tuple[tuple[str, ...], Any, Any]
"""The path of a value in nested mappings, the value before and the value now."""


def explain(run: Mapping[str, Any], work: Sequence[Node]) -> dict[str, Any]:
    """Everything that shapes the results of a run, in plain JSON types; `run` is the content of its inputs."""
    explained: dict[str, Any] = {name: run[name] for name in ("folder", "questions_file", "corpus", "questions")}
    explained["backend"] = {name: version_of(name) for name in LIBRARIES}
    explained["nodes"] = [_explain(node) for node in work]
    plain: dict[str, Any] = unpack_json(pack_json(explained))
    return plain


def _explain(node: Node) -> Explained:
    stage = all_stages()[node.stage]
    parts = stage.key_parts(node.arguments)
    beside = {name: node.arguments[name] for name in stage.unkeyed}
    libraries = versions_of(parts["libraries"])
    return {
        "stage": node.stage,
        "label": node.label,
        "ref": node.ref,
        **parts,
        "libraries": libraries,
        "chosen": list(stage.chosen(node.arguments)),
        "beside": beside,
    }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside an earlier one.

    Attributes:
        store: holds the inputs of both, unless those of the earlier run were removed.
        now, before: the result of `explain` for each; `before` is empty without an earlier run.
        earlier: the record of the earlier run; None if there is none.
        labels: for each strategy with a new label, its label in the earlier run.
    """

    store: Store
    now: Mapping[str, Any]
    before: Mapping[str, Any]
    earlier: RunRecord | None
    labels: Mapping[str, str]

    def counterpart(self, node: Explained) -> Explained | None:
        """The node of the earlier run that did the same work."""
        name = (node["stage"], self.label_before(node["label"]))
        return next((old for old in self.before.get("nodes", ()) if (old["stage"], old["label"]) == name), None)

    def label_before(self, label: str) -> str:
        """The label of a strategy, or of one of its cells, in the earlier run."""
        strategy, slash, retriever = label.rpartition("/")
        return self.labels.get(label) or self.labels.get(strategy, strategy) + slash + retriever


def compare(store: Store, now: Mapping[str, Any], but: str = "") -> Comparison:
    """A run beside the last one over the same folder and questions file, else the same folder, else the last one.

    Args:
        store: the cache.
        now: the result of `explain` for the run.
        but: the id of the run itself, if it is on record already.
    """
    earlier = _most_similar(now, (record for record in records(store, but) if record.explained))
    before = earlier.explained if earlier else {}
    return Comparison(store, now, before, earlier, _renamed(now, before))


def differences(now: Any, before: Any, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Every value that differs; a value that one side lacks is `MISSING` there."""
    if isinstance(now, Mapping) and isinstance(before, Mapping):
        for name in dict.fromkeys([*now, *before]):
            yield from differences(now.get(name, MISSING), before.get(name, MISSING), (*path, name))
    elif now is MISSING or before is MISSING or (type(now), now) != (type(before), before):
        yield path, before, now


def _most_similar(now: Mapping[str, Any], earlier: Iterator[RunRecord]) -> RunRecord | None:
    latest = same_folder = None
    for record in earlier:
        if record.explained["folder"] == now["folder"]:
            if record.explained["questions_file"] == now["questions_file"]:
                return record
            same_folder = same_folder or record
        latest = latest or record
    return same_folder or latest


def _renamed(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, str]:
    """For each new label of a strategy, the old label whose strategy has the same method and the closest parameters."""
    new, old = ({node["label"]: node for node in run.get("nodes", ()) if _method(node)} for run in (now, before))
    free = {label: node for label, node in old.items() if label not in new}
    renamed = {}
    for label, node in new.items():
        distances = {
            name: len([*differences(node["parameters"], other["parameters"])])
            for name, other in free.items()
            if _method(other) == _method(node)
        }
        if label not in old and distances:
            renamed[label] = min(distances, key=distances.__getitem__)
            del free[renamed[label]]
    return renamed


def _method(node: Explained) -> str | None:
    """The chunker of a node that cuts documents; None for every other node."""
    strategy = node["parameters"].get("strategy")
    return str(strategy["name"]) if isinstance(strategy, Mapping) else None
