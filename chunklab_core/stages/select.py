"""Stage select: what the evidence says about all cells, their intervals, and which questions count together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.formats import pack_json, unpack_json
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.records.survey import Interval
from chunklab_core.score.stored import SlotPlaces, unpack_slot_places
from chunklab_core.select.balanced import balanced
from chunklab_core.select.bootstrap import ci95
from chunklab_core.select.breakdown import recall_by_part
from chunklab_core.select.near_duplicates import group_questions
from chunklab_core.select.wilson import ci95_wilson, needs_wilson
from chunklab_core.select.winner import FEW_DOCUMENTS, select_winner
from chunklab_core.stages.documents import document_entries
from chunklab_core.stages.locate import read_gold
from chunklab_core.stages.stage import Made, Progress, Stage

GoldPlace = tuple[str, int, int]
"""Id of a document, start and end in its characters."""


def select(
    store: ResultStore,
    _: Progress,
    *,
    scores: Sequence[Ref],
    documents: Ref,
    located: Ref,
    gold: Ref,
    queries: Ref,
    ranking_metric: str,
    balanced_lambda: float,
    seed: int,
    resamples: int,
) -> Made:
    """The verdict, what each cell costs, the groups of questions, and the gold that is in no document."""
    questions = read_gold(store, gold)
    doc_ids = [entry["id"] for entry in document_entries(store, documents)]
    places = unpack_slot_places(store.read(located))
    of_slots = [
        [_nearest(places, index, slot, doc_ids) for slot in range(len(question.slots))]
        for index, question in enumerate(questions)
    ]
    of_questions = [_documents(places, index, len(slots), doc_ids) for index, slots in enumerate(of_slots)]
    groups = group_questions(unpack_json(store.read(queries)), questions, of_slots)
    judged = [unpack_json(store.read(ref))["by_k"][0]["questions"] for ref in scores]
    recall, tokens = figures(judged, "recall_at_k"), figures(judged, "retrieved_tokens_at_k")
    verdict = select_winner(
        recall,
        tokens=tokens,
        price_counts=ranking_metric == "balanced",
        documents=_labels(of_questions),
        groups=groups,
        balanced_lambda=balanced_lambda,
        seed=seed,
    )
    intervals = _intervals(recall, groups, resamples, seed)
    payload = {
        "verdict": asdict(verdict),
        **_priced(recall, tokens, verdict.in_play, balanced_lambda),
        "ci95": [interval for interval, _ in intervals],
        "ci95_wilson": [wilson for _, wilson in intervals],
        "groups": groups,
        "documents": of_questions,
        "nowhere": [
            [index, slot] for index, slots in enumerate(of_slots) for slot, place in enumerate(slots) if not place
        ],
    }
    return pack_json(payload), None


def figures(cells: Sequence[Sequence[Mapping[str, Any]]], figure: str) -> NDArray[np.float64]:
    """One figure of every question under every cell. Shape (cells, questions)."""
    return np.array([[question["metrics"][figure] for question in cell] for cell in cells], dtype=np.float64)


def _nearest(places: SlotPlaces, question: int, slot: int, doc_ids: Sequence[str]) -> GoldPlace | None:
    """The place that reads most like a slot, the first of several; None where it is in no document."""
    of_slot = places.get((question, slot), ())
    best = min(of_slot, key=lambda place: (place.edits, place.document, place.start, place.end), default=None)
    return (doc_ids[best.document], best.start, best.end) if best else None


def _documents(places: SlotPlaces, question: int, n_slots: int, doc_ids: Sequence[str]) -> list[str]:
    """The ids of all documents that hold any of a question's gold, in the order of the corpus."""
    rows = {place.document for slot in range(n_slots) for place in places.get((question, slot), ())}
    return [doc_ids[row] for row in sorted(rows)]


def _labels(of_questions: Sequence[Sequence[str]]) -> list[str] | None:
    """For each question the documents its gold is in, as one label; None where the documents are too few."""
    holding = {doc_id for doc_ids in of_questions for doc_id in doc_ids}
    return [", ".join(doc_ids) for doc_ids in of_questions] if len(holding) >= FEW_DOCUMENTS else None


def _priced(
    recall: NDArray[np.float64], tokens: NDArray[np.float64], in_play: Sequence[int], balanced_lambda: float
) -> dict[str, list[float | None]]:
    """`balanced` of every cell, and `balanced_in_play` of those in play."""
    means, costs = recall.mean(axis=1), tokens.mean(axis=1)
    plays = np.isin(np.arange(len(recall)), in_play)
    among_those = balanced(means, costs, balanced_lambda, plays).tolist()
    return {
        "balanced": balanced(means, costs, balanced_lambda).tolist(),
        "balanced_in_play": [value if is_in else None for value, is_in in zip(among_those, plays, strict=True)],
    }


def _intervals(
    recall: NDArray[np.float64], groups: Sequence[str], resamples: int, seed: int
) -> list[tuple[Interval | None, Interval | None]]:
    """The interval of each cell's recall, and Wilson's where a report shows it beside."""
    if len(set(groups)) == len(groups):
        return [(ci95(cell, resamples, seed), ci95_wilson(cell) if needs_wilson(cell) else None) for cell in recall]
    whole = recall_by_part(recall, [["all"]] * len(groups), groups, resamples=resamples, seed=seed)
    return [(part.ci95 or (part.recall, part.recall), part.ci95_wilson) for (part,) in whole.cells]


STAGE = Stage(
    select,
    "What the evidence says about all cells.",
    inputs=("scores", "documents", "located", "gold", "queries"),
    libraries=("numpy", "scipy", "regex"),
    in_report=True,
)
