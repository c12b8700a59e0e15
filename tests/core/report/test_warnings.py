"""The warnings of a report: which codes it has, and the first few sentences."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from chunklab_core.records.report import Report, Warning
from chunklab_core.report.warnings import Slot, warnings_of


def warned(report: Report, nowhere: Collection[Slot] = (), **small_parts: str | None) -> dict[str, Warning]:
    found = warnings_of(report, nowhere=nowhere, small_parts=small_parts, few_questions=2)
    return {warning.code: warning for warning in found}


def missed(report: Report) -> Report:
    """No cell finds the second question."""
    cells = (
        replace(cell, per_question=(cell.per_question[0], replace(cell.per_question[1], found=(False,), fuzzy=())))
        for cell in report.cells
    )
    return replace(report, cells=tuple(cells))


def with_health(report: Report, **changes: Any) -> Report:
    return replace(report, health=(replace(report.health[0], **changes),))


def test_the_report_of_two_questions_has_these_warnings(report: Report) -> None:
    found = warned(report, by_tag="Few.", by_document=None)

    assert list(found) == [
        "near_duplicate_questions",
        "small_parts",
        "fuzzy_finds",
        "k_covers_all",
        "no_chunks",
        "lost_characters",
        "unscored_questions",
        "skipped_files",
        "document",
    ]
    assert found["near_duplicate_questions"].message == (
        "2 of 2 questions are near-duplicates. They form 1 group; each group is drawn together and counts once: "
        "refund, cash."
    )
    assert (found["small_parts"].message, found["small_parts"].where) == ("Recall by tag: Few.", "by_tag")
    assert found["k_covers_all"].message == (
        "fixed has only 2 chunks and 2 are retrieved, so every chunk is always returned."
    )
    assert found["unscored_questions"].message == "Not scored, because they have no gold: 1 question: open."
    assert found["skipped_files"].message == "Not read: 1 file: locked.pdf (needs a password)."


def test_few_questions_and_questions_that_every_cell_answers_are_warned_of(report: Report) -> None:
    alone = replace(report, cells=report.cells[:1], questions=replace(report.questions, scored=1))

    assert {"few_questions", "all_found"} <= set(warned(alone))
    assert not {"few_questions", "all_found"} & set(warned(report))


def test_a_missed_answer_is_absent_or_hard(report: Report) -> None:
    absent, hard = warned(missed(report), nowhere={(1, 0)}), warned(missed(report))

    assert "cash" in absent["gold_not_in_documents"].message
    assert "cash" in hard["found_by_no_cell"].message
    assert ("found_by_no_cell" in absent, "gold_not_in_documents" in hard) == (False, False)


@pytest.mark.parametrize(
    ("changes", "code", "severity"),
    [
        ({"n_chunks": 0}, "no_chunks", "error"),
        ({"path_shortened": 1}, "path_shortened", "info"),
        ({"lost_characters": 4}, "lost_characters", "warning"),
        ({"pct_oversized": {"none": 0.06}}, "oversized", "warning"),
    ],
)
def test_what_a_strategy_does_is_warned_of(report: Report, changes: Any, code: str, severity: str) -> None:
    assert warned(with_health(report, **changes))[code].severity == severity


def test_a_chunk_for_each_document_is_warned_of(report: Report) -> None:
    documents = (report.documents[0],) * 3

    assert "one_chunk_a_document" in warned(with_health(replace(report, documents=documents), n_chunks=3))


def test_a_model_is_named_where_chunks_are_longer_than_it_reads(report: Report) -> None:
    oversized = {"none": "mini" not in warned(with_health(report, pct_oversized={"none": 0.5}))["oversized"].message}
    oversized["mini"] = "mini reads" in warned(with_health(report, pct_oversized={"mini": 0.5}))["oversized"].message

    assert oversized == {"none": True, "mini": True}
    assert "oversized" not in warned(with_health(report, pct_oversized={"mini": 0.05}))
