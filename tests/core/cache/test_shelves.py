"""Shelves used by several threads and processes, while their files are damaged, moved or replaced."""

import multiprocessing
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from chunklab_core.cache import shelves
from chunklab_core.cache.files import make_folder
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError

KEYS = tuple(bytes([number]) * 32 for number in range(8))
SHELF = Path("items", "chunk", "items.sqlite")


def at_once(work: Callable[[int], None]) -> None:
    """Four threads; an error in one of them is one of the test."""
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def set_aside(root: Path) -> None:
    """What another process does with a shelf that it finds damaged."""
    shutil.move((root / SHELF).parent, root / "elsewhere")


def delete_the_cache(root: Path) -> None:
    shutil.rmtree(root)


def replace_by_garbage(root: Path) -> None:
    (root / "garbage").write_bytes(b"no database at all" * 1000)
    (root / "garbage").replace(root / SHELF)


def folder_for_the_log(root: Path) -> None:
    for end in ("-wal", "-shm"):
        Path(f"{root / SHELF}{end}").unlink()
    Path(f"{root / SHELF}-wal").mkdir()
    set_aside(root)
    (root / SHELF).parent.mkdir()
    Path(f"{root / SHELF}-wal").mkdir()


def text_for_the_folder(root: Path) -> None:
    set_aside(root)
    (root / SHELF).parent.write_text("a file where a folder was")


def text_for_all_items(root: Path) -> None:
    shutil.rmtree(root / "items")
    (root / "items").write_text("a file where a folder was")


def other_columns(root: Path) -> None:
    set_aside(root)
    make_folder((root / SHELF).parent, root)
    with closing(sqlite3.connect(root / SHELF)) as rows:
        rows.execute("CREATE TABLE items (name TEXT)")


@pytest.mark.parametrize(
    "happens",
    [
        set_aside,
        delete_the_cache,
        replace_by_garbage,
        folder_for_the_log,
        text_for_the_folder,
        text_for_all_items,
        other_columns,
    ],
)
def test_an_open_connection_notices_when_its_shelf_changes(tmp_path: Path, happens: Callable[[Path], None]) -> None:
    store = Store(tmp_path / "cache")
    store.put_items("chunk", {KEYS[0]: b"zero"})
    happens(store.root)

    assert {KEYS[0]: b"zero"}.items() >= store.get_items("chunk", KEYS).items()  # SQLite may have it elsewhere
    store.put_items("chunk", {KEYS[1]: b"one"})
    found = Store(store.root).get_items("chunk", KEYS)
    assert found[KEYS[1]] == b"one"
    assert {KEYS[0]: b"zero", KEYS[1]: b"one"}.items() >= found.items()


@pytest.mark.parametrize("ends", [("-wal",), ("-shm",), ("-wal", "-shm")])
def test_a_shelf_in_use_without_its_side_files_returns_nothing_wrong(tmp_path: Path, ends: tuple[str, ...]) -> None:
    store, right = Store(tmp_path), {key: key[:3] for key in KEYS}
    store.put_items("chunk", {key: right[key] for key in KEYS[:2]})
    for end in ends:
        Path(f"{tmp_path / SHELF}{end}").unlink()
    store.put_items("chunk", {key: right[key] for key in KEYS[2:4]})
    Store(tmp_path).put_items("chunk", {KEYS[4]: right[KEYS[4]]})

    for each in (store, Store(tmp_path)):
        assert right.items() >= each.get_items("chunk", KEYS).items()
        each.close()


def test_a_row_with_impossible_content_is_missing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("chunk", {KEYS[0]: b"zero", KEYS[1]: b"one", KEYS[2]: b"two"})
    with closing(sqlite3.connect(tmp_path / SHELF)) as rows, rows:
        rows.execute("UPDATE items SET value = 7 WHERE key = ?", (KEYS[0],))
        rows.execute("UPDATE items SET value = CAST(x'ff' AS TEXT) WHERE key = ?", (KEYS[1],))

    assert store.get_items("chunk", KEYS) == {KEYS[2]: b"two"}


def test_threads_that_find_a_damaged_shelf_at_once_lose_nothing_they_write(tmp_path: Path) -> None:
    stores = [Store(tmp_path) for _ in range(4)]
    stores[0].put_items("chunk", {KEYS[7]: b"before"})
    stores[0].close()
    (tmp_path / SHELF).write_bytes(b"no database at all" * 1000)
    start = threading.Barrier(4)

    def write(number: int) -> None:
        start.wait()
        stores[number].put_items("chunk", {KEYS[number]: b"%d" % number})

    at_once(write)

    assert Store(tmp_path).get_items("chunk", KEYS) == {KEYS[number]: b"%d" % number for number in range(4)}
    assert not list(tmp_path.rglob(".damaged*"))


def test_a_slow_process_leaves_the_new_shelf_in_its_place(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("chunk", {KEYS[0]: b"zero"})
    store.close()
    shelves._set_aside(tmp_path / SHELF, (0, 0), sqlite3.DatabaseError("malformed"))  # saw another file

    assert store.get_items("chunk", KEYS) == {KEYS[0]: b"zero"}


def test_one_store_serves_many_threads(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def work(number: int) -> None:
        for _ in range(20):
            store.put_items("chunk", {KEYS[number]: b"%d" % number})
            assert store.get_items("chunk", [KEYS[number]]) == {KEYS[number]: b"%d" % number}

    at_once(work)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_opens_its_own_connections(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("chunk", {KEYS[0]: b"zero"})

    def child() -> None:
        assert store.get_items("chunk", KEYS) == {KEYS[0]: b"zero"}
        store.put_items("chunk", {KEYS[1]: b"one"})
        store.close()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    store.put_items("chunk", {KEYS[2]: b"two"})

    assert process.exitcode == 0
    assert store.get_items("chunk", KEYS) == {KEYS[0]: b"zero", KEYS[1]: b"one", KEYS[2]: b"two"}


def test_closing_a_shelf_removes_its_side_files(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put_items("chunk", {KEYS[0]: b"zero"})
        assert len(list((tmp_path / SHELF).parent.iterdir())) > 1

    assert list((tmp_path / SHELF).parent.iterdir()) == [tmp_path / SHELF]
    assert store.get_items("chunk", KEYS) == {KEYS[0]: b"zero"}  # and it can be used again


def held(path: Path, let_go: threading.Event) -> threading.Thread:
    """Another process's lock on a shelf."""
    taken = threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(path)) as rows:
            rows.execute("BEGIN IMMEDIATE")
            taken.set()
            let_go.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert taken.wait(30)
    return thread


def test_a_write_waits_for_a_lock(tmp_path: Path) -> None:
    store, let_go, done = Store(tmp_path), threading.Event(), threading.Event()
    store.put_items("chunk", {KEYS[0]: b"zero"})
    holder = held(tmp_path / SHELF, let_go)

    def write() -> None:
        store.put_items("chunk", {KEYS[1]: b"one"})
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert not done.wait(0.3)
    let_go.set()
    holder.join()
    writer.join()

    assert store.missing_items("chunk", KEYS[:2]) == []


def test_a_lock_that_stays_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path).put_items("chunk", {KEYS[0]: b"zero"})
    monkeypatch.setattr(shelves, "_LOCKED_FOR", 0.2)
    let_go = threading.Event()
    holder = held(tmp_path / SHELF, let_go)
    try:
        with pytest.raises(ConfigError, match=r"Another process has locked chunk in cache folder .*\. Wait"):
            Store(tmp_path).put_items("chunk", {KEYS[1]: b"one"})
    finally:
        let_go.set()
        holder.join()
