"""Where the leader loses answers, as the screen shows it."""

from __future__ import annotations

from dataclasses import replace

from chunklab_core.records.report import Report
from chunklab_core.records.scores import LossPart
from chunklab_core.report.losses import lines_of_loss, next_step

PARTS: tuple[LossPart, ...] = ("parse", "cut", "truncated", "candidates", "rerank", "fusion", "below_k")


def losing(report: Report, lost: dict[str, tuple[LossPart | None, ...]], **shares: float) -> Report:
    """The report with a leader that loses these shares; its questions have these names and lose these slots."""
    leader = report.cells[0]
    questions = tuple(replace(leader.per_question[0], id=name, lost=parts) for name, parts in lost.items())
    loss = {part: shares.get(part, 0.0) for part in PARTS}
    recall = 1 - sum(shares.values())
    changed = replace(leader, metrics={**leader.metrics, "recall_at_k": recall}, loss=loss, per_question=questions)
    return replace(report, cells=(report.cells[1], changed, report.cells[2]))  # the leader need not come first


def test_the_largest_part_comes_first_with_its_questions_and_the_next_step(report: Report) -> None:
    lost: dict[str, tuple[LossPart | None, ...]] = {
        "a": ("truncated", None),
        "b": (None,),
        "c": ("below_k", "below_k"),
        "d": ("truncated",),
    }

    assert list(lines_of_loss(losing(report, lost, below_k=0.25, truncated=0.375))) == [
        "The leader fixed/dense misses 0.625 of the recall. Where the gold is, and what to do:",
        "0.375 truncated, 2 questions (a, d): beyond the 256 tokens that all-MiniLM-L6-v2 reads; use shorter "
        "chunks, or add the keyword search (hybrid).",
        "0.250 below_k, 1 question (c): a candidate, but below rank 2; increase retrieval.top_k.",
    ]


def test_the_largest_parts_and_first_questions_are_named_and_the_rest_counted(report: Report) -> None:
    lost: dict[str, tuple[LossPart | None, ...]] = {f"q{at}": ("cut", "parse", "fusion", "below_k") for at in range(5)}
    lines = list(lines_of_loss(losing(report, lost, cut=0.4, parse=0.3, fusion=0.2, below_k=0.1)))

    assert len(lines) == 5
    assert lines[1].startswith("0.400 cut, 5 questions (q0, q1, q2, ...): ")
    assert lines[-1] == "and 0.100 below_k; report.json has the questions."


def test_a_leader_that_finds_everything_has_no_lines(report: Report) -> None:
    assert list(lines_of_loss(report)) == []


def test_every_part_has_a_next_step_of_its_own() -> None:
    steps = {
        part: next_step(part, retriever="dense", k=5, candidates=100, model="mini", max_length=256) for part in PARTS
    }

    assert len(set(steps.values())) == len(PARTS)
    assert "256 tokens that mini reads" in steps["truncated"]
    assert "first 100" in steps["candidates"]
    assert "below rank 5" in steps["below_k"]


def test_hybrid_is_not_recommended_to_a_cell_that_uses_it() -> None:
    def advised(retriever: str) -> set[bool]:
        return {"hybrid" in next_step(part, retriever=retriever, k=5, candidates=9) for part in PARTS}

    assert advised("hybrid") == {False}
    assert advised("dense") == {False, True}
