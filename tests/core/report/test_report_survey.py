"""What stands around the verdict in report.json: by name, with a reason for every null, and in the schema."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import chunklab_core.report.json as report_json
from chunklab_core.records.report import Report
from chunklab_core.report.json import report_to_mapping

SCHEMA = json.loads((Path(report_json.__file__).parent / "report.schema.json").read_text(encoding="utf-8"))


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
    assert [(one["by"], one["leader"], one["rival"]) for one in mapping["strata"]] == [
        ("tag", "fixed/dense", "fixed/bm25"),
        ("document", "fixed/dense", "fixed/bm25"),
    ]
    assert [one["part"] for one in mapping["strata"][0]["parts"]] == ["prose", "lists", "tables"]
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
                "undefined": {"ci95": "it rests on fewer than two questions that do not move together"},
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
    assert mapping["lambda_range"]["places"][1]["undefined"] == {"high": "it stands first however high the price"}
    by_tag, by_document = mapping["strata"]
    assert by_tag["undefined"] == {
        "needed_by_share": "the parts overlap, so no mean over them weighs each question once"
    }
    assert by_document["undefined"] == {
        "needed": "no realistic number",
        "needed_by_share": "no realistic number",
    }
    assert set(by_tag["parts"][2]["undefined"]) == {"sd", "share"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: m.pop("axes"),
        lambda m: m["pareto"].update(front=[0]),
        lambda m: m["lambda_range"].update(undefined={}),
        lambda m: m["lambda_range"]["places"][1].update(undefined={}),
        lambda m: m["axes"]["effects"][1].update(undefined={}),
        lambda m: m["axes"]["effects"][1]["levels"][1].update(undefined={}),
        lambda m: m["axes"].update(undefined={}),
        lambda m: m["stability"]["views"][0].update(kind="weather"),
        lambda m: m["strata"][0].update(undefined={}),
        lambda m: m["strata"][0]["parts"][2].update(undefined={}),
        lambda m: m.update(question_groups=[["alone"]]),
        lambda m: m["cells"][0].pop("by_gold_length"),
        lambda m: m["cells"][0]["by_tag"]["prose"].update(ci95=None),
        lambda m: m["cells"][0]["by_tag"]["prose"].update(recall=1.5),
    ],
)
def test_the_schema_refuses_what_the_survey_must_not_hold(report: Report, spoil: Any) -> None:
    mapping = copy.deepcopy(report_to_mapping(report))
    spoil(mapping)

    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(mapping))
