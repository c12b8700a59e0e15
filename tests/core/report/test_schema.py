"""The JSON Schema of report.json, and docs/report.md: both name every field of the records."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import jsonschema
import pytest

from chunklab_core.inputs.settings import RANKING_METRICS
from chunklab_core.records.report import Report
from chunklab_core.report.json import report_to_json, report_to_mapping, written_fields
from chunklab_core.report.schema import report_schema
from chunklab_core.report.undefined import WORDS
from chunklab_core.score import METRICS
from chunklab_core.stages.report_schema import PATH, schema_text

SCHEMA = json.loads(PATH.read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[3] / "docs" / "report.md"


def errors_of(mapping: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(mapping)]


def test_the_schema_file_is_the_one_made_from_the_records() -> None:
    assert PATH.read_text(encoding="utf-8") == schema_text(), "run python -m chunklab_core.stages.report_schema"


def test_a_report_keeps_to_the_schema(report: Report, full_report: Report) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert errors_of(json.loads(report_to_json(report))) == []
    assert errors_of(json.loads(report_to_json(full_report))) == []


def test_a_new_metric_is_in_the_schema_of_every_cell_and_k() -> None:
    schema = report_schema({"recall_at_k": True, "longest_at_k": False})

    for record in ("Cell", "CellAtK"):
        described = schema["$defs"][record]
        assert described["properties"]["recall_at_k"] == {"type": "number", "minimum": 0, "maximum": 1}
        assert described["properties"]["longest_at_k"] == {"type": "number", "minimum": 0}
        assert {"recall_at_k", "longest_at_k"} <= set(described["required"])


def test_the_metrics_that_may_rank_cells_are_those_that_settings_allow() -> None:
    assert set(RANKING_METRICS) <= {"balanced", *METRICS}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: m.update(extra=1),
        lambda m: m.pop("verdict"),
        lambda m: m["cells"][0].update(recall_at_k=1.01),
        lambda m: m["cells"][0].update(mrr=None),
        lambda m: m["cells"][1]["undefined"].pop("model"),
        lambda m: m["cells"][0]["by_k"].update({"0": m["cells"][0]["by_k"]["3"]}),
        lambda m: m["health"][0]["undefined"].pop("tables_intact"),
        lambda m: m["health"][1]["undefined"].pop("pct_oversized"),
        lambda m: m["verdict"].update(status="unsure"),
        lambda m: m["cells"][0]["per_question"][0].update(found=[]),
        lambda m: m["cells"][0]["per_question"][0].update(lost=[None]),
        lambda m: m["cells"][1]["per_question"][0].update(lost=["somewhere"]),
        lambda m: m["cells"][0]["loss"].pop("cut"),
        lambda m: m["cells"][0]["by_k"]["3"].pop("ceiling"),
        lambda m: m["cells"][0]["per_question"][0].update(text="a document's words"),
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
def test_the_schema_refuses_what_a_report_must_not_hold(report: Report, spoil: Any) -> None:
    mapping = copy.deepcopy(report_to_mapping(report))
    spoil(mapping)

    assert errors_of(mapping)


def records_in(kind: Any) -> Iterator[type]:
    """A record, and all records that its fields hold."""
    if is_dataclass(getattr(kind, "__origin__", kind)):
        kind = getattr(kind, "__origin__", kind)
        yield kind
        kinds: Any = get_type_hints(kind).values()
    else:
        kinds = get_args(kind)
    for each in kinds:
        yield from records_in(each)


RECORDS = sorted(set(records_in(Report)), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_a_record_declares_undefined_where_a_field_may_be_null_and_its_codes_have_words(kind: Any) -> None:
    fields = written_fields(kind)
    reasons = [field.undefined.reason for field in fields if field.undefined]

    assert ("undefined" in {field.name for field in fields}) == bool(reasons)
    assert {reason for reason in reasons if isinstance(reason, str)} <= set(WORDS)


def keys_of(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from keys_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keys_of(value)


@pytest.mark.parametrize("key", sorted(set(keys_of(SCHEMA))))
def test_the_page_explains_every_key(key: str) -> None:
    assert f"`{key}`" in PAGE.read_text(encoding="utf-8")
