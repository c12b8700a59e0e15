"""`--plan` on the command line, and the reasons in the task log and in the report of a run."""

import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
from worlds import Run, World

from chunklab_core.cache import runs
from chunklab_core.cache.store import Store
from chunklab_core.stages import all_stages
from flows import cli

ROOT = Path(__file__).resolve().parents[2]

PLAN_AND_LIST_MODULES = """
import sys
from flows import cli
status = cli.run(sys.argv[1:])
print(status, *(name for name in ("prefect", "torch", "sentence_transformers") if name in sys.modules), file=sys.stderr)
"""
INPUTS = {"inputs", "corpus", "queries", "questions", "gold", "tags", "code"}  # and the fingerprints of the code


def test_a_plan_starts_nothing_and_leaves_nothing_but_the_inputs(tmp_path: Path) -> None:
    world = World(tmp_path / "world").write()
    command = [sys.executable, "-c", PLAN_AND_LIST_MODULES, *world.arguments("--plan", "--json")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert ended.stderr == "0\n"
    plan = json.loads(ended.stdout)
    assert (plan["run"], plan["reused"], plan["compared_with"]) == (len(plan["nodes"]), 0, None)
    assert {node["stage"] for node in plan["nodes"]} == set(all_stages())
    assert {tuple(node["reasons"]) for node in plan["nodes"]} == {("first run with this cache",)}
    assert not (world.cache / "runs").exists()
    assert {path.name for path in (world.cache / "results").iterdir()} == INPUTS
    assert not (world.folder / "out").exists()
    assert not (world.folder / "stub.seen").exists()


def test_a_plan_is_printed_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = World(tmp_path / "world").write()

    assert cli.run(world.arguments("--plan")) == 0
    shown = capsys.readouterr().out
    assert re.match(
        r"(\d+) of \1 results to run, 0 reused; no estimate: no earlier run on this machine in the cache\.\n", shown
    )
    assert "\nto run  parse documents: first run with this cache; 3 of 3 documents new\n" in shown

    assert cli.run(world.arguments("--plan", "--quiet")) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.prefect
def test_after_a_run_the_plan_names_the_change_and_the_time_it_takes(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = ("--docs", str(world.docs))
    assert cli.run(world.arguments("--plan", "--json", *copied)) == 0
    assert json.loads(capsys.readouterr().out)["run"] == 0

    (world.docs / "garden.txt").write_text("The garden opens at ten.", encoding="utf-8")
    assert cli.run(world.arguments("--plan", "--json", "--refresh", "select", *copied)) == 0
    plan = json.loads(capsys.readouterr().out)
    nodes = {(node["stage"], node["label"]): node for node in plan["nodes"]}
    assert nodes["parse", "documents"]["reasons"] == ["garden.txt edited"]
    assert nodes["parse", "documents"]["items"] == {"new": 1, "of": 3, "unit": "documents", "about": False}
    assert nodes["select", "all cells"]["reasons"] == ["--refresh"]
    assert nodes["embed", "questions"] == {"stage": "embed", "label": "questions", "runs": False}
    assert plan["without_estimate"] == 0
    assert plan["seconds"] >= 0


@pytest.mark.prefect
def test_the_task_log_and_the_report_of_a_run_have_the_reasons(world: World) -> None:
    strategies = [{"name": "fixed", "params": {"chunk_size": 20, "overlap": 2}}, *world.strategies()[1:]]
    run = world.run(strategies=strategies)

    made = {(entry["stage"], entry["label"]): entry for entry in run.report["provenance"]["run"]["made"]}
    assert {f"{stage} {label}" for stage, label in made} == run.made
    assert made["chunk", "fixed"]["reasons"] == ["chunk_size 16 -> 20"]
    assert (made["chunk", "fixed"]["new"], made["chunk", "fixed"]["taken_over"]) == (3, 0)
    assert made["embed", "fixed"]["new"] == len(run.seen)
    assert made["embed", "fixed"]["seconds"] >= 0

    logged = messages()
    assert "chunk fixed: chunk_size 16 -> 20" in logged["chunk fixed"]
    assert logged["embed fixed"][0] == "embed fixed: follows chunk fixed"
    reused, new = made["embed", "fixed"]["taken_over"], made["embed", "fixed"]["new"]
    expected = [f"embed fixed: {reused} of {reused + new} texts reused"] if reused else []
    assert logged["embed fixed"][1:] == expected
    assert "chunk semantic" not in logged


@pytest.mark.prefect
def test_a_run_is_on_record_with_what_it_made_and_leaves_no_lock(first: tuple[World, Run]) -> None:
    world, run = first
    *_, record = runs.records(Store(world.cache))

    assert record.how == "done"
    assert len(record.made) == len(run.made)
    assert list((world.cache / "runs").glob("*.lock")) == []


def messages() -> dict[str, list[str]]:
    """The messages of each task of the newest flow run, in order, by the name of the task run."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId, LogFilter, LogFilterFlowRunId
    from prefect.client.schemas.sorting import FlowRunSort, LogSort
    from prefect.logging.handlers import APILogWorker

    APILogWorker.drain_all(timeout=30)  # until all of it is on the server
    with get_client(sync_client=True) as client:
        newest = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC, limit=1)[0]
        tasks = client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[newest.id])), limit=200)
        of_run = LogFilter(flow_run_id=LogFilterFlowRunId(any_=[newest.id]))
        logs = client.read_logs(log_filter=of_run, sort=LogSort.TIMESTAMP_ASC, limit=200)
    names = {task.id: task.name for task in tasks}
    found: dict[str, list[str]] = {}
    for log in logs:
        if log.task_run_id in names and log.level >= logging.INFO:
            found.setdefault(names[log.task_run_id], []).append(log.message)
    return found
