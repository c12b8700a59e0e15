"""Whatever damages the files of the cache, a run gives the figures of a run from scratch.

A series of runs over a small world that changes now and then; before each run, and in some within it, files of the
cache are damaged. CHUNKLAB_SOAK=1 runs the long series.
"""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chunklab_core import pipeline
from chunklab_core.report.json import report_to_mapping

LONG = os.environ.get("CHUNKLAB_SOAK") == "1"
SERIES, RUNS = (20, 10) if LONG else (2, 5)  # long: 200 runs

STUB = """\
import zlib
import numpy as np

class Stub:
    def __call__(self, texts):
        rows = np.full((len(texts), 8), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % 8] += 1
        return rows
"""
DOCUMENTS = {
    "refunds.md": "# Refunds\n\nA refund reaches the card within 14 days.\n\n## Exceptions\n\nGift cards stay sold.\n",
    "delivery.md": "# Delivery\n\nDelivery to the islands costs 19 EUR. Parcels leave at noon.\n",
    "garden.txt": "The garden opens at nine. Dogs are welcome on a lead. Tours begin at the pump.\n",
}
QUESTIONS = [
    {"id": "card", "query": "How long does a refund take?", "gold_snippets": ["within 14 days"]},
    {"id": "islands", "query": "What does delivery to the islands cost?", "gold_snippets": ["costs 19 EUR"]},
    {"id": "dogs", "query": "May dogs enter the garden?", "gold_snippets": ["Dogs are welcome on a lead."]},
]
VARIANTS = [(size, edited) for size in (12, 16) for edited in (False, True)]


class World:
    """Documents, questions, a stub embedder, and a cache to damage."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        (folder / "docs").mkdir()
        (folder / "stub.py").write_text(STUB)
        (folder / "questions.yaml").write_text(json.dumps({"questions": QUESTIONS}))

    def figures(self, size: int, edited: bool, cache: Path | None = None) -> str:
        for name, text in DOCUMENTS.items():
            (self.folder / "docs" / name).write_text(text.replace("noon", "ten") if edited else text)
        stub = f"{self.folder / 'stub.py'}:Stub"
        config = {
            "embedding": {"model": stub},
            "retrieval": {"compare": ["dense", "bm25", "hybrid"], "top_k": 2},
            "strategies": [
                {"name": "fixed", "params": {"chunk_size": size, "overlap": 2}},
                {"name": "semantic", "params": {"model": stub, "min_tokens": 4, "max_tokens": 20}},
            ],
            "eval": {"bootstrap_resamples": 200},
        }
        report = pipeline.evaluate(
            self.folder / "docs", self.folder / "questions.yaml", config, cache=cache or self.cache
        )
        mapping = report_to_mapping(report)
        del mapping["provenance"]["run"]
        return json.dumps(mapping, default=lambda number: number.item())


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, bool], str]:
    """The figures of a run from scratch, by variant."""
    figures = {}
    for at, variant in enumerate(VARIANTS):
        world = World(tmp_path_factory.mktemp("fresh"))
        figures[variant] = world.figures(*variant, cache=world.folder / f"cache{at}")
    assert len(set(figures.values())) == len(VARIANTS)  # the variants differ, so that a stale result would show
    return figures


# ---------------------------------------------------------------- damage


def flip(path: Path, dice: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(dice.choice((1, 1, 20)) if content else 0):
        content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)


def cut(path: Path, dice: random.Random) -> None:
    os.truncate(path, dice.randrange(path.stat().st_size + 1))


def empty(path: Path, dice: random.Random) -> None:
    path.write_bytes(b"")


def delete(path: Path, dice: random.Random) -> None:
    path.unlink()


def text_instead(path: Path, dice: random.Random) -> None:
    path.write_text("Dear diary,\n" * dice.randrange(1, 2000))


def folder_instead(path: Path, dice: random.Random) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("something")


def parent_gone(path: Path, dice: random.Random) -> None:
    shutil.rmtree(path.parent)


def parent_a_file(path: Path, dice: random.Random) -> None:
    shutil.rmtree(path.parent)
    path.parent.write_text("a file where a folder was")


def another_in_its_place(path: Path, dice: random.Random) -> None:
    others = [other for other in path.parent.parent.rglob("*") if other.is_file()]
    path.write_bytes(dice.choice(others).read_bytes())


def replaced(path: Path, dice: random.Random) -> None:
    """A new file with the same name: a process that has the old one open does not see it."""
    beside = path.with_name("beside")
    beside.write_bytes(dice.randbytes(dice.randrange(3000)))
    beside.replace(path)


Damage = Callable[[Path, random.Random], None]
IN_PLACE: list[Damage] = [flip, flip, cut, empty, text_instead, another_in_its_place]
BY_NAME: list[Damage] = [delete, folder_instead, parent_gone, parent_a_file, replaced]


def leave_as_killed(shelf: Path) -> None:
    """Leaves a shelf as a killed process does: its last rows are still in the files beside it."""
    copies = shelf.parent.with_name("copies")
    try:
        rows = sqlite3.connect(shelf)
        rows.execute("PRAGMA wal_autocheckpoint = 0")
        with rows:
            rows.execute("UPDATE items SET value = value || ''")
        shutil.copytree(shelf.parent, copies)
        rows.close()
    except sqlite3.Error:
        return
    shutil.rmtree(shelf.parent)
    copies.rename(shelf.parent)


def damage_some(cache: Path, dice: random.Random, ways: list[Damage], kinds: tuple[str, ...] = ("",)) -> list[str]:
    """Damages one to four files and returns a description, for the message of a failing test."""
    done = []
    for _ in range(dice.choice((1, 1, 2, 4))):
        files = sorted(path for path in cache.rglob("*") if path.is_file() and path.name.endswith(kinds))
        shelves = [path for path in files if ".sqlite" in path.name]
        path = dice.choice(shelves if shelves and dice.random() < 0.4 else files)
        way = dice.choice(ways)
        if way is parent_a_file and path.parent == cache:
            way = parent_gone  # a cache folder that is a file is refused, and that is no damage
        done.append(f"{way.__name__} {path.relative_to(cache)}")
        way(path, dice)
    return done


@pytest.mark.parametrize("seed", range(SERIES))
def test_damage_between_runs_never_shows(tmp_path: Path, seed: int, fresh: dict[tuple[int, bool], str]) -> None:
    world, dice, done = World(tmp_path), random.Random(seed), []
    world.figures(*VARIANTS[0])
    for _ in range(RUNS):
        for shelf in sorted(world.cache.rglob("*.sqlite")):
            if dice.random() < 0.3 and shelf.is_file():
                leave_as_killed(shelf)
        done.append(damage_some(world.cache, dice, [*IN_PLACE, *BY_NAME]))
        variant = dice.choice(VARIANTS)
        assert world.figures(*variant) == fresh[variant], done


@pytest.mark.parametrize("seed", range(SERIES // 2))
def test_damage_during_a_run_never_shows(
    tmp_path: Path, seed: int, fresh: dict[tuple[int, bool], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that SQLite has mapped into memory is not cut in place: no process survives that."""
    world, dice, done = World(tmp_path), random.Random(1000 + seed), []
    run_stage, left = pipeline.run_stage, 0

    def with_damage(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        if left and dice.random() < 0.2:
            left -= 1
            in_place = dice.random() < 0.5
            ways = IN_PLACE if in_place else BY_NAME
            kinds = tuple("0123456789abcdef") if in_place else ("",)  # results end in their key
            done.append(damage_some(world.cache, dice, ways, kinds))
        return run_stage(*arguments, **named)

    monkeypatch.setattr(pipeline, "run_stage", with_damage)
    for _ in range(RUNS):
        left = 3
        variant = dice.choice(VARIANTS)
        assert world.figures(*variant) == fresh[variant], done


@pytest.fixture(autouse=True)
def _no_traceback_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    assert not [record for record in caplog.records if record.exc_info or record.levelno > logging.WARNING]
