import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from worlds import CARD, TEXTS, Stub

from chunklab_core.cache.store import Store
from chunklab_core.embed import embed_texts, load_pieces, load_vectors, load_window_ends, text_keys
from chunklab_core.models.card import ModelCard


def vectors_of(texts: Sequence[str], store: Store) -> NDArray[np.float32]:
    return load_vectors(text_keys(texts), CARD.digest, store)


def test_every_text_reaches_the_model_once(tmp_path: Path) -> None:
    store, model = Store(tmp_path), Stub()

    assert embed_texts([*TEXTS[:3], *TEXTS[:3]], model, store) == 3
    assert embed_texts(TEXTS[1:5], model, store) == 2
    assert sorted(model.seen) == TEXTS[:5]


def test_vectors_come_back_in_the_order_asked_for(tmp_path: Path) -> None:
    store = Store(tmp_path)
    embed_texts(TEXTS, Stub(), store)

    np.testing.assert_array_equal(vectors_of([TEXTS[140], TEXTS[2], TEXTS[2]], store), [[140, 1], [2, 1], [2, 1]])
    np.testing.assert_array_equal(load_pieces(text_keys(TEXTS[:2]), CARD.digest, store), [0, 0])


def test_only_of_texts_past_the_limit_is_it_asked_how_far_the_model_reads(tmp_path: Path) -> None:
    class Windowed(Stub):
        """A piece a word, of which it reads the first three."""

        def count_pieces(self, texts: Sequence[str]) -> list[int]:
            return [len(text.split()) for text in texts]

        def window_ends(self, texts: Sequence[str]) -> list[int]:
            asked.extend(texts)
            return [len(" ".join(text.split()[:3])) for text in texts]

    asked: list[str] = []
    store, texts = Store(tmp_path), ["text 001 fits", "text 002 ends here", "text 003 and goes on"]
    embed_texts(texts, Windowed(ModelCard("stub", CARD.digest, 3, "")), store)
    keys = text_keys(texts)

    assert sorted(asked) == texts[1:]
    assert load_window_ends(keys, CARD.digest, store).tolist() == [len(texts[0]), len("text 002 ends"), 12]
    assert load_pieces(keys, CARD.digest, store).tolist() == [3, 4, 5]
    np.testing.assert_array_equal(vectors_of(texts, store), [[1, 1], [2, 1], [3, 1]])


def test_a_model_without_a_known_limit_is_taken_to_read_everything(tmp_path: Path) -> None:
    store = Store(tmp_path)
    embed_texts(TEXTS[:2], Stub(), store)

    assert load_window_ends(text_keys(TEXTS[:2]), CARD.digest, store).tolist() == [8, 8]


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    store, other = Store(tmp_path), Stub(ModelCard("other", "1" * 64, None, ""))
    embed_texts(TEXTS[:2], Stub(), store)

    assert embed_texts(TEXTS[:2], other, store) == 2


def test_a_run_that_is_stopped_keeps_its_finished_batches(tmp_path: Path) -> None:
    store, stopped, again = Store(tmp_path), Stub(fails_at_call=3), Stub()
    with pytest.raises(RuntimeError, match="power cut"):
        embed_texts(TEXTS, stopped, store)
    embed_texts(TEXTS, again, store)

    assert len(stopped.seen) == 128
    assert sorted([*stopped.seen, *again.seen]) == TEXTS


def test_two_strategies_at_once_embed_their_common_texts_once(tmp_path: Path) -> None:
    store, model = Store(tmp_path), Stub()
    threads = [threading.Thread(target=embed_texts, args=(TEXTS, model, store)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(model.seen) == TEXTS


def test_a_vector_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        vectors_of(TEXTS[:1], Store(tmp_path))


def test_progress_ends_at_the_whole(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    embed_texts(TEXTS, Stub(), Store(tmp_path), lambda done, total: told.append((done, total)))

    assert told == [(0, 150), (64, 150), (128, 150), (150, 150)]


def test_any_text_has_a_key() -> None:
    keys = text_keys(["", "a", "a ", "\ud800", "é", "e\u0301"])

    assert len(set(keys)) == 6
    assert keys[1].hex() == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
