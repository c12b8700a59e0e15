import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from worlds import CARD, TEXTS, Stub

from chunklab_core.cache.store import Store
from chunklab_core.embed import embed_texts, load_lengths, load_vectors, text_keys
from chunklab_core.models.card import ModelCard


def vectors_of(texts: Sequence[str], store: Store) -> NDArray[np.float32]:
    return load_vectors(text_keys(texts), CARD.digest, store)


def test_every_text_reaches_the_model_once(tmp_path: Path) -> None:
    store, model = Store(tmp_path), Stub()

    assert embed_texts([*TEXTS[:3], *TEXTS[:3]], model, store) == 3
    assert embed_texts(TEXTS[1:5], model, store) == 2
    assert sorted(model.seen) == TEXTS[:5]


def test_vectors_come_back_in_the_order_of_their_keys(tmp_path: Path) -> None:
    store = Store(tmp_path)
    embed_texts(TEXTS, Stub(), store)

    np.testing.assert_array_equal(vectors_of([TEXTS[140], TEXTS[2], TEXTS[2]], store), [[140, 1], [2, 1], [2, 1]])


def test_window_ends_are_found_for_texts_past_the_limit_only(tmp_path: Path) -> None:
    class Windowed(Stub):
        """A piece a word, of which it reads the first three."""

        def count_pieces(self, texts: Sequence[str]) -> list[int]:
            return [len(text.split()) for text in texts]

        def window_ends(self, texts: Sequence[str]) -> list[int]:
            measured.extend(texts)
            return [len(" ".join(text.split()[:3])) for text in texts]

    measured: list[str] = []
    store, texts = Store(tmp_path), ["text 001 fits", "text 002 ends here", "text 003 and goes on"]
    embed_texts(texts, Windowed(ModelCard("stub", CARD.digest, 3, "")), store)
    keys = text_keys(texts)

    assert sorted(measured) == texts[1:]
    pieces, window_ends = load_lengths(keys, CARD.digest, store)
    assert pieces.tolist() == [3, 4, 5]
    assert window_ends.tolist() == [len(texts[0]), len("text 002 ends"), 12]
    np.testing.assert_array_equal(vectors_of(texts, store), [[1, 1], [2, 1], [3, 1]])


def test_a_model_of_unknown_limit_reads_everything(tmp_path: Path) -> None:
    store = Store(tmp_path)
    embed_texts(TEXTS[:2], Stub(), store)

    pieces, window_ends = load_lengths(text_keys(TEXTS[:2]), CARD.digest, store)
    assert (pieces.tolist(), window_ends.tolist()) == ([0, 0], [8, 8])
    assert [array.shape for array in load_lengths([], CARD.digest, store)] == [(0,), (0,)]


def test_each_model_has_its_own_vectors(tmp_path: Path) -> None:
    store, other = Store(tmp_path), Stub(ModelCard("other", "1" * 64, None, ""))
    embed_texts(TEXTS[:2], Stub(), store)

    assert embed_texts(TEXTS[:2], other, store) == 2


def test_a_stopped_run_keeps_its_finished_batches(tmp_path: Path) -> None:
    store, stopped, again = Store(tmp_path), Stub(fails_at_call=3), Stub()
    with pytest.raises(RuntimeError, match="power cut"):
        embed_texts(TEXTS, stopped, store)
    embed_texts(TEXTS, again, store)

    assert len(stopped.seen) == 128
    assert sorted([*stopped.seen, *again.seen]) == TEXTS


def test_threads_that_share_texts_embed_each_once(tmp_path: Path) -> None:
    store, model = Store(tmp_path), Stub()
    threads = [threading.Thread(target=embed_texts, args=(TEXTS, model, store)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(model.seen) == TEXTS


def test_a_missing_vector_raises(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        vectors_of(TEXTS[:1], Store(tmp_path))


def test_progress_ends_at_the_total(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    embed_texts(TEXTS, Stub(), Store(tmp_path), lambda done, total: calls.append((done, total)))

    assert calls == [(0, 150), (64, 150), (128, 150), (150, 150)]


def test_any_text_has_a_key() -> None:
    keys = text_keys(["", "a", "a ", "\ud800", "é", "e\u0301"])

    assert len(set(keys)) == 6
    assert keys[1].hex() == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
