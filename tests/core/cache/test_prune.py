import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from small_cache import NEW, OLD, ONLY_NEW, ONLY_OLD, ORPHAN, SHARED, ago, filled, ran

from chunklab_core import pipeline
from chunklab_core.cache import keys as fingerprint
from chunklab_core.cache import runs
from chunklab_core.cache.maintenance import inventory
from chunklab_core.cache.protocol import Ref, stage_of
from chunklab_core.cache.prune import prune
from chunklab_core.cache.shelves import Shelves
from chunklab_core.cache.store import Store
from chunklab_core.errors import CacheRefusedError
from chunklab_core.report.json import report_to_mapping


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return filled(tmp_path / "cache")


def items(store: Store) -> set[bytes]:
    return set(store.get_items("chunk", [SHARED, ONLY_OLD, ONLY_NEW, ORPHAN]))


def test_an_old_result_is_removed_with_the_items_that_nothing_else_needs(store: Store) -> None:
    gone = prune(store, unused_since=ago(days=30))
    assert store.refs() == [NEW]
    assert items(store) == {SHARED, ONLY_NEW, ORPHAN}
    assert (gone.n_results, gone.n_items, gone.n_spared) == (1, 1, 0)
    assert gone.freed_bytes > 40_000  # the disk has the space back


def test_the_last_run_counts_and_not_the_age_of_the_file(store: Store) -> None:
    ran(store, OLD)
    prune(store, unused_since=ago(days=30))
    assert store.refs() == [OLD, NEW]


def test_the_oldest_are_removed_until_the_rest_fits(store: Store) -> None:
    prune(store, max_bytes=10**9)
    assert store.refs() == [OLD, NEW]
    prune(store, max_bytes=60_000)  # NEW needs one item of 50,000 bytes
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


@pytest.mark.parametrize("limits", [{"max_bytes": 0}, {"unused_since": datetime.max.replace(tzinfo=UTC)}])
def test_nothing_is_removed_that_a_running_run_needs(store: Store, limits: dict[str, object]) -> None:
    with runs.begin(store, Ref("inputs/1"), [OLD]):
        gone = prune(store, **limits)  # type: ignore[arg-type]
    assert store.refs() == [OLD]
    assert items(store) == {SHARED, ONLY_OLD, ONLY_NEW, ORPHAN}  # it may have found any of them
    assert (gone.n_results, gone.n_items, gone.n_spared) == (1, 0, 1)


def test_finished_batches_of_a_stopped_run_stay_for_the_next_one(store: Store) -> None:
    with pytest.raises(KeyboardInterrupt), runs.begin(store, Ref("inputs/1"), [NEW]):
        raise KeyboardInterrupt
    prune(store, max_bytes=60_000)
    assert ORPHAN in items(store)
    ran(store, NEW)
    prune(store, max_bytes=60_000)
    assert ORPHAN not in items(store)


def test_pruning_works_on_a_full_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite needs as much space again to shrink a shelf, but none to remove a whole one."""

    def refused(*_: object) -> None:
        raise CacheRefusedError("full")

    monkeypatch.setattr(Shelves, "compact", refused)
    prune(store, unused_since=ago(days=30))
    assert items(store) == {SHARED, ONLY_NEW, ORPHAN}
    monkeypatch.setattr(Shelves, "delete", refused)
    prune(store, max_bytes=0)
    assert store.shelves.names() == []
    assert items(store) == set()


def test_leftovers_of_killed_writers_and_of_older_formats_are_removed(store: Store) -> None:
    left = [store.root / "results/chunk/00/.writing-a", store.root / "items/.damaged-b", store.root / "items/a.sqlite"]
    for path in left:
        path.write_text("left")
        os.utime(path, (0, 0))
    prune(store, max_bytes=10**9)
    assert not any(path.exists() for path in left)
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

    for remembered in (fingerprint.worked_out, pipeline._code_of):  # so that this cache has it, too
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
