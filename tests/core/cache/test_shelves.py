"""Shelves under several threads and processes, and under whatever happens to their files meanwhile."""

import multiprocessing
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from chunklab_core.cache import shelves
from chunklab_core.cache.files import make_folder
from chunklab_core.cache.protocol import Items, MissingError, Ref
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError

REF = Ref("chunk/" + "ab" * 32)
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
def test_a_connection_that_is_kept_notices_what_happens_to_its_shelf(
    tmp_path: Path, happens: Callable[[Path], None]
) -> None:
    store = Store(tmp_path / "cache")
    store.put_items("chunk", {KEYS[0]: b"zero"})
    happens(store.root)

    assert {KEYS[0]: b"zero"}.items() >= store.get_items("chunk", KEYS).items()  # SQLite may have it elsewhere
    store.put_items("chunk", {KEYS[1]: b"one"})
    found = Store(store.root).get_items("chunk", KEYS)
    assert found[KEYS[1]] == b"one"
    assert {KEYS[0]: b"zero", KEYS[1]: b"one"}.items() >= found.items()


@pytest.mark.parametrize("ends", [("-wal",), ("-shm",), ("-wal", "-shm")])
def test_without_the_files_beside_a_shelf_in_use_nothing_wrong_is_read(tmp_path: Path, ends: tuple[str, ...]) -> None:
    store, right = Store(tmp_path), {key: key[:3] for key in KEYS}
    store.put_items("chunk", {key: right[key] for key in KEYS[:2]})
    for end in ends:
        Path(f"{tmp_path / SHELF}{end}").unlink()
    store.put_items("chunk", {key: right[key] for key in KEYS[2:4]})
    Store(tmp_path).put_items("chunk", {KEYS[4]: right[KEYS[4]]})

    for each in (store, Store(tmp_path)):
        assert right.items() >= each.get_items("chunk", KEYS).items()
        each.close()


def test_a_row_that_makes_no_sense_is_not_there(tmp_path: Path) -> None:
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


def test_one_that_was_too_slow_leaves_the_new_shelf_in_its_place(tmp_path: Path) -> None:
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
def test_a_forked_process_uses_connections_of_its_own(tmp_path: Path) -> None:
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


def test_nothing_stays_beside_a_shelf_that_is_closed(tmp_path: Path) -> None:
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


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    store, let_go = Store(tmp_path), threading.Event()
    store.put_items("chunk", {KEYS[0]: b"zero"})
    holder = held(tmp_path / SHELF, let_go)
    threading.Timer(0.3, let_go.set).start()
    started = time.monotonic()
    store.put_items("chunk", {KEYS[1]: b"one"})
    holder.join()

    assert time.monotonic() - started > 0.2
    assert store.missing_items("chunk", KEYS[:2]) == []


def test_a_lock_that_stays_ends_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path).put_items("chunk", {KEYS[0]: b"zero"})
    monkeypatch.setattr(shelves, "_LOCKED_FOR", 0.2)
    let_go = threading.Event()
    holder = held(tmp_path / SHELF, let_go)
    try:
        with pytest.raises(ConfigError, match=r"held by another process: chunk stays locked\. Wait"):
            Store(tmp_path).put_items("chunk", {KEYS[1]: b"one"})
    finally:
        let_go.set()
        holder.join()


# ---------------------------------------------------------------- results


def result_file(root: Path) -> Path:
    return root / "results" / "chunk" / "ab" / ("ab" * 32)


def test_a_good_result_that_replaced_a_damaged_one_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.write(REF, b"payload", Items("chunk", KEYS[:1]))
    whole, reads = Path.read_bytes, []

    def read(path: Path) -> bytes:
        content = whole(path)
        reads.append(path)
        return content[:-1] if len(reads) == 1 else content  # the first reader saw the damaged file

    monkeypatch.setattr(Path, "read_bytes", read)
    with pytest.raises(MissingError):
        store.read(REF)

    assert store.read(REF) == b"payload"
    assert [path.name for path in result_file(tmp_path).parent.iterdir()] == ["ab" * 32]


def test_a_damaged_result_is_taken_away_by_two_at_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Store(tmp_path).write(REF, b"payload")
    path = result_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    start = threading.Barrier(4)

    def read(_: int) -> None:
        start.wait()
        with pytest.raises(MissingError):
            Store(tmp_path).read(REF)

    at_once(read)

    assert list(path.parent.iterdir()) == []
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("level", range(4))
def test_a_folder_or_a_file_in_the_way_of_a_result_gives_way(tmp_path: Path, level: int) -> None:
    store = Store(tmp_path)
    path = result_file(tmp_path)
    if level == 0:
        path.mkdir(parents=True)
        (path / "inside").write_text("something")
    else:
        way = path.parents[level - 1]
        way.parent.mkdir(parents=True, exist_ok=True)
        way.write_text("a file where a folder was")

    assert not store.holds(REF)
    with pytest.raises(MissingError):
        store.read(REF)
    store.write(REF, b"payload")
    assert store.read(REF) == b"payload"


def test_a_result_is_read_and_checked_once_and_again_when_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, reads, whole = Store(tmp_path), [], Path.read_bytes
    store.write(REF, b"payload", Items("chunk", KEYS[:1]))
    monkeypatch.setattr(Path, "read_bytes", lambda path: (reads.append(path), whole(path))[1])

    assert store.intact(REF, with_items=False)
    assert (store.read(REF), store.items_of(REF)) == (b"payload", KEYS[:1])
    assert len(reads) == 1

    path = result_file(tmp_path)
    content = whole(path)
    path.write_bytes(content[:-1] + b"?")
    with pytest.raises(MissingError):
        store.read(REF)
    assert not store.holds(REF)
