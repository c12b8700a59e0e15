import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.run_records import (
    CountingStore,
    Effort,
    RunRecord,
    new_items,
    note_made,
    noted,
    read_record,
    record_path,
    take_notes,
    write_record,
)
from chunklab_core.cache.store import Store

EFFORT = Effort(Ref("chunk/3"), 1.5, {"chunk": 2, "embed/abc": 40}, {"chunk": 3})
NOW = datetime(2026, 3, 1, tzinfo=UTC)
RECORD = RunRecord("r1", "m", NOW, NOW, "done", Ref("inputs/1"), (Ref("inputs/1"),), {"a": [1]}, (EFFORT,))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_a_record_comes_back_and_is_plain_json(store: Store) -> None:
    write_record(store, RECORD)
    path = record_path(store, "r1")

    assert read_record(path) == RECORD
    assert json.loads(path.read_text())["record"]["refs"] == ["inputs/1"]


def test_a_damaged_record_or_one_of_another_version_is_none(store: Store) -> None:
    write_record(store, RECORD)
    path = record_path(store, "r1")
    text = path.read_text()
    damages = ["", text[:-10], text.replace("inputs/1", "inputs/2"), text.replace('"version": ', '"version": 9')]
    for damaged in damages:
        assert damaged != text
        path.write_text(damaged)
        assert read_record(path) is None
    assert read_record(path.with_name("missing.json")) is None


def test_a_note_stays_until_it_is_taken(store: Store) -> None:
    note_made(store, EFFORT)
    refs = [EFFORT.ref, Ref("chunk/other")]

    assert noted(store, refs) == {EFFORT.ref: EFFORT}
    assert take_notes(store, refs) == (EFFORT,)
    assert noted(store, refs) == {}


def test_new_items_are_those_on_the_shelf_that_the_result_needs() -> None:
    assert new_items(EFFORT) == 2
    assert new_items(Effort(Ref("score/1"), 1.0, {"embed/abc": 40}, {})) is None


def test_a_counting_store_counts_written_items_by_shelf(store: Store) -> None:
    counting = CountingStore(store)
    counting.put_items("chunk", {b"k" * 32: b"1", b"l" * 32: b"2"})
    counting.put_items("chunk", {b"m" * 32: b"3"})

    assert counting.new == {"chunk": 3}
    assert store.get_items("chunk", [b"k" * 32]) == {b"k" * 32: b"1"}
