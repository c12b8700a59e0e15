import copy
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import chunklab_core.report.json as report_json
from chunklab_core.errors import ConfigError
from chunklab_core.records.report import DocumentEntry, MadeEntry, Report
from chunklab_core.report import write_report
from chunklab_core.report.folder import check_output
from chunklab_core.report.json import report_to_json, report_to_mapping

SCHEMA = json.loads((Path(report_json.__file__).parent / "report.schema.json").read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[3] / "docs" / "report.md"


def errors_of(mapping: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(mapping)]


def with_first_cell(report: Report, **changes: Any) -> Report:
    return replace(report, cells=(replace(report.cells[0], **changes), *report.cells[1:]))


def test_the_schema_is_one_and_a_report_keeps_to_it(report: Report, full_report: Report) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert errors_of(json.loads(report_to_json(report))) == []
    assert errors_of(json.loads(report_to_json(full_report))) == []


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
    ],
)
def test_the_schema_refuses_what_a_report_must_not_hold(report: Report, spoil: Any) -> None:
    mapping = copy.deepcopy(report_to_mapping(report))
    spoil(mapping)

    assert errors_of(mapping)


def test_what_is_written_is_what_was_found(report: Report) -> None:
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


def test_what_is_undefined_is_null_with_its_reason_beside_it(report: Report) -> None:
    mapping = report_to_mapping(report)

    assert (mapping["cells"][1]["model"], mapping["cells"][1]["undefined"]["model"]) == (
        None,
        "bm25 uses no embedding model",
    )
    assert mapping["cells"][2]["undefined"]["balanced_in_play"] == "the cell is ruled out"
    assert mapping["health"][0]["undefined"] == {"tables_intact": "the documents hold no table"}
    assert set(mapping["health"][1]["undefined"]) == {"median_tokens", "pct_tiny", "pct_oversized", "boundary"}
    undecided = replace(report, verdict=replace(report.verdict, questions_needed=None))
    assert report_to_mapping(undecided)["verdict"]["undefined"] == {
        "p_best_by_document": "fewer than 10 documents are known to hold answers",
        "questions_needed": "no realistic number",
    }
    settled = replace(undecided.verdict, status="leans", reason_codes=("share_on_balance",))
    undefined = report_to_mapping(replace(undecided, verdict=settled))["verdict"]["undefined"]
    assert undefined["questions_needed"] == "not more questions are wanting; the reasons say what is"


def test_what_was_made_stands_with_its_reasons_and_what_nobody_counted_is_left_out(report: Report) -> None:
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
    assert errors_of(mapping) == []


def test_two_runs_differ_only_under_provenance_run(report: Report) -> None:
    later = replace(report.provenance.run, started="2026-03-02T08:00:00Z", wall_seconds=9.0)
    again = replace(report, provenance=replace(report.provenance, run=later))

    texts = [report_to_json(one) for one in (report, again)]
    mappings = [json.loads(text) for text in texts]
    for mapping in mappings:
        mapping["provenance"].pop("run")

    assert texts[0] != texts[1]
    assert mappings[0] == mappings[1]
    assert texts[0] == report_to_json(report)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), np.float64("nan")])
def test_a_figure_that_is_no_number_is_never_written(report: Report, odd: float) -> None:
    with pytest.raises(ValueError, match=r"report\.cells\[0\]\.mrr \((nan|inf)\) is no finite number"):
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


def test_names_are_data_for_terminals_and_scripts_and_survive(report: Report) -> None:
    name = "\x1b[31m \x9b31m \u2028 \u202e </script> <b> \udcff 規程"
    text = report_to_json(replace(report, documents=(DocumentEntry(name, "ab", 1, 1),)))

    assert not re.search("[\x1b\x9b\u2028\u202e\udcff]", text)
    assert "規程" in text
    assert json.loads(text)["documents"][0]["id"] == name


def test_rows_stand_on_a_line_each(report: Report) -> None:
    lines = report_to_json(report).splitlines()

    assert sum(line.lstrip().startswith('{"id": "refund"') for line in lines) == 3
    assert sum(line.lstrip().startswith('{"id": "fees.md#000001"') for line in lines) == 1


def test_a_report_is_written_whole_and_leaves_nothing_else(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    check_output(folder)
    assert not folder.exists()

    for _ in range(2):
        path = write_report(report, folder)

    assert [entry.name for entry in folder.iterdir()] == ["report.json"]
    assert path.read_bytes().decode("utf-8") == report_to_json(report)
    assert path.read_bytes().endswith(b"}\n")


def test_a_write_that_fails_leaves_the_old_report(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_report(report, tmp_path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        write_report(replace(report, top_k=9), tmp_path)

    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    (tmp_path / "taken" / "report.json").mkdir(parents=True)

    for folder in (file, file / "below"):
        with pytest.raises(ConfigError, match=r"file is not a folder|Not a directory"):
            check_output(folder)
    with pytest.raises(ConfigError, match=r"report\.json is a folder"):
        check_output(tmp_path / "taken")


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
