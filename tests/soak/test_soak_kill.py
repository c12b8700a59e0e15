"""A run that is killed at any moment costs the next one no more than the batch in flight."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import pytest
from random_changes import FULL, World, large_state, repeated, start

KILLS = 100 if FULL else 3
_SECONDS = 0.02  # of the model for a batch


@dataclass(frozen=True, slots=True)
class Whole:
    """A world, with the figures and the seconds of an undisturbed run."""

    world: World
    figures: str
    seconds: float


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    world = World(tmp_path_factory.mktemp("kill") / "world", large_state(_SECONDS))
    world.write()
    for _ in range(2):  # the first starts the server from which processes are forked
        shutil.rmtree(world.cache, ignore_errors=True)
        world.forget_seen()
        begun = time.monotonic()
        process = start(world, world.folder / "whole.json")
        process.join()
        seconds = time.monotonic() - begun
    assert process.exitcode == 0
    assert len(world.seen()) > 10
    return Whole(world, (world.folder / "whole.json").read_text(encoding="utf-8"), seconds)


def killed(whole: Whole, dice: random.Random) -> Iterator[float]:
    """Kills a run at a random moment, and yields the share of its life that it had."""
    world = whole.world
    for _ in count():
        shutil.rmtree(world.cache)
        world.forget_seen()
        share = dice.random()
        process = start(world, world.folder / "killed.json")
        process.join(share * whole.seconds)
        process.kill()
        process.join()
        if process.exitcode != 0:  # otherwise it had finished
            yield share


def test_after_a_kill_the_next_run_finds_the_same_and_embeds_no_text_twice_but_the_batch_in_flight(
    whole: Whole,
) -> None:
    world, moments = whole.world, killed(whole, random.Random(0))
    n_taken_over, n_repeated = 0, 0
    for number in range(KILLS):
        share = next(moments)
        before = world.seen()
        process = start(world, world.folder / "next.json")
        process.join()

        where = f"kill {number}, after {share:.0%} of the life of a run"
        assert process.exitcode == 0, where
        assert (world.folder / "next.json").read_text(encoding="utf-8") == whole.figures, where
        in_flight = set(before[-1][1]) if before else set()
        again = repeated(world.seen())
        assert set(again) <= in_flight, where
        assert all(times == 1 for times in again.values()), where
        n_taken_over, n_repeated = n_taken_over + len(before), n_repeated + len(again)
    print(f"\n{KILLS} kills: {n_taken_over} batches had reached the model, {n_repeated} texts reached it twice")
    assert n_taken_over > 0  # otherwise every kill came too early to lose anything
