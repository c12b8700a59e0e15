from pathlib import Path

import pytest

from chunklab_core.cache.overlay import lay_over, open_store
from chunklab_core.cache.protocol import Items, MissingError, Ref
from chunklab_core.cache.store import Store

REF, OTHER = Ref("chunk/" + "ab" * 32), Ref("chunk/" + "cd" * 32)
KEYS = tuple(bytes([number]) * 32 for number in range(4))


@pytest.fixture
def overlay(tmp_path: Path) -> Store:
    """An overlay over a store with one result and its two items."""
    with Store(tmp_path / "below") as below:
        below.write(REF, b"payload", Items("chunk", KEYS[:2]))
        below.put_items("chunk", {KEYS[0]: b"zero", KEYS[1]: b"one"})
    lay_over(tmp_path / "over", tmp_path / "below")
    return open_store(tmp_path / "over")


@pytest.fixture
def below(tmp_path: Path, overlay: Store) -> Store:
    return open_store(tmp_path / "below")


def test_an_overlay_shows_both_stores_and_writes_to_its_own_only(overlay: Store, below: Store) -> None:
    overlay.put_items("chunk", {KEYS[2]: b"two"})
    overlay.write(OTHER, b"other")

    assert overlay.read(REF) == b"payload"
    assert overlay.items_of(REF) == KEYS[:2]
    assert overlay.intact(REF)
    assert overlay.get_items("chunk", KEYS) == {KEYS[0]: b"zero", KEYS[1]: b"one", KEYS[2]: b"two"}
    assert overlay.missing_items("chunk", KEYS) == [KEYS[3]]
    assert not below.holds(OTHER)
    assert below.missing_items("chunk", KEYS) == list(KEYS[2:])


def test_what_an_overlay_removes_stays_below(overlay: Store, below: Store) -> None:
    overlay.discard_with_items(REF)

    for opened in (overlay, open_store(overlay.root)):
        assert not opened.holds(REF)
        assert not opened.intact(REF)
        assert opened.missing_items("chunk", KEYS[:2]) == list(KEYS[:2])
    assert below.intact(REF)

    overlay.put_items("chunk", {KEYS[0]: b"zero", KEYS[1]: b"one"})
    overlay.write(REF, b"payload", Items("chunk", KEYS[:2]))
    assert overlay.intact(REF)


def test_a_result_damaged_below_is_missing_from_then_on(overlay: Store, below: Store) -> None:
    path = below.path_of(REF)
    path.write_bytes(path.read_bytes()[:-1])
    assert overlay.holds(REF)

    with pytest.raises(MissingError):
        overlay.read(REF)
    assert not overlay.holds(REF)
    assert path.exists()
