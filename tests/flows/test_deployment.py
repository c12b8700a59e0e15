"""The evaluation as a deployment: a server that keeps the history, a worker, and a run started by name."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from worlds import World, free_port

pytestmark = [pytest.mark.prefect, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
PREFECT = (sys.executable, "-m", "prefect", "--no-prompt")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    port = free_port()
    return {
        **os.environ,
        "PREFECT_HOME": str(tmp_path / "home"),
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    }


@pytest.fixture
def ui(environment: dict[str, str]) -> Iterator[str]:
    """What `make ui` prints when its server answers; the server ends with the test."""
    try:
        yield run(sys.executable, "-m", "flows.ui", environment=environment)
    finally:
        run(*PREFECT, "server", "stop", environment=environment)


def run(*command: str, environment: dict[str, str]) -> str:
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_server_prints_its_address_and_a_worker_completes_the_deployment(
    ui: str, environment: dict[str, str], tmp_path: Path
) -> None:
    address = environment["PREFECT_API_URL"]
    assert f"The Prefect UI is at {address.removesuffix('/api')}." in ui
    with urllib.request.urlopen(f"{address.removesuffix('/api')}/ui-settings", timeout=30) as answer:
        assert json.load(answer)["api_url"] == address

    run(*PREFECT, "work-pool", "create", "chunklab", "--type", "process", environment=environment)
    run(*PREFECT, "deploy", "--all", environment=environment)
    world = World(tmp_path / "world").write()
    settings = {
        "docs": str(world.docs),
        "questions": str(world.folder / "questions.yaml"),
        "overrides": ["retrieval.mode=bm25", "strategies=[{name: fixed}, {name: structure}]"],
        "out": str(world.folder / "out"),
        "cache_dir": str(world.cache),
    }
    command = ("deployment", "run", "evaluate/first-run", "--watch", "--params", json.dumps({"settings": settings}))
    worker = subprocess.Popen(
        [*PREFECT, "worker", "start", "--pool", "chunklab"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        run(*PREFECT, *command, environment=environment)
    finally:
        worker.terminate()
        try:
            worker.wait(timeout=30)
        except subprocess.TimeoutExpired:  # it passes the signal on as an interrupt, which a background job ignores
            worker.kill()
            worker.wait()

    report = json.loads((world.folder / "out" / "report.json").read_text(encoding="utf-8"))
    assert {cell["cell"] for cell in report["cells"]} == {"fixed/bm25", "structure/bm25"}
    assert (world.cache / "prefect").is_dir()
