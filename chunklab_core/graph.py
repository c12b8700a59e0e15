"""The nodes of one run: which stages it needs, in what order, and which of them must run.

A node is one stage of one strategy or cell. Its reference is the key of all that shapes its result, so it is known
before any work, and the store holds the result under it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from chunklab_core.cache.code_memory import code_remembered
from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.keys import stage_key
from chunklab_core.cache.protocol import Ref, stage_of
from chunklab_core.cache.store import Store
from chunklab_core.retrieve import RETRIEVERS, legs_of, needs_vectors
from chunklab_core.stages import all_stages
from chunklab_core.stages.cells import cell_name, cells_of
from chunklab_core.stages.stage import Node


def node(stage: str, label: str, **arguments: Any) -> Node:
    """The node of a stage; its reference follows from the arguments."""
    return Node(stage, label, ref_of(stage, **arguments), arguments)


def ref_of(stage: str, **arguments: Any) -> Ref:
    """The name under which a stage keeps what it makes of these arguments."""
    return Ref(f"{stage}/{stage_key(stage, **all_stages()[stage].key_parts(arguments))}")


def work_once(work: Iterable[Node]) -> list[Node]:
    """Every piece of work once, under its first label: equal strategies under two labels are one."""
    first: dict[Ref, Node] = {}
    for each in work:
        first.setdefault(each.ref, each)
    return list(first.values())


def inputs_of(work: Node) -> list[Ref]:
    """The references of the results that a node reads."""
    values = [work.arguments[name] for name in all_stages()[work.stage].inputs]
    return [Ref(ref) for value in values for ref in ([value] if isinstance(value, str) else value)]


# ---------------------------------------------------------------- the nodes of a run


def nodes(store: Store, inputs: Ref) -> list[Node]:
    """All nodes of a run, each after those whose results it reads.

    Args:
        store: holds the inputs.
        inputs: what `chunklab_core.stages.prepare.prepare` made of the folder, the questions and the settings.
    """
    with code_remembered(store):
        return _nodes(unpack_json(store.read(inputs)))


def _nodes(run: Mapping[str, Any]) -> list[Node]:
    gold, model, settings = run["gold"], run["model"], run["settings"]["eval"]
    threshold = settings["fuzzy_threshold"]
    suffixes = run["suffixes"]
    pdf = run["settings"]["parse"]["pdf"] if ".pdf" in suffixes else None
    parsed = node("parse", "documents", corpus=run["corpus"], suffixes=suffixes, pdf=pdf, folder=run["folder"])
    located = node("locate", "gold", documents=parsed.ref, gold=gold, fuzzy_threshold=threshold)
    questions = [node("embed", "questions", texts=run["queries"], prompt=run["prompts"][0], **model)] if model else []
    of_strategies = [
        _nodes_of_strategy(run, strategy, parsed.ref, located.ref, [each.ref for each in questions])
        for strategy in run["strategies"]
    ]
    common = {
        "scores": [each.ref for each in chain(*of_strategies) if each.stage == "score"],
        "gold": gold,
        **{name: settings[name] for name in ("ranking_metric", "balanced_lambda", "seed")},
    }
    selected = node(
        "select",
        "all cells",
        documents=parsed.ref,
        located=located.ref,
        queries=run["queries"],
        resamples=settings["bootstrap_resamples"],
        **common,
    )
    axes = [cell.axes for cell in cells_of(run)]
    survey = node("survey", "all cells", verdict=selected.ref, tags=run["tags"], cells=axes, **common)
    return [parsed, *questions, located, *chain(*of_strategies), selected, survey]


def _nodes_of_strategy(
    run: Mapping[str, Any], strategy: Mapping[str, Any], documents: Ref, located: Ref, questions: Sequence[Ref]
) -> list[Node]:
    """From the chunks of one strategy to the scores of its cells."""
    label, gold, model, settings = strategy["label"], run["gold"], run["model"], run["settings"]
    top_k, threshold = settings["retrieval"]["top_k"], settings["eval"]["fuzzy_threshold"]
    chunks = node("chunk", label, documents=documents, **strategy["arguments"])
    embedded = [node("embed", label, texts=chunks.ref, prompt=run["prompts"][1], **model)] if model else []
    vectors = [each.ref for each in embedded]
    health = node(
        "health",
        label,
        chunks=chunks.ref,
        embedded=vectors,
        min_floor_tokens=settings["eval"]["min_floor_tokens"],
        max_tokens=strategy["max_tokens"],
        heading_path=strategy["heading_path"],
    )
    match = node("match", label, chunks=chunks.ref, located=located, gold=gold, fuzzy_threshold=threshold)
    ceiling = node("ceiling", label, matched=match.ref, gold=gold, top_k=top_k)
    searches = _searches(run, label, chunks.ref, vectors, questions)
    scores = [
        node(
            "score",
            cell_name(label, retriever),
            retrieved=searches[retriever][-1].ref,
            legs=[searches[leg][-1].ref for leg in legs_of(retriever)],
            embedded=vectors if needs_vectors(retriever) else [],
            chunks=chunks.ref,
            matched=match.ref,
            gold=gold,
            leg_names=list(legs_of(retriever)),
            candidates=settings["retrieval"]["candidates"],
            top_k=top_k,
        )
        for retriever in run["retrievers"]
    ]
    return [chunks, *embedded, health, match, ceiling, *chain(*searches.values()), *scores]


def _searches(
    run: Mapping[str, Any], label: str, chunks: Ref, vectors: Sequence[Ref], questions: Sequence[Ref]
) -> dict[str, list[Node]]:
    """By retriever, legs before fusions: the index it searches and its rankings."""
    settings = run["settings"]["retrieval"]
    depth = max(settings["candidates"], *settings["top_k"])
    wanted = {leg for retriever in run["retrievers"] for leg in (*legs_of(retriever), retriever)}
    searches: dict[str, list[Node]] = {}
    for name in sorted(wanted, key=lambda name: (bool(RETRIEVERS[name].legs), list(RETRIEVERS).index(name))):
        kind = RETRIEVERS[name].index
        if kind is None:
            index, sources = [], [searches[leg][-1].ref for leg in legs_of(name)]
        else:
            source, queries = (vectors[0], questions[0]) if kind == "vectors" else (chunks, run["queries"])
            index = [node("index", cell_name(label, name), source=source, kind=kind)]
            sources = [index[0].ref, queries]
        parameters = {key.rpartition(".")[2]: _setting(settings, key) for key in RETRIEVERS[name].settings}
        retriever = {"name": name, "depth": depth, **parameters}
        searches[name] = [*index, node("retrieve", cell_name(label, name), sources=sources, retriever=retriever)]
    return searches


def _setting(settings: Mapping[str, Any], key: str) -> Any:
    """The value of a dotted key."""
    section, dot, rest = key.partition(".")
    return _setting(settings[section], rest) if dot else settings[section]


# ---------------------------------------------------------------- which nodes must run


def nodes_to_run(store: Store, work: Sequence[Node], refresh: Collection[str] = ()) -> set[Ref]:
    """The nodes whose results are missing, or damaged where another node that must run reads them.

    Removes damaged results, and all results of the stages in `refresh` with their items.
    """
    for each in work:
        if each.stage in refresh:
            store.discard_with_items(each.ref)
    return nodes_missing(store, work)


def nodes_missing(store: Store, work: Sequence[Node], refresh: Collection[str] = ()) -> set[Ref]:
    """As `nodes_to_run`, but `refresh` only counts: no result is removed that is whole."""
    todo = {each.ref for each in work if each.stage in refresh or not store.holds(each.ref)}
    by_ref = {each.ref: each for each in work}
    for each in reversed(work):
        in_report = all_stages()[each.stage].in_report
        if each.ref not in todo and in_report and not store.intact(each.ref, with_items=False):
            todo.add(each.ref)
        if each.ref in todo:
            todo |= {ref for ref in _read_by(each, by_ref) if not store.intact(ref)}
    return todo


def _read_by(work: Node, by_ref: Mapping[Ref, Node]) -> set[Ref]:
    """The nodes whose results a node reads: its inputs, and for chunks the documents that hold their text."""
    inputs = {ref for ref in inputs_of(work) if ref in by_ref}
    return inputs.union(*(inputs_of(by_ref[ref]) for ref in inputs if stage_of(ref) == "chunk")) & by_ref.keys()
