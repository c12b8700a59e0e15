import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from small_cache import NEW, OLD, ONLY_OLD, ORPHAN, filled, ran

from chunklab_core.cache import runs
from chunklab_core.cache.maintenance import clear, inventory, verify
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.prune import prune
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return filled(tmp_path / "cache")


def test_the_inventory_counts_by_stage_and_shelf(store: Store) -> None:
    found = inventory(store)
    assert [(part.name, part.count) for part in found.results] == [("chunk", 2)]
    assert [(part.name, part.count) for part in found.shelves] == [("chunk", 4)]
    assert found.n_bytes >= 100_000
    assert (found.n_runs, found.n_living, found.last_used, found.n_unused) == (0, 0, None, 2)


@pytest.mark.parametrize("change", [clear, lambda store: prune(store, max_bytes=0)])
def test_a_folder_that_cannot_be_changed_is_one_line(
    change: Callable[[Store], object], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(runs.FileLock, "acquire", refused)
    with pytest.raises(ConfigError, match=r"Cannot change cache folder .* \(Read-only file system\)") as caught:
        change(store)
    assert "\n" not in str(caught.value)


def test_verify_removes_what_is_damaged_and_leaves_the_rest(store: Store) -> None:
    assert verify(store).damaged == ()
    store.put_items("chunk", {ORPHAN: b"fine"})
    store.path_of(NEW).write_bytes(store.path_of(NEW).read_bytes()[:-1] + b"?")
    found = verify(Store(store.root))
    assert (found.n_results, found.n_items, found.damaged) == (2, 4, (NEW,))
    assert Store(store.root).refs() == [OLD]


def test_verify_finds_a_damaged_item_and_the_result_that_needs_it(store: Store) -> None:
    import sqlite3

    store.close()
    with sqlite3.connect(store.root / "items/chunk/items.sqlite") as rows:
        rows.execute("UPDATE items SET value = 'other' WHERE key = ?", (ONLY_OLD,))
    rows.close()
    found = verify(Store(store.root))
    assert found.damaged == ("1 items of chunk", OLD)
    assert verify(Store(store.root)).damaged == ()


def test_clear_removes_all_of_ours_and_nothing_else(store: Store) -> None:
    ran(store, OLD)
    (store.root / "letter.txt").write_text("mine")
    assert clear(store) > 100_000
    assert [path.name for path in store.root.iterdir()] == ["letter.txt"]
    assert clear(Store(store.root / "no such folder")) == 0


def test_clear_is_refused_while_a_run_is_running(store: Store) -> None:
    with runs.begin(store, Ref("inputs/1"), [OLD]), pytest.raises(ConfigError, match="A run is running"):
        clear(store)
    assert store.refs() == [OLD, NEW]


def test_clear_leaves_the_files_of_the_user(store: Store) -> None:
    mine = [store.root / place for place in ("results/table.csv", "results/score/final.csv", "runs/exp1.log")]
    mine += [store.root / "items" / "list.txt", store.root / "prefect" / "notes.txt"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    ran(store, OLD)
    clear(store)
    assert sorted(path for path in store.root.rglob("*") if path.is_file()) == sorted(mine)


@pytest.mark.parametrize("change", [lambda store: prune(store, unused=True), clear])
def test_nothing_is_removed_while_a_run_starts(store: Store, change: Callable[[Store], object]) -> None:
    with runs.about_to_begin(store):
        with pytest.raises(ConfigError, match="A run is starting"):
            change(store)
        with runs.begin(store, Ref("inputs/1"), [OLD]):
            prune(store, unused=True)  # now it is known what it needs
            assert OLD in store.refs()
    change(store)
    assert list((store.root / "runs").glob("*.lock")) == []
