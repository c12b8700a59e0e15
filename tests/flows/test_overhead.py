"""The cost of a re-run compared with empty tasks: the figures are right, and the whole script runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from worlds import World

from benchmarks.overhead import Side, Took, adds, row, tasks_of
from chunklab_core.cache.store import Store
from chunklab_core.graph import nodes
from chunklab_core.stages.prepare import prepare

ROOT = Path(__file__).resolve().parents[2]


def test_the_cost_of_a_rerun_is_measured_round_by_round() -> None:
    """The machine gets slower with each round, and something else disturbs one of three re-runs."""
    side = Side(
        empty=[Took(2.0, 1.0), Took(4.0, 1.0), Took(6.0, 1.0)], rerun=[Took(2.5, 1.5), Took(9.0, 1.75), Took(6.75, 2.0)]
    )

    assert adds(side) == 0.75  # of 0.5, 5.0 and 0.75; medians of each side would differ by 2.75
    assert row("so", side) == "| so | 4.00 | 6.75 | 0.75 | 1.00 | 1.75 | 0.75 |"


def test_empty_tasks_are_as_many_as_those_of_the_evaluation_and_wait_for_the_same(tmp_path: Path) -> None:
    world, store = World(tmp_path).write(), Store(tmp_path / "cache")
    config = {"retrieval": {"mode": "bm25"}, "strategies": [{"name": "fixed"}]}
    tasks = tasks_of(nodes(store, prepare(world.docs, tmp_path / "questions.yaml", config, store)))

    stage_of = {one["ref"]: one["stage"] for one in tasks}
    assert {one["stage"]: [stage_of[ref] for ref in one["after"]] for one in tasks} == {
        "parse": [],
        "chunk": ["parse"],
        "health": ["chunk"],
        "index": ["chunk"],
        "retrieve": ["index"],
        "locate": ["parse"],
        "match": ["chunk", "locate"],
        "ceiling": ["match"],
        "score": ["retrieve", "chunk", "match"],
        "select": ["score", "parse", "locate"],
        "survey": ["score", "select"],
    }


@pytest.mark.slow
@pytest.mark.prefect
def test_the_script_compares_both_sides(tmp_path: Path) -> None:
    world = World(tmp_path).write()
    inputs = ["--docs", str(world.docs), "--questions", str(tmp_path / "questions.yaml")]
    settings = [f"embedding.model={world.stub}", "strategies=[{name: fixed}]"]
    options = [part for setting in settings for part in ("--set", setting)]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.overhead", *inputs, "--rounds", "1", "--", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| without a server", "| with a running server"]
    for line in lines[2:]:
        empty, rerun, added, *cpu = (float(figure) for figure in re.findall(r"-?\d+\.\d\d", line))
        assert added == pytest.approx(rerun - empty, abs=0.011)
        assert min(empty, rerun, *cpu[:2]) > 0
    assert run.stderr.splitlines()[0] == "filling the cache ..."
