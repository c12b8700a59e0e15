"""What lies in a cache, whether it is whole, and what can go without a run missing it."""

import errno
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chunklab_core import pipeline
from chunklab_core.cache import keys as fingerprint
from chunklab_core.cache import runs
from chunklab_core.cache.fallback import MARK
from chunklab_core.cache.files import write_atomically
from chunklab_core.cache.maintenance import clear, inventory, prune, verify
from chunklab_core.cache.shelves import Shelves
from chunklab_core.cache.store import Items, Ref, Store, stage_of
from chunklab_core.errors import CacheRefusedError, ConfigError
from chunklab_core.report.json import report_to_mapping

OLD, NEW = Ref("chunk/0001"), Ref("chunk/0002")
SHARED, ONLY_OLD, ONLY_NEW, ORPHAN = (bytes([at]) * 32 for at in range(4))


def ago(**span: float) -> datetime:
    return datetime.now(UTC) - timedelta(**span)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two results with an item in common, and an item on which nothing leans."""
    store = Store(tmp_path / "cache")
    write_atomically(store.root / MARK, [b"3\n"])
    store.put_items("chunk", {SHARED: b"s" * 50_000, ONLY_OLD: b"o" * 50_000, ONLY_NEW: b"n", ORPHAN: b"x"})
    store.write(OLD, b"old" * 1000, Items("chunk", (SHARED, ONLY_OLD)))
    store.write(NEW, b"new", Items("chunk", (SHARED, ONLY_NEW)))
    for days, ref in ((40, OLD), (1, NEW)):
        at = ago(days=days).timestamp()
        os.utime(store.path_of(ref), (at, at))  # no run is on record, so the file says when it was used
    return store


def items(store: Store) -> set[bytes]:
    return set(store.get_items("chunk", [SHARED, ONLY_OLD, ONLY_NEW, ORPHAN]))


def ran(store: Store, *refs: Ref, **explained: str) -> None:
    with runs.begin(store, Ref("inputs/1"), refs, explained):
        pass


def test_what_lies_there_is_counted_by_stage_and_shelf(store: Store) -> None:
    found = inventory(store)
    assert [(part.name, part.count) for part in found.results] == [("chunk", 2)]
    assert [(part.name, part.count) for part in found.shelves] == [("chunk", 4)]
    assert found.n_bytes >= 100_000
    assert (found.n_runs, found.n_living, found.last_used, found.n_unused) == (0, 0, None, 2)


def test_an_old_result_goes_with_the_items_that_nothing_else_leans_on(store: Store) -> None:
    gone = prune(store, unused_since=ago(days=30))
    assert store.refs() == [NEW]
    assert items(store) == {SHARED, ONLY_NEW, ORPHAN}
    assert (gone.n_results, gone.n_items, gone.n_spared) == (1, 1, 0)
    assert gone.freed_bytes > 40_000  # the disk has the room back


def test_use_by_a_run_counts_and_not_the_age_of_the_file(store: Store) -> None:
    ran(store, OLD)
    prune(store, unused_since=ago(days=30))
    assert store.refs() == [OLD, NEW]


def test_the_oldest_go_until_the_rest_fits(store: Store) -> None:
    prune(store, max_bytes=10**9)
    assert store.refs() == [OLD, NEW]
    prune(store, max_bytes=60_000)  # NEW leans on one item of 50,000 bytes
    assert store.refs() == [NEW]
    assert items(store) == {SHARED, ONLY_NEW}
    prune(store, max_bytes=0)
    assert store.refs() == []
    assert items(store) == set()


def test_unused_is_what_the_latest_runs_do_not_need(store: Store) -> None:
    ran(store, OLD, folder="a", asked_in="q")
    ran(store, NEW, folder="a", asked_in="q")
    ran(store, OLD, folder="b", asked_in="q")
    prune(store, unused=True)
    assert store.refs() == [OLD, NEW]  # each is needed by the latest run of a pair
    ran(store, NEW, folder="b", asked_in="q")
    prune(store, unused=True)
    assert store.refs() == [NEW]
    assert items(store) == {SHARED, ONLY_NEW}


def test_inputs_of_a_run_that_is_about_to_begin_are_not_unused(store: Store) -> None:
    store.write(Ref("inputs/0003"), b"just written")
    prune(store, unused=True)
    assert store.refs() == [Ref("inputs/0003")]


@pytest.mark.parametrize("asked", [{"max_bytes": 0}, {"unused_since": datetime.max.replace(tzinfo=UTC)}])
def test_nothing_goes_that_a_living_run_needs(store: Store, asked: dict[str, object]) -> None:
    with runs.begin(store, Ref("inputs/1"), [OLD]):
        gone = prune(store, **asked)  # type: ignore[arg-type]
    assert store.refs() == [OLD]
    assert items(store) == {SHARED, ONLY_OLD, ONLY_NEW, ORPHAN}  # it may have found any of them
    assert (gone.n_results, gone.n_items, gone.n_spared) == (1, 0, 1)


def test_finished_batches_of_a_stopped_run_wait_for_the_next_one(store: Store) -> None:
    with pytest.raises(KeyboardInterrupt), runs.begin(store, Ref("inputs/1"), [NEW]):
        raise KeyboardInterrupt
    prune(store, max_bytes=60_000)
    assert ORPHAN in items(store)
    ran(store, NEW)
    prune(store, max_bytes=60_000)
    assert ORPHAN not in items(store)


def test_on_a_disk_that_is_full_things_still_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """To give room back, SQLite first needs as much again; a shelf of which nothing stays needs none."""

    def refused(*_: object) -> None:
        raise CacheRefusedError("full")

    monkeypatch.setattr(Shelves, "compact", refused)
    prune(store, unused_since=ago(days=30))
    assert items(store) == {SHARED, ONLY_NEW, ORPHAN}
    monkeypatch.setattr(Shelves, "delete", refused)
    prune(store, max_bytes=0)
    assert store.shelves.names() == []
    assert items(store) == set()


@pytest.mark.parametrize("ask", [clear, lambda store: prune(store, max_bytes=0)])
def test_a_folder_that_cannot_be_changed_is_said_in_one_line(
    ask: Callable[[Store], object], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(runs.FileLock, "acquire", refused)
    with pytest.raises(ConfigError, match=r"cannot be changed \(Read-only file system\)") as caught:
        ask(store)
    assert "\n" not in str(caught.value)


def test_leftovers_of_killed_writers_and_of_older_formats_go(store: Store) -> None:
    left = [store.root / "results/chunk/00/.writing-a", store.root / "items/.damaged-b", store.root / "items/a.sqlite"]
    for path in left:
        path.write_text("left")
        os.utime(path, (0, 0))
    prune(store, max_bytes=10**9)
    assert not any(path.exists() for path in left)
    assert store.refs() == [OLD, NEW]


def test_verify_takes_away_what_is_damaged_and_leaves_the_rest(store: Store) -> None:
    assert verify(store).damaged == ()
    store.put_items("chunk", {ORPHAN: b"fine"})
    store.path_of(NEW).write_bytes(store.path_of(NEW).read_bytes()[:-1] + b"?")
    found = verify(Store(store.root))
    assert (found.n_results, found.n_items, found.damaged) == (2, 4, (NEW,))
    assert Store(store.root).refs() == [OLD]


def test_verify_finds_a_damaged_item_and_what_leans_on_it(store: Store) -> None:
    import sqlite3

    store.close()
    with sqlite3.connect(store.root / "items/chunk/items.sqlite") as rows:
        rows.execute("UPDATE items SET value = 'other' WHERE key = ?", (ONLY_OLD,))
    rows.close()
    found = verify(Store(store.root))
    assert found.damaged == ("1 items of chunk", OLD)
    assert verify(Store(store.root)).damaged == ()


def test_clear_takes_all_of_ours_and_nothing_else(store: Store) -> None:
    ran(store, OLD)
    (store.root / "letter.txt").write_text("mine")
    assert clear(store) > 100_000
    assert [path.name for path in store.root.iterdir()] == ["letter.txt"]
    assert clear(Store(store.root / "no such folder")) == 0


def test_clear_waits_for_the_run_that_is_going_on(store: Store) -> None:
    with runs.begin(store, Ref("inputs/1"), [OLD]), pytest.raises(ConfigError, match="A run is going on"):
        clear(store)
    assert store.refs() == [OLD, NEW]


def test_a_run_after_pruning_gives_the_figures_of_a_run_before(tmp_path: Path) -> None:
    docs, questions = tmp_path / "docs", tmp_path / "questions.yaml"
    docs.mkdir()
    for name in "abc":
        (docs / f"{name}.txt").write_text(f"Room {name} opens at nine.\n\nIt closes at {name} o'clock.\n")
    questions.write_text(
        "questions:\n- {id: closing, query: when does room b close, gold_snippets: [It closes at b o'clock.]}\n"
    )
    small = {
        "retrieval": {"mode": "bm25"},
        "strategies": [{"name": "fixed", "params": {"chunk_size": 8, "overlap": 0}}],
    }
    large = {**small, "strategies": [{"name": "fixed", "params": {"chunk_size": 64, "overlap": 0}}]}

    def figures(config: dict[str, object]) -> str:
        mapping = report_to_mapping(pipeline.evaluate(docs, questions, config, cache=tmp_path / "cache"))
        return json.dumps({**mapping, "provenance": {**mapping["provenance"], "run": None}})

    for remembered in (fingerprint.worked_out, pipeline._code_of):  # so that it is kept in this cache, too
        remembered.cache_clear()
    before, store = figures(small), Store(tmp_path / "cache")
    assert prune(store, max_bytes=10**9, unused=True).n_results == inventory(store).n_unused == 0
    assert {stage_of(ref) for ref in store.refs()} >= {"code", "tags"}
    figures(large)
    n_all = len(store.refs())
    for ref in store.refs():
        os.utime(store.path_of(ref), (0, 0))
    assert 0 < prune(store, unused=True).n_results < n_all
    assert inventory(store).n_unused == 0
    assert figures(small) == before
    assert prune(store, max_bytes=0).n_results > 0
    assert store.refs() == []
    assert figures(small) == before


def test_clear_leaves_files_of_the_user_among_ours(store: Store) -> None:
    mine = [store.root / place for place in ("results/table.csv", "results/score/final.csv", "runs/exp1.log")]
    mine += [store.root / "items" / "list.txt", store.root / "prefect" / "notes.txt"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    ran(store, OLD)
    clear(store)
    assert sorted(path for path in store.root.rglob("*") if path.is_file()) == sorted(mine)


@pytest.mark.parametrize("take_away", [lambda store: prune(store, unused=True), clear])
def test_nothing_is_taken_away_while_a_run_starts(store: Store, take_away: Callable[[Store], object]) -> None:
    with runs.about_to_begin(store):
        with pytest.raises(ConfigError, match="A run is starting"):
            take_away(store)
        with runs.begin(store, Ref("inputs/1"), [OLD]):
            prune(store, unused=True)  # now it is known what it needs
            assert OLD in store.refs()
    take_away(store)
    assert list((store.root / "runs").glob("*.lock")) == []
