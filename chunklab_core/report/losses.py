"""Where the leader loses answers, in a few lines: the part, its share, the questions, and what to do next.

Why: a recall of 0.7 says that something should change, and this says what. The rest stands in report.json, cell by
cell and question by question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from chunklab_core.records.report import Cell, Report
from chunklab_core.records.scores import LossPart

_PARTS_SHOWN = 3
_QUESTIONS_SHOWN = 3


def lines_of_loss(report: Report) -> Iterator[str]:
    """A line for each part in which the leader loses most; none where it finds every answer."""
    cell = next(cell for cell in report.cells if cell.cell == report.verdict.leader)
    lost = sorted((entry for entry in cell.loss if entry[1]), key=lambda entry: -entry[1])
    if lost:
        yield f"Lost by {cell.cell}, {1 - cell.recall_at_k:.3f} of the recall:"
    for part, share in lost[:_PARTS_SHOWN]:
        yield f"{share:.3f} {part}, {_questions(cell, part)}: {_next_step(report, cell, part)}."
    if len(lost) > _PARTS_SHOWN:
        rest = ", ".join(f"{share:.3f} {part}" for part, share in lost[_PARTS_SHOWN:])
        yield f"and {rest}; report.json has the questions."


def next_step(
    part: LossPart, *, retriever: str, k: int, candidates: int, model: str = "", max_length: int | None = None
) -> str:
    """What to do about gold that was lost in this part, in half a sentence.

    Args:
        part: where it was lost.
        retriever: of the cell; nobody is told to try what they use already.
        k: the number of chunks a reader gets.
        candidates: how deep each leg's candidates go.
        model: the embedding model's name, and `max_length` the tokens that it reads, where one is used.
    """
    fuses = retriever == "hybrid"
    return {
        "parse": "stands in no parsed text: see whether its document was read, and copy the wording from there",
        "cut": "whole in no chunk: raise their overlap or size",
        "truncated": f"stands past the {max_length or 'last'} tokens that {model or 'the model'} reads: use shorter "
        f"chunks, or {'a model that reads more' if fuses else 'add the keyword search (hybrid)'}",
        "candidates": f"not among the first {candidates} of any search: try {'another model' if fuses else 'hybrid'}, "
        "or raise retrieval.candidates",
        "rerank": f"the reranker moves it out of the top {k}: compare with retrieval.rerank: none",
        "fusion": f"in the top {k} of one search alone: compare the searches, or lower retrieval.rrf_k",
        "below_k": f"a candidate below rank {k}: raise retrieval.top_k",
    }[part]


def _questions(cell: Cell, part: LossPart) -> str:
    """How many questions lose gold in this part, and the first of them."""
    named = [entry.score.question_id for entry in cell.per_question if part in entry.lost]
    more = ", ..." if len(named) > _QUESTIONS_SHOWN else ""
    return f"{len(named)} question{'' if len(named) == 1 else 's'} ({', '.join(named[:_QUESTIONS_SHOWN])}{more})"


def _next_step(report: Report, cell: Cell, part: LossPart) -> str:
    retrieval = cast("Mapping[str, Any]", report.provenance.config["retrieval"])
    windows = {model.name: model.max_length for model in report.provenance.models}
    name = cell.model or ""
    return next_step(
        part,
        retriever=cell.retriever,
        k=report.top_k,
        candidates=retrieval["candidates"],
        model=name,
        max_length=windows.get(name),
    )
