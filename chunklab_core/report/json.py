"""report.json: all figures of a run, for programs and for later runs to compare with.

Why: a figure that cannot be traced to its inputs, or that differs between two equal runs, is no evidence. So the
text is the same byte for byte for equal inputs; what must differ stands apart under `provenance.run`, and a figure
that is not defined is null with its reason under `undefined` beside it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from chunklab_core.records.chunks import Health
from chunklab_core.records.report import (
    Cell,
    CellAtK,
    CellQuestion,
    CellVerdict,
    ChunkEntry,
    DocumentEntry,
    MadeEntry,
    Provenance,
    Report,
)
from chunklab_core.records.scores import FuzzyFind
from chunklab_core.report.survey import parts_to_mapping, survey_to_mapping

SCHEMA_VERSION = 1

_NO_PRICE = "no cell retrieved a token, so there is no price to compare with"
_NO_COST = "what the cells retrieve is not known"
_NO_CHUNKS = "the strategy made no chunk"
# Legal in JSON and a danger elsewhere: terminals obey C1 and bidi controls, JavaScript breaks lines at U+2028, and
# half a surrogate pair (from a file name that is no UTF-8) cannot be encoded.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_EXPANDED = 3  # levels whose entries get a line each, so that two reports can be compared with a line diff


def report_to_json(report: Report) -> str:
    """The text of report.json; ends with a newline, encodes as UTF-8.

    Raises:
        ValueError: a figure is NaN or infinite; the message names it.
    """
    mapping = report_to_mapping(report)
    try:
        text = "".join(_lines(mapping, 0))
    except ValueError:
        raise ValueError(f"report_to_json: {_first_odd_number(mapping, 'report')} is no finite number.") from None
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"


def report_to_mapping(report: Report) -> dict[str, Any]:
    """The report in plain JSON types, in the order in which it is written."""
    return {
        "schema_version": SCHEMA_VERSION,
        "provenance": _provenance(report.provenance),
        "documents": [_document(entry) for entry in report.documents],
        "skipped": [{"path": entry.path, "reason": entry.reason} for entry in report.skipped],
        "questions": {
            "total": report.n_questions,
            "scored": report.n_questions - len(report.unscored),
            "skipped": [{"id": question_id, "reason": "no gold_snippets"} for question_id in report.unscored],
        },
        "k": report.top_k,
        "ranking_metric": report.ranking_metric,
        "verdict": _verdict(report.verdict),
        **survey_to_mapping(report),
        "warnings": [
            {"code": entry.code, "severity": entry.severity, "message": entry.message, "where": entry.where}
            for entry in report.warnings
        ],
        "health": [_health(entry) for entry in report.health],
        "cells": [
            {**_cell(cell, report.verdict), **parts_to_mapping(report, at)} for at, cell in enumerate(report.cells)
        ],
        "chunks": {label: [_chunk(chunk) for chunk in chunks] for label, chunks in report.chunks},
    }


def _document(entry: DocumentEntry) -> dict[str, Any]:
    return {
        "id": entry.doc_id,
        "digest": entry.digest,
        "characters": entry.characters,
        "tokens": entry.tokens,
        "warnings": list(entry.warnings),
    }


def _chunk(chunk: ChunkEntry) -> dict[str, Any]:
    return {
        "id": chunk.chunk_id,
        "document": chunk.doc_id,
        "start": chunk.span.start,
        "end": chunk.span.end,
        "tokens": chunk.n_tokens,
    }


def _provenance(provenance: Provenance) -> dict[str, Any]:
    run = provenance.run
    return {
        "versions": dict(sorted(provenance.versions)),
        "seed": provenance.seed,
        "corpus_digest": provenance.corpus_digest,
        "questions_digest": provenance.questions_digest,
        "config": dict(provenance.config),
        "models": [
            {
                "name": model.name,
                "digest": model.digest,
                "max_length": model.max_length,
                "backend": model.backend,
                "undefined": _reasons(("max_length", model.max_length, "the model states no limit")),
            }
            for model in provenance.models
        ],
        "run": {
            "started": run.started,
            "wall_seconds": run.wall_seconds,
            "stages": {entry.stage: {"reused": entry.reused, "run": entry.run} for entry in run.stages},
            "made": [_made(entry) for entry in run.made],
        },
    }


def _made(entry: MadeEntry) -> dict[str, Any]:
    mapping: dict[str, Any] = {"stage": entry.stage, "label": entry.label, "reasons": list(entry.reasons)}
    counted = {"seconds": entry.seconds, "new": entry.n_new, "taken_over": entry.n_taken_over}
    return {**mapping, **{name: value for name, value in counted.items() if value is not None}}


def _cell(cell: Cell, verdict: CellVerdict) -> dict[str, Any]:
    ruled_out = cell.cell in verdict.ruled_out
    mapping = {
        "cell": cell.cell,
        "strategy": cell.strategy,
        "params": dict(cell.params),
        "retriever": cell.retriever,
        "model": cell.model,
        "reranker": cell.reranker,
        **_at_k(cell),
        "balanced": cell.balanced,
        "balanced_in_play": cell.balanced_in_play,
        "ci95": list(cell.ci95),
        "undefined": _reasons(
            ("model", cell.model, f"{cell.retriever} uses no embedding model"),
            ("reranker", cell.reranker, "nothing is reranked"),
            ("balanced", cell.balanced, _NO_PRICE),
            ("balanced_in_play", cell.balanced_in_play, "the cell is ruled out" if ruled_out else _NO_PRICE),
        ),
        "by_k": {str(at.k): _at_k(at) for at in sorted(cell.by_k, key=lambda at: at.k)},
        "per_question": [_question(entry) for entry in cell.per_question],
    }
    return mapping if cell.ci95_wilson is None else {**mapping, "ci95_wilson": list(cell.ci95_wilson)}


def _at_k(at: CellAtK) -> dict[str, Any]:
    return {**at.metrics, "ceiling": asdict(at.ceiling), "loss": dict(at.loss)}


def _question(entry: CellQuestion) -> dict[str, Any]:
    score = entry.score
    mapping: dict[str, Any] = {
        "id": score.question_id,
        "recall": score.metrics["recall_at_k"],
        "first_hit_rank": score.first_hit_rank,
        "found": list(score.found),
        "retrieved": [{"chunk_id": one.chunk_id, "rank": one.rank, "score": one.score} for one in entry.retrieved],
    }
    if any(entry.lost):
        mapping["lost"] = list(entry.lost)
    return {**mapping, "fuzzy": [_fuzzy(find) for find in score.fuzzy]} if score.fuzzy else mapping


def _fuzzy(find: FuzzyFind) -> dict[str, Any]:
    return {"slot": find.slot, "chunk_id": find.chunk_id, "expected": find.expected, "found": find.found}


def _health(health: Health) -> dict[str, Any]:
    oversized = dict(sorted(health.pct_oversized.items()))
    return {
        "strategy": health.strategy,
        "n_chunks": health.n_chunks,
        "median_tokens": health.median_tokens,
        "pct_tiny": health.pct_tiny,
        "pct_oversized": oversized,
        "boundary": health.boundary,
        "tables_intact": health.tables_intact,
        "lost_characters": health.lost_characters,
        "path_shortened": health.path_shortened,
        "undefined": _reasons(
            ("median_tokens", health.median_tokens, _NO_CHUNKS),
            ("pct_tiny", health.pct_tiny, _NO_CHUNKS),
            ("pct_oversized", None if None in oversized.values() else oversized, _NO_CHUNKS),
            ("boundary", health.boundary, _NO_CHUNKS),
            ("tables_intact", health.tables_intact, "the documents hold no table"),
        ),
    }


def _verdict(verdict: CellVerdict) -> dict[str, Any]:
    by_document, on_balance = verdict.p_best_by_document, verdict.p_best_balanced
    return {
        "status": verdict.status,
        "leader": verdict.leader,
        "leader_share": verdict.leader_share,
        "leader_recall_shrunk": verdict.leader_recall_shrunk,
        "at_bar": verdict.at_bar,
        "speaks_of": verdict.speaks_of,
        "p_best": dict(verdict.p_best),
        "p_best_shrunk": dict(verdict.p_best_shrunk),
        "p_best_by_document": None if by_document is None else dict(by_document),
        "p_best_balanced": None if on_balance is None else dict(on_balance),
        "in_play": list(verdict.in_play),
        "ruled_out": list(verdict.ruled_out),
        "cheapest_in_play": verdict.cheapest_in_play,
        "cheapest_difference": verdict.cheapest_difference,
        "cheapest_ci95": None if verdict.cheapest_ci95 is None else list(verdict.cheapest_ci95),
        "questions_needed": verdict.questions_needed,
        "reasons": list(verdict.reasons),
        "undefined": _reasons(
            ("p_best_by_document", by_document, "fewer than 10 documents are known to hold answers"),
            ("p_best_balanced", on_balance, "cells are not ranked by balanced, or no two of them differ"),
            ("cheapest_in_play", verdict.cheapest_in_play, _NO_COST),
            ("cheapest_difference", verdict.cheapest_difference, _NO_COST),
            ("cheapest_ci95", verdict.cheapest_ci95, _NO_COST),
            ("questions_needed", verdict.questions_needed, _no_number(verdict)),
        ),
    }


def _no_number(verdict: CellVerdict) -> str:
    if verdict.status == "leans" and "no_realistic_number" not in verdict.reason_codes:
        return "not more questions are wanting; the reasons say what is"
    return {
        "winner": "the verdict needs no more questions",
        "tied": "the cells do not differ on any question",
        "only": "there is nothing to compare with",
    }.get(verdict.status, "no realistic number")


def _reasons(*entries: tuple[str, object, str]) -> dict[str, str]:
    """Why each value that is None is None, by its key."""
    return {key: reason for key, value, reason in entries if value is None}


# ---------------------------------------------------------------- text


def _lines(value: Any, depth: int) -> Iterator[str]:
    """JSON text in pieces; entries of the outer levels, and the rows of long lists, stand on a line each."""
    rows = isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    if not isinstance(value, dict | list) or not value or depth > _EXPANDED or (depth == _EXPANDED and not rows):
        yield _encode(value)
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    separator = opening + "\n"
    for key, item in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        yield separator + " " * (depth + 1) + (f"{_encode(key)}: " if key is not None else "")
        yield from _lines(item, depth + 1)
        separator = ",\n"
    yield "\n" + " " * depth + closing


def _plain_number(value: Any) -> Any:
    """A numpy number or truth value as Python's own."""
    return value.item()


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain_number).encode  # made once, not per row


def _first_odd_number(value: Any, path: str) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{path} ({value})"
    if isinstance(value, Mapping):
        children = ((f"{path}.{key}", item) for key, item in value.items())
    elif isinstance(value, list):
        children = ((f"{path}[{index}]", item) for index, item in enumerate(value))
    else:
        return None
    return next((odd for name, item in children if (odd := _first_odd_number(item, name))), None)
