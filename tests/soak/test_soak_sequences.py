"""After any changes in any order, a run on a full cache finds the same as a run from scratch."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from random_changes import FULL, World, sequence, small_state

SEQUENCES = [pytest.param(seed, marks=[pytest.mark.slow] if seed > 1 else []) for seed in range(200 if FULL else 5)]


@pytest.mark.parametrize("seed", SEQUENCES)
def test_after_any_sequence_of_changes_a_run_equals_one_from_scratch(seed: int, tmp_path: Path) -> None:
    world, dice = World(tmp_path / "world", small_state()), random.Random(seed)
    for step, (change, state) in enumerate(sequence(dice, dice.randrange(2, 7))):
        world.state = state
        world.write()

        assert world.figures() == world.figures(tmp_path / "scratch"), f"sequence {seed}, step {step}: {change}"
        shutil.rmtree(tmp_path / "scratch")
