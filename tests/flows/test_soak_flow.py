"""The series of tests/soak through the command line and Prefect: fewer of each, because a run costs seconds."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import random_changes
from random_changes import FULL, figures, large_state, repeated, sequence, small_state

pytestmark = [pytest.mark.prefect, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SEQUENCES = range(1000, 1010 if FULL else 1001)
KILLS = 5 if FULL else 1


def arguments(world: random_changes.World) -> list[str]:
    paths = {"docs": "docs", "questions": "questions.yaml", "config": "config.yaml", "cache-dir": "cache", "out": "out"}
    return ["--quiet", *(part for name, path in paths.items() for part in (f"--{name}", str(world.folder / path)))]


def run(world: random_changes.World) -> str:
    """The figures of a run by the command line, in this process."""
    from flows import cli

    assert cli.run(arguments(world)) == 0
    return figures((world.folder / "out" / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("seed", SEQUENCES)
def test_after_any_sequence_of_changes_the_flow_finds_what_a_run_from_scratch_finds(
    seed: int, prefect_backend: str, tmp_path: Path
) -> None:
    world, dice = random_changes.World(tmp_path / "world", small_state()), random.Random(seed)
    for step, (change, state) in enumerate(sequence(dice, 4 if FULL else 2)):
        world.state = state
        world.write()

        assert run(world) == world.figures(tmp_path / "scratch"), f"sequence {seed}, step {step}: {change}"
        shutil.rmtree(tmp_path / "scratch")


def test_after_a_kill_the_next_flow_finds_the_same_and_embeds_no_text_twice_but_the_batch_in_flight(
    prefect_backend: str, tmp_path: Path
) -> None:
    world, dice = random_changes.World(tmp_path / "world", large_state(0.3)), random.Random(1)
    world.write()
    expected, n_taken_over = world.figures(tmp_path / "scratch"), 0
    n_batches = len(world.seen())
    for number in range(KILLS):
        shutil.rmtree(world.cache, ignore_errors=True)
        world.forget_seen()
        n_first, process = dice.randrange(n_batches), start(world, prefect_backend)
        while process.poll() is None and len(world.seen()) < n_first:
            time.sleep(0.01)
        time.sleep(dice.uniform(0, 0.2))
        process.kill()
        assert process.wait() != 0  # the model alone would have taken longer
        before = world.seen()

        assert run(world) == expected, f"kill {number}, after {len(before)} of {n_batches} batches"
        again = repeated(world.seen())
        assert set(again) <= (set(before[-1][1]) if before else set())
        assert all(times == 1 for times in again.values())
        n_taken_over += len(before)
    print(f"\n{KILLS} kills of the command line: {n_taken_over} batches had reached the model")


def start(world: random_changes.World, server: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "flows.evaluate", *arguments(world)],
        cwd=ROOT,
        env={**os.environ, "PREFECT_API_URL": server},
        stderr=subprocess.DEVNULL,
    )
