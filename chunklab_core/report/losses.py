"""Where the leader loses answers, in a few lines: the part, its share, the questions, and the next step.

Why: a recall of 0.7 shows that something should change; these lines name it. report.json has the rest, cell by cell
and question by question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from chunklab_core.records.report import Cell, Report
from chunklab_core.records.scores import LossPart
from chunklab_core.report.words import count

_PARTS_SHOWN = 3
_QUESTIONS_SHOWN = 3


def lines_of_loss(report: Report) -> Iterator[str]:
    """A line for each part in which the leader loses most; none where it finds every answer."""
    cell = next(cell for cell in report.cells if cell.cell == report.verdict.leader)
    lost = sorted((entry for entry in cell.loss.items() if entry[1]), key=lambda entry: -entry[1])
    if lost:
        missed = f"The leader {cell.cell} misses {1 - cell.recall_at_k:.3f} of the recall."
        yield f"{missed} Where the gold is, and what to do:"
    for part, share in lost[:_PARTS_SHOWN]:
        yield f"{share:.3f} {part}, {_questions(cell, part)}: {_next_step(report, cell, part)}."
    if len(lost) > _PARTS_SHOWN:
        rest = ", ".join(f"{share:.3f} {part}" for part, share in lost[_PARTS_SHOWN:])
        yield f"and {rest}; report.json has the questions."


def next_step(
    part: LossPart, *, retriever: str, k: int, candidates: int, model: str = "", max_length: int | None = None
) -> str:
    """The remedy for gold that was lost in this part, in half a sentence.

    Args:
        part: where it was lost.
        retriever: of the cell; it is not recommended again.
        k: the number of chunks a reader gets.
        candidates: the number of candidates of each leg.
        model: the embedding model's name, and `max_length` the tokens that it reads, where one is used.
    """
    fuses = retriever == "hybrid"
    return {
        "parse": "in no parsed text; check that its document was read, and copy the gold from the document",
        "cut": "split across chunks; increase overlap or chunk size",
        "truncated": f"beyond the {max_length or 'last'} tokens that {model or 'the model'} reads; use shorter chunks, "
        f"or {'a model that reads more' if fuses else 'add the keyword search (hybrid)'}",
        "candidates": f"not in the first {candidates} of any search; try {'another model' if fuses else 'hybrid'}, "
        "or increase retrieval.candidates",
        "rerank": f"moved out of the top {k} by the reranker; compare with retrieval.rerank: none",
        "fusion": f"in the top {k} of only one search; compare the searches, or decrease retrieval.rrf_k",
        "below_k": f"a candidate, but below rank {k}; increase retrieval.top_k",
    }[part]


def _questions(cell: Cell, part: LossPart) -> str:
    """How many questions lose gold in this part, and the first of them."""
    named = [question.id for question in cell.per_question if part in question.lost]
    more = ", ..." if len(named) > _QUESTIONS_SHOWN else ""
    return f"{count(len(named), 'question')} ({', '.join(named[:_QUESTIONS_SHOWN])}{more})"


def _next_step(report: Report, cell: Cell, part: LossPart) -> str:
    retrieval = cast("Mapping[str, Any]", report.provenance.config["retrieval"])
    windows = {model.name: model.max_length for model in report.provenance.models}
    name = cell.model or ""
    return next_step(
        part,
        retriever=cell.retriever,
        k=report.k,
        candidates=retrieval["candidates"],
        model=name,
        max_length=windows.get(name),
    )
