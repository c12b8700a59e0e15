"""The survey around the verdict, as the screen shows it."""

from __future__ import annotations

from dataclasses import replace

from chunklab_core.records.report import Report
from chunklab_core.report.console_survey import survey_lines


def test_the_survey_takes_four_lines(report: Report) -> None:
    assert list(survey_lines(report)) == [
        "What changed recall: retriever by 0.500 (95 % CI -0.125 to 1.000), dense against bm25.",
        "Pareto front: fixed/bm25, fixed/dense. fixed/dense is first by balanced at a lambda from 0 to 0.125.",
        "fixed/dense keeps the lead in 2 of 3 other views; not in: 1 of 1 halves of the questions.",
        "To settle this sooner, write new questions for these tags: prose (75 %), lists (25 %).",
    ]


def test_a_price_is_named_only_where_cells_are_ranked_by_it(report: Report) -> None:
    assert not any("lambda" in line for line in survey_lines(replace(report, ranking_metric="mrr")))


def test_no_new_questions_are_proposed_where_none_would_settle_it(report: Report) -> None:
    strata = tuple(replace(each, needed=None) for each in report.strata)

    assert not any("new questions" in line for line in survey_lines(replace(report, strata=strata)))


def test_a_single_cell_has_no_survey(report: Report) -> None:
    assert list(survey_lines(replace(report, cells=report.cells[:1]))) == []
