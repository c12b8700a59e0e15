"""What a run will do, said before it does it: which results are reused, which are made, why, and for how long.

Why: a run may take an hour. Who sees beforehand that one typed parameter re-embeds everything can still think again;
who sees afterwards why a stage ran need not wonder whether the cache works.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chunklab_core.cache.code_memory import code_ref
from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import Ref, stage_of
from chunklab_core.cache.runs import begin, records
from chunklab_core.cache.store import Store
from chunklab_core.embed import shelf_of, text_keys
from chunklab_core.graph import nodes_missing, nodes_to_run, work_once
from chunklab_core.parse.folder import SourceFile
from chunklab_core.plan.estimates import History
from chunklab_core.plan.reasons import Comparison, compare, explain, reasons_of
from chunklab_core.stages.chunk import chunk_keys
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.documents import document_entries
from chunklab_core.stages.parse import parse_keys
from chunklab_core.stages.stage import Node

UNITS = {"parse": "documents", "chunk": "documents", "embed": "texts"}
"""What the items of a stage are, in the user's words."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How much of a node's work is new.

    Attributes:
        new: items to be made; None where that is not known before the stage before has run.
        of: items in all; None likewise.
        unit: what the items are.
        about: the numbers are those of an earlier run, or may change with documents that cannot be read.
    """

    new: int | None
    of: int | None
    unit: str
    about: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One node of a plan.

    Attributes:
        reasons: why it runs; empty for a node that is reused.
        amount: how much of it is new; None for a stage that keeps no items, and for a node that is reused.
        seconds: how long it will take; None where nothing like it was done on this machine, or its size is unknown.
    """

    stage: str
    label: str
    reasons: tuple[str, ...]
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
        compared_with: start of the earlier run that the reasons speak of; None where there is none.
        seconds: how long the steps with an estimate take, side by side where they run so; None without any.
        has_history: whether anything was ever run on this machine with this cache.
    """

    steps: tuple[Step, ...]
    compared_with: datetime | None
    seconds: float | None
    has_history: bool


def make_plan(store: Store, inputs: Ref, work: Sequence[Node], refresh: Collection[str] = ()) -> Plan:
    """The plan of a run; nothing is made, no model is loaded, and nothing is taken away but damaged results.

    Args:
        store: holds the inputs, and what earlier runs made.
        inputs: what `chunklab_core.stages.prepare.prepare` returned.
        work: the nodes of the run.
        refresh: stages that are run whatever the store holds.
    """
    explained = explain(unpack_json(store.read(inputs)), work)
    todo = nodes_missing(store, work, refresh)
    comparison = compare(store, explained)
    reasons = reasons_of(comparison, todo, refresh)
    history = History(records(store)) if todo else History(())
    counting = _Counting(store, work, todo, comparison, refresh)
    steps = []
    for one in work_once(work):
        if one.ref not in todo:
            steps.append(Step(one.stage, one.label, ()))
            continue
        amount = counting.amount(one)
        sized = amount is None or amount.new is not None
        seconds = history.seconds(counting.explained[one.ref], amount.new if amount else None) if sized else None
        steps.append(Step(one.stage, one.label, tuple(reasons[one.ref]), amount, seconds))
    known = [step.seconds for step in steps if step.seconds is not None]
    return Plan(
        steps=tuple(steps),
        compared_with=comparison.earlier.started if comparison.earlier else None,
        seconds=history.wall_seconds(known) if known else None if todo else 0.0,
        has_history=bool(history),
    )


@contextmanager
def recorded(
    store: Store, inputs: Ref, work: Sequence[Node], refresh: Collection[str] = ()
) -> Iterator[dict[Ref, list[str]]]:
    """Keeps a record of a run while it lasts, and gives what has to be made, each with its reasons."""
    run = unpack_json(store.read(inputs))
    explained = explain(run, work)
    typed = [Ref(run[name]) for name in ("corpus", "queries", "questions", "gold", "tags")]
    with begin(store, inputs, [code_ref(), *typed, *(one.ref for one in work)], explained) as run_id:
        todo = nodes_to_run(store, work, refresh)
        yield reasons_of(compare(store, explained, but=run_id), todo, refresh) if todo else {}


# ---------------------------------------------------------------- how much is new


class _Counting:
    """Looks up how many items of a node are in the store already, as far as that is known before any work."""

    def __init__(
        self,
        store: Store,
        work: Sequence[Node],
        todo: Collection[Ref],
        comparison: Comparison,
        refresh: Collection[str],
    ) -> None:
        self._store, self._todo, self._comparison, self._refresh = store, todo, comparison, refresh
        self._nodes = {one.ref: one for one in work}
        self.explained = {node["ref"]: node for node in comparison.now["nodes"]}
        self._counts: Mapping[str, Callable[[Node], Amount]] = {
            "parse": self._parsed,
            "chunk": self._cut,
            "embed": self._embedded,
        }

    def amount(self, one: Node) -> Amount | None:
        """How much of a node's work is new; None for a stage that keeps no items, or where what it reads is damaged."""
        count = self._counts.get(one.stage)
        try:
            return count(one) if count else None
        except KeyError:
            return None

    def _parsed(self, one: Node) -> Amount:
        return self._of_keys(one.stage, "parse", [key for _, key in self._files(one)])

    def _cut(self, one: Node) -> Amount:
        documents = Ref(one.arguments["documents"])
        about = documents in self._todo
        if about:  # some may turn out to be unreadable
            doc_ids, parsed = zip(*self._files(self._nodes[documents]), strict=True)
        else:
            doc_ids = tuple(entry["id"] for entry in document_entries(self._store, documents))
            parsed = self._store.items_of(documents)
        keys = chunk_keys(doc_ids, parsed, one.arguments["strategy"], one.arguments["target"])
        return self._of_keys(one.stage, "chunk", keys, about)

    def _embedded(self, one: Node) -> Amount:
        texts = Ref(one.arguments["texts"])
        if texts in self._todo:
            return self._guessed(one, texts)
        asked = stage_of(texts) == "queries"
        source = unpack_json(self._store.read(texts)) if asked else ChunkTable(self._store, texts).texts()
        keys = text_keys([one.arguments["prompt"] + text for text in source])
        return self._of_keys(one.stage, shelf_of(one.arguments["model"]["digest"]), keys)

    def _guessed(self, one: Node, chunks: Ref) -> Amount:
        """From the earlier run: its number of texts, less the share of documents whose chunks are known."""
        earlier = self._comparison.counterpart(self.explained[one.ref])
        cut = self._cut(self._nodes[chunks])
        try:
            texts = len(set(self._store.items_of(earlier["ref"]))) if earlier else None
        except KeyError:
            texts = None
        if texts is None or not cut.of or cut.new is None:
            return Amount(None, None, UNITS[one.stage])
        return Amount(-(-texts * cut.new // cut.of), texts, UNITS[one.stage], about=True)

    def _files(self, one: Node) -> list[tuple[str, bytes]]:
        files = [SourceFile(**file) for file in unpack_json(self._store.read(Ref(one.arguments["corpus"])))]
        keys = parse_keys(files, one.arguments["pdf"])
        return [(file.doc_id, key) for file, key in zip(files, keys, strict=True)]

    def _of_keys(self, stage: str, shelf: str, keys: Sequence[bytes], about: bool = False) -> Amount:
        of = len(set(keys))
        new = of if stage in self._refresh else len(self._store.missing_items(shelf, keys))
        return Amount(new, of, UNITS[stage], about)


def plan_to_mapping(plan: Plan) -> dict[str, Any]:
    """A plan in plain JSON types."""
    return {
        "run": sum(step.runs for step in plan.steps),
        "reused": sum(not step.runs for step in plan.steps),
        "seconds": None if plan.seconds is None else round(plan.seconds, 1),
        "without_estimate": sum(step.runs and step.seconds is None for step in plan.steps),
        "compared_with": plan.compared_with and plan.compared_with.isoformat(timespec="seconds"),
        "nodes": [_step_to_mapping(step) for step in plan.steps],
    }


def _step_to_mapping(step: Step) -> dict[str, Any]:
    mapping: dict[str, Any] = {"stage": step.stage, "label": step.label, "runs": step.runs}
    if not step.runs:
        return mapping
    mapping |= {"reasons": list(step.reasons), "seconds": None if step.seconds is None else round(step.seconds, 1)}
    if step.amount:
        amount = step.amount
        mapping["items"] = {"new": amount.new, "of": amount.of, "unit": amount.unit, "about": amount.about}
    return mapping
