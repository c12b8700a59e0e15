"""Prefect has a record of every task run of the command line, with and without a server."""

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from worlds import Run, World, free_port, task_states

pytestmark = pytest.mark.prefect

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "sentence_transformers", "transformers")
RUN_AND_TELL = f"""
import sys
from flows import cli
status = cli.run(sys.argv[1:])
loaded = [name for name in sys.modules if name in {HEAVY} or name.startswith("chunklab_plugin")]
print(status, *loaded)
"""


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_without_a_server_every_task_run_is_kept_and_json_is_all_that_is_printed(
    first: tuple[World, Run], tmp_path: Path
) -> None:
    world = World(tmp_path / "world").write()

    run = python(
        *("-m", "flows.evaluate", "--json", *world.arguments()),
        PREFECT_HOME=str(tmp_path / "home"),
        PREFECT_SERVER_API_PORT=str(free_port()),
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == (world.folder / "out" / "report.json").read_text(encoding="utf-8")
    assert Run(json.loads(run.stdout), {}, []).figures == first[1].figures
    with closing(sqlite3.connect(tmp_path / "home" / "prefect.db")) as history:
        states = Counter(history.execute("SELECT state_type FROM task_run").fetchall())
        assert states == {("COMPLETED",): len(first[1].states)}
        assert history.execute("SELECT name, state_type FROM flow_run").fetchall() != []
        assert history.execute("SELECT DISTINCT state_type FROM flow_run").fetchall() == [("COMPLETED",)]


def test_with_a_server_every_task_run_is_kept_and_a_second_run_loads_no_model(
    prefect_backend: str, world: World
) -> None:
    run = python("-c", RUN_AND_TELL, "--quiet", *world.arguments(), PREFECT_API_URL=prefect_backend)

    assert (run.stdout.split(), run.stderr) == (["0"], "")
    states = task_states()
    assert Counter(states.values()) == {"Cached": len(states) - 1, "Completed": 1}
    assert states["report"] == "Completed"


@pytest.mark.slow
def test_a_second_run_with_the_bundled_model_imports_no_torch(prefect_backend: str, tmp_path: Path) -> None:
    arguments = ("--quiet", "--cache-dir", str(tmp_path / "cache"), "--out", str(tmp_path / "out"))
    first, second = (
        python("-c", RUN_AND_TELL, *arguments, PREFECT_API_URL=prefect_backend) for _ in ("first", "second")
    )

    assert first.stdout.split()[0] == "0"
    assert "torch" in first.stdout.split()
    assert (second.stdout.split(), second.stderr) == (["0"], "")
