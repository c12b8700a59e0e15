import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from chunklab_core.cache.formats import pack_arrays, pack_json, unpack_arrays, unpack_json
from chunklab_core.cache.protocol import Items, Ref
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


def test_items_come_back_and_missing_ones_are_named_in_order(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("embed/model", {key: key[:2] for key in KEYS[1:]})

    assert store.get_items("embed/model", [KEYS[7], KEYS[0]]) == {KEYS[7]: b"\x00\x07"}
    assert store.missing_items("embed/model", [KEYS[5], KEYS[0], KEYS[3]]) == [KEYS[0]]
    assert store.missing_items("embed/other", [KEYS[5]]) == [KEYS[5]]


def test_a_result_is_forgotten_with_its_items_and_without_those_of_others(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_items("chunk", dict.fromkeys(KEYS[:3], b"item"))
    store.write(REF, b"payload", Items("chunk", KEYS[:2]))

    store.discard_with_items(REF)
    store.discard_with_items(REF)  # nothing is left, and nothing is said

    assert not store.holds(REF)
    assert store.missing_items("chunk", KEYS[:3]) == list(KEYS[:2])


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_a_damaged_result_counts_as_missing_wherever_it_is_damaged(tmp_path: Path, damage: str) -> None:
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


def test_a_whole_result_in_the_place_of_another_counts_as_missing(tmp_path: Path) -> None:
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


def test_a_result_is_worth_nothing_without_its_items(tmp_path: Path) -> None:
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
def test_a_broken_shelf_is_made_anew(tmp_path: Path, content: bytes) -> None:
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


def test_json_and_arrays_come_back(tmp_path: Path) -> None:
    assert unpack_json(pack_json({"b": 1, "a": ["é", None, 0.1]})) == {"a": ["é", None, 0.1], "b": 1}
    assert pack_json({"b": 1, "a": 2}) == pack_json({"a": 2, "b": 1})
    arrays = unpack_arrays(pack_arrays({"x": np.arange(6, dtype=np.int32).reshape(2, 3)}))
    np.testing.assert_array_equal(arrays["x"], [[0, 1, 2], [3, 4, 5]])
    arrays["x"][0, 0] = 7  # what was read may be worked on
    with pytest.raises(ValueError, match="JSON compliant"):
        pack_json(float("nan"))


def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ConfigError, match=r"cannot be written .*--cache-dir"):
        Store(tmp_path / "file" / "cache").check_writable()


def test_a_result_of_an_earlier_version_is_made_anew_without_alarm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(tmp_path)
    store.write(REF, b"payload")
    path = next(path for path in (tmp_path / "results").rglob("*") if path.is_file())
    path.write_bytes(path.read_bytes().replace(b"chunklab result 2", b"chunklab result 1"))

    assert not store.intact(REF)
    assert caplog.text == ""


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 4), (2, 0), (2, 3, 4)])
def test_arrays_come_back_as_they_were(dtype: str, shape: tuple[int, ...]) -> None:
    numbers = np.random.default_rng(0).integers(0, 2, (4, *shape)).astype(dtype)
    given = {"first": numbers[0], "second": numbers.T, "third": numbers[::2]}
    back = unpack_arrays(pack_arrays(given))
    assert list(back) == list(given)
    for name, array in given.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(back[name], array)


def test_no_array_of_objects_is_kept() -> None:
    with pytest.raises(ValueError, match="x holds object; expected plain numbers"):
        pack_arrays({"x": np.array([{}])})
