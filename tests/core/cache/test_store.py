import random
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chunklab_core.cache.protocol import Items, MissingError, Ref
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError

REF = Ref("chunk/" + "ab" * 32)
SHELF = Path("items", "chunk", "items.sqlite")
KEYS = tuple(number.to_bytes(2, "big") * 16 for number in range(1200))


def test_a_result_comes_back_as_it_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert not store.holds(REF)
    store.write(REF, b"payload\n\x00", Items("chunk", KEYS[:2]))

    assert store.holds(REF)
    assert store.read(REF) == b"payload\n\x00"
    assert store.items_of(REF) == KEYS[:2]


def test_items_come_back_and_missing_keys_keep_their_order(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("embed/model", {key: key[:2] for key in KEYS[1:]})

    assert store.get_items("embed/model", [KEYS[7], KEYS[0]]) == {KEYS[7]: b"\x00\x07"}
    assert store.missing_items("embed/model", [KEYS[5], KEYS[0], KEYS[3]]) == [KEYS[0]]
    assert store.missing_items("embed/other", [KEYS[5]]) == [KEYS[5]]


def test_a_result_is_removed_with_its_own_items_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("chunk", dict.fromkeys(KEYS[:3], b"item"))
    store.write(REF, b"payload", Items("chunk", KEYS[:2]))

    store.discard_with_items(REF)
    store.discard_with_items(REF)  # nothing is left, and no error is raised

    assert not store.holds(REF)
    assert store.missing_items("chunk", KEYS[:3]) == list(KEYS[:2])


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_a_result_damaged_anywhere_counts_as_missing(tmp_path: Path, damage: str) -> None:
    store, dice = Store(tmp_path), random.Random(damage)
    for _ in range(50):
        store.write(REF, b"some payload of some length", Items("chunk", KEYS[:1]))
        path = next(path for path in (tmp_path / "results").rglob("*") if path.is_file())
        content = bytearray(path.read_bytes())
        at = dice.randrange(len(content))
        if damage == "flip":
            content[at] ^= 1 << dice.randrange(8)
        path.write_bytes({"flip": content, "cut": content[:at], "empty": b"", "gone": b""}[damage])
        if damage == "gone":
            path.unlink()

        with pytest.raises(KeyError):
            store.read(REF)
        assert not store.intact(REF)
        assert not store.holds(REF)


def test_an_intact_result_in_the_place_of_another_counts_as_missing(tmp_path: Path) -> None:
    store, other = Store(tmp_path), Ref("chunk/" + "b" * 64)
    store.write(REF, b"payload of one")
    one = next(path for path in (tmp_path / "results").rglob("*") if path.is_file())
    content = one.read_bytes()
    store.write(other, b"payload of the other")
    for path in (tmp_path / "results").rglob("*"):
        if path.is_file():
            path.write_bytes(content)

    assert store.read(REF) == b"payload of one"
    assert not store.intact(other)


def test_a_result_without_its_items_is_not_intact(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("chunk", {KEYS[1]: b"one", KEYS[2]: b"two"})
    store.write(REF, b"", Items("chunk", KEYS[1:3]))
    assert store.intact(REF)

    store.discard_items("chunk", [KEYS[2]])
    assert store.intact(REF, with_items=False)
    assert not store.intact(REF)


def test_a_changed_item_is_never_returned(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("chunk", {KEYS[1]: b"one", KEYS[2]: b"two"})
    with sqlite3.connect(tmp_path / SHELF) as rows:
        rows.execute("UPDATE items SET value = ? WHERE key = ?", (b"three", KEYS[2]))
    rows.close()

    assert store.get_items("chunk", KEYS[1:3]) == {KEYS[1]: b"one"}


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_a_broken_shelf_is_replaced(tmp_path: Path, content: bytes) -> None:
    store = Store(tmp_path)
    store.put_items("chunk", {KEYS[1]: b"one"})
    store.close()
    (tmp_path / SHELF).write_bytes(content)

    assert store.missing_items("chunk", [KEYS[1]]) == [KEYS[1]]
    store.put_items("chunk", {KEYS[1]: b"one"})
    assert store.get_items("chunk", [KEYS[1]]) == {KEYS[1]: b"one"}


def test_a_shelf_with_a_damaged_page_never_gives_a_wrong_item(tmp_path: Path) -> None:
    store, dice = Store(tmp_path), random.Random(0)
    items = {key: key * 40 for key in (dice.randbytes(32) for _ in range(200))}
    for _ in range(30):
        store.put_items("chunk", items)
        store.close()
        path = tmp_path / SHELF
        content = bytearray(path.read_bytes())
        for _ in range(20):
            content[dice.randrange(len(content))] = dice.randrange(256)
        path.write_bytes(content)

        found = store.get_items("chunk", list(items))
        assert found == {key: items[key] for key in found}


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ConfigError, match=r"Cannot write to cache folder .*--cache-dir"):
        Store(tmp_path / "file" / "cache").check_writable()


def test_a_result_of_an_earlier_version_is_removed_silently(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(tmp_path)
    store.write(REF, b"payload")
    path = next(path for path in (tmp_path / "results").rglob("*") if path.is_file())
    path.write_bytes(path.read_bytes().replace(b"chunklab result 2", b"chunklab result 1"))

    assert not store.intact(REF)
    assert caplog.text == ""


def result_file(root: Path) -> Path:
    return root / "results" / "chunk" / "ab" / ("ab" * 32)


def test_an_intact_result_that_replaced_a_damaged_one_meanwhile_stays(
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


def test_threads_remove_a_damaged_result_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Store(tmp_path).write(REF, b"payload")
    path = result_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    start = threading.Barrier(4)

    def read(_: int) -> None:
        start.wait()
        with pytest.raises(MissingError):
            Store(tmp_path).read(REF)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read, range(4)))

    assert list(path.parent.iterdir()) == []
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("level", range(4))
def test_a_folder_or_a_file_in_the_way_of_a_result_is_removed(tmp_path: Path, level: int) -> None:
    store = Store(tmp_path)
    path = result_file(tmp_path)
    if level == 0:
        path.mkdir(parents=True)
        (path / "inside").write_text("something")
    else:
        obstacle = path.parents[level - 1]
        obstacle.parent.mkdir(parents=True, exist_ok=True)
        obstacle.write_text("a file where a folder was")

    assert not store.holds(REF)
    with pytest.raises(MissingError):
        store.read(REF)
    store.write(REF, b"payload")
    assert store.read(REF) == b"payload"


def test_a_result_is_read_again_only_when_its_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
