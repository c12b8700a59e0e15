"""A run on record: everything that shapes its results, for the reasons of the next run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from chunklab_core.cache.code_memory import code_ref
from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.runs import begin
from chunklab_core.cache.store import Store
from chunklab_core.graph import nodes_to_run
from chunklab_core.plan.comparison import compare, explain
from chunklab_core.plan.reasons import reasons_of
from chunklab_core.plan.sentences import sentence
from chunklab_core.stages.stage import Node

_TYPED = ("corpus", "queries", "questions", "gold", "tags")


@contextmanager
def recorded(
    store: Store, inputs: Ref, work: Sequence[Node], refresh: Collection[str] = ()
) -> Iterator[dict[Ref, list[str]]]:
    """Keeps a record of a run while it lasts, and gives the results that it has to make, each with its reasons."""
    run = unpack_json(store.read(inputs))
    explained = explain(run, work)
    refs = [code_ref(), *(Ref(run[name]) for name in _TYPED), *(node.ref for node in work)]
    with begin(store, inputs, refs, explained) as run_id:
        missing = nodes_to_run(store, work, refresh)
        reasons = reasons_of(compare(store, explained, but=run_id), missing, refresh) if missing else {}
        yield {ref: [sentence(reason) for reason in of_result] for ref, of_result in reasons.items()}
