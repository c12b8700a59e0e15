"""The text of report.json: what it holds, and what it never holds."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chunklab_core.records.report import DocumentEntry, MadeEntry, Report
from chunklab_core.report.json import report_to_json, report_to_mapping


def with_first_cell(report: Report, **changes: Any) -> Report:
    return replace(report, cells=(replace(report.cells[0], **changes), *report.cells[1:]))


def test_the_file_holds_what_was_found(report: Report) -> None:
    mapping = json.loads(report_to_json(report))
    first, _, last = mapping["cells"]

    assert mapping["questions"] == {"total": 3, "scored": 2, "skipped": [{"id": "open", "reason": "no gold_snippets"}]}
    assert (mapping["k"], mapping["verdict"]["p_best"]["fixed/bm25"]) == (2, 0.375)
    assert list(first["by_k"]) == ["3", "10"]
    assert last["loss"] == {**dict.fromkeys(last["loss"], 0.0), "cut": 1.0}
    assert list(last["loss"]) == ["parse", "cut", "truncated", "candidates", "rerank", "fusion", "below_k"]
    assert last["per_question"][0]["lost"] == ["cut"]
    assert (last["ceiling"], last["by_k"]["3"]["loss"]["cut"]) == (
        {"recall": 1.0, "precision": 0.5, "token_precision": 0.25},
        1.0,
    )
    assert first["ci95_wilson"] == [0.1, 0.9]
    assert "ci95_wilson" not in last
    assert first["params"] == {"chunk_size": 512, "overlap": 64}
    assert first["per_question"][0] == {
        "id": "refund",
        "recall": 1.0,
        "first_hit_rank": 1,
        "found": [True],
        "retrieved": [
            {"chunk_id": "fees.md#000000", "rank": 1, "score": 0.75},
            {"chunk_id": "fees.md#000001", "rank": 2, "score": 0.5},
        ],
    }
    assert first["per_question"][1]["fuzzy"] == [
        {"slot": 0, "chunk_id": "fees.md#000000", "expected": "four", "found": "five"}
    ]
    assert mapping["chunks"]["fixed"][1] == {
        "id": "fees.md#000001", "document": "fees.md", "start": 40, "end": 90, "tokens": 11,
    }  # fmt: skip
    assert mapping["provenance"]["run"]["stages"]["parse"] == {"reused": 5, "run": 0}


def test_a_null_has_its_reason_beside_it(report: Report) -> None:
    mapping = report_to_mapping(report)

    assert (mapping["cells"][1]["model"], mapping["cells"][1]["undefined"]["model"]) == (
        None,
        "bm25 uses no embedding model",
    )
    assert mapping["cells"][2]["undefined"]["balanced_in_play"] == "the cell is ruled out"
    assert mapping["health"][0]["undefined"] == {"tables_intact": "the documents have no tables"}
    assert set(mapping["health"][1]["undefined"]) == {"median_tokens", "pct_tiny", "pct_oversized", "boundary"}
    undecided = replace(report, verdict=replace(report.verdict, questions_needed=None))
    assert report_to_mapping(undecided)["verdict"]["undefined"] == {
        "p_best_by_document": "fewer than 10 documents are known to contain gold",
        "questions_needed": "no realistic number",
    }
    settled = replace(undecided.verdict, status="leans", reasons=("With the context paid for it is 85 %.",))
    undefined = report_to_mapping(replace(undecided, verdict=settled))["verdict"]["undefined"]
    assert undefined["questions_needed"] == "more questions would not settle it; the reasons name what would"


def test_results_that_were_made_have_their_reasons_and_counts_are_left_out_where_there_are_none(report: Report) -> None:
    made = (
        MadeEntry("embed", "fixed", ("follows chunk fixed",), 1.5, 2, 8),
        MadeEntry("select", "all cells", ("seed 0 -> 1", "--refresh"), None, None, None),
    )
    run = replace(report.provenance.run, made=made)
    mapping = report_to_mapping(replace(report, provenance=replace(report.provenance, run=run)))

    embed = {"stage": "embed", "label": "fixed", "reasons": ["follows chunk fixed"]}
    assert mapping["provenance"]["run"]["made"] == [
        {**embed, "seconds": 1.5, "new": 2, "taken_over": 8},
        {"stage": "select", "label": "all cells", "reasons": ["seed 0 -> 1", "--refresh"]},
    ]


def test_two_runs_differ_only_under_provenance_run(report: Report) -> None:
    later = replace(report.provenance.run, started="2026-03-02T08:00:00Z", wall_seconds=9.0)
    again = replace(report, provenance=replace(report.provenance, run=later))

    texts = [report_to_json(each) for each in (report, again)]
    mappings = [json.loads(text) for text in texts]
    for mapping in mappings:
        mapping["provenance"].pop("run")

    assert texts[0] != texts[1]
    assert mappings[0] == mappings[1]
    assert texts[0] == report_to_json(report)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), np.float64("nan")])
def test_a_figure_that_is_not_a_finite_number_is_never_written(report: Report, odd: float) -> None:
    with pytest.raises(ValueError, match=r"report\.cells\[0\]\.mrr \((nan|inf)\) is not a finite number"):
        report_to_json(with_first_cell(report, metrics={**report.cells[0].metrics, "mrr": odd}))


def test_numbers_of_numpy_are_written_as_numbers(report: Report) -> None:
    text = report_to_json(
        with_first_cell(
            report,
            metrics={**report.cells[0].metrics, "recall_at_k": np.float64(0.1), "retrieved_tokens_at_k": np.int64(7)},
        )
    )

    assert json.loads(text)["cells"][0]["recall_at_k"] == 0.1
    assert json.loads(text)["cells"][0]["retrieved_tokens_at_k"] == 7


def test_names_are_harmless_to_terminals_and_scripts_and_survive(report: Report) -> None:
    name = "\x1b[31m \x9b31m \u2028 \u202e </script> <b> \udcff 規程"
    text = report_to_json(replace(report, documents=(DocumentEntry(name, "ab", 1, 1),), chunks={name: ()}))

    assert not re.search("[\x1b\x9b\u2028\u202e\udcff]", text)
    assert "規程" in text
    assert (json.loads(text)["documents"][0]["id"], list(json.loads(text)["chunks"])) == (name, [name])


def test_every_row_has_its_own_line(report: Report) -> None:
    lines = report_to_json(report).splitlines()

    assert sum(line.lstrip().startswith('{"id": "refund"') for line in lines) == 3
    assert sum(line.lstrip().startswith('{"id": "fees.md#000001"') for line in lines) == 1


def test_cells_and_questions_are_named(report: Report) -> None:
    mapping = report_to_mapping(report)

    assert mapping["pareto"] == {
        "front": ["fixed/bm25", "fixed/dense"],
        "dominated": [{"cell": "structure/bm25", "by": "fixed/bm25"}],
    }
    assert mapping["question_groups"] == [["refund", "cash"]]
    assert mapping["lambda_range"]["first"] == {"cell": "fixed/dense", "low": 0.0, "high": 0.125, "undefined": {}}
    assert (mapping["lambda_range"]["below"], mapping["lambda_range"]["above"]) == (None, "fixed/bm25")
    stability = mapping["stability"]
    assert (stability["leader"], stability["n_held"], stability["n_views"]) == ("fixed/dense", 2, 3)
    assert stability["views"][1] == {
        "kind": "questions",
        "name": "half 1a of the questions",
        "leader": "fixed/bm25",
        "holds": False,
    }
    assert [(each["by"], each["leader"], each["rival"]) for each in mapping["strata"]] == [
        ("tag", "fixed/dense", "fixed/bm25"),
        ("document", "fixed/dense", "fixed/bm25"),
    ]
    assert [each["part"] for each in mapping["strata"][0]["parts"]] == ["prose", "lists", "tables"]
    assert mapping["axes"]["effects"][0]["levels"][0] == {
        "level": "dense", "recall": 1.0, "effect": 0.5, "ci95": [-0.125, 1.0], "comparisons": 1, "undefined": {},
    }  # fmt: skip


def test_a_cell_holds_its_recall_part_by_part(report: Report) -> None:
    for cell in report_to_mapping(report)["cells"]:
        assert cell["by_tag"] == {
            "prose": {"n": 40, "n_groups": 38, "recall": 0.5, "ci95": [0.4, 0.6], "undefined": {}},
            "tables": {
                "n": 1,
                "n_groups": 1,
                "recall": 0.5,
                "ci95": None,
                "undefined": {"ci95": "fewer than two independent groups of questions"},
                "ci95_wilson": [0.1, 0.9],
            },
        }
        assert (list(cell["by_document"]), list(cell["by_gold_length"])) == (["prose"], ["tables"])


def test_every_null_has_its_reason(report: Report) -> None:
    mapping = report_to_mapping(report)
    _, strategy = mapping["axes"]["effects"]

    assert set(mapping["axes"]["undefined"]) == {"interplay"}
    assert set(strategy["undefined"]) == {"moved", "ci95", "share_of_variance"}
    assert set(strategy["levels"][1]["undefined"]) == {"effect", "ci95"}
    assert mapping["lambda_range"]["undefined"] == {"below": "the range begins at 0"}
    assert mapping["lambda_range"]["places"][1]["undefined"] == {"high": "the cell ranks first at any higher lambda"}
    by_tag, by_document = mapping["strata"]
    assert by_tag["undefined"] == {
        "needed_by_share": "the parts overlap, so no mean over them weighs each question once"
    }
    assert by_document["undefined"] == {
        "needed": "no realistic number",
        "needed_by_share": "no realistic number",
    }
    assert set(by_tag["parts"][2]["undefined"]) == {"sd", "share"}
