"""Four simultaneous runs on one cache, with shared work: each is right, and none repeats the work of another."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
from random_changes import FULL, World, large_state, repeated, sentence, start

from chunklab_core.embed import text_keys
from chunklab_core.embed.claims import claims_of

ROUNDS = 10 if FULL else 1
SOME = text_keys([sentence(number) for number in range(320)])
_SECONDS = 0.05  # of the model for a batch


def settings_of(world: World) -> list[dict[str, Any]]:
    """Settings of four runs: each pair shares a strategy; all share the documents, the questions and the model."""
    fixed, semantic, lines = world.state.settings["strategies"]
    wide = {**fixed, "params": {"chunk_size": 48, "overlap": 8}, "label": "wide"}
    chosen = ([fixed, semantic], [semantic, lines], [lines, wide, semantic], [semantic, fixed, wide])
    return [copy.deepcopy({**world.state.settings, "strategies": strategies}) for strategies in chosen]


def locks_left(cache: Path) -> list[str]:
    """Files of a lock or of a write in progress, and claims that are still held."""
    left = [path.name for path in cache.rglob("*") if "lock" in path.name or path.name.startswith(".writing-")]
    for path in cache.rglob("*.claims"):
        with claims_of(path) as claims:
            left += [path.name for text in SOME if not claims.take([text])]
    return left


@pytest.mark.slow
@pytest.mark.parametrize("number", range(ROUNDS))
def test_four_at_once_find_what_each_finds_alone_and_leave_no_lock(number: int, tmp_path: Path) -> None:
    alone, together = (World(tmp_path / name, large_state(_SECONDS)) for name in ("alone", "together"))
    alone.write()
    together.write()
    four = settings_of(together)
    processes = [start(together, tmp_path / f"{at}.json", settings) for at, settings in enumerate(four)]
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    batches = together.seen()
    again = repeated(batches)
    print(
        f"\nround {number}: {sum(len(texts) for _, texts in batches)} texts in {len(batches)} batches of "
        f"{len({process for process, _ in batches})} processes, {again.total()} of them once too often"
    )
    assert not again
    assert locks_left(together.cache) == []
    for at, settings in enumerate(four):
        alone.state.settings = settings
        alone.write()
        assert (tmp_path / f"{at}.json").read_text(encoding="utf-8") == alone.figures()
        shutil.rmtree(alone.cache)

    together.forget_seen()
    process = start(together, tmp_path / "after.json", four[0])
    process.join()
    assert process.exitcode == 0
    assert together.seen() == []
