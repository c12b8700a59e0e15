import threading
import time
from pathlib import Path

import numpy as np
import pytest

from chunklab_core.errors import ConfigError, ContractError
from chunklab_core.models import embedder, sentence_transformer
from chunklab_core.models.card import ModelCard, model_card
from chunklab_core.models.embedder import open_embedder

STUB = """
import numpy as np


class Stub:
    def __call__(self, texts):
        return np.array([[len(text), 1.0] for text in texts])


class Wrong:
    def __call__(self, texts):
        return np.zeros(3)
"""


def test_a_tokenizer_replaced_during_the_run_is_an_error(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced = open_embedder(model_card(str(model)))
    monkeypatch.setattr(
        sentence_transformer, "window_finder", lambda folder, limit: lambda texts: [limit for _ in texts]
    )
    (model / "tokenizer.json").write_text("[]")

    assert replaced.window_ends([]) == []
    with pytest.raises(ConfigError, match="was changed during the run"):
        replaced.window_ends(["long"])


def test_a_plug_in_is_a_model(tmp_path: Path) -> None:
    file = tmp_path / "stub.py"
    file.write_text(STUB)
    card = model_card(f"{file}:Stub")

    np.testing.assert_array_equal(open_embedder(card)(["ab", "abc"]), np.array([[2, 1], [3, 1]], dtype=np.float32))
    assert card.digest != model_card(f"{file}:Wrong").digest
    file.write_text(STUB.replace("1.0", "2.0"))
    assert card.digest != model_card(f"{file}:Stub").digest


def test_a_plug_in_that_does_not_return_one_row_a_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "stub.py").write_text(STUB)

    with pytest.raises(ContractError, match=r"array of shape \(3,\) for 2 texts"):
        open_embedder(model_card(f"{tmp_path / 'stub.py'}:Wrong"))(["a", "b"])


def test_a_model_of_unknown_length_is_taken_to_read_everything(tmp_path: Path) -> None:
    (tmp_path / "stub.py").write_text(STUB)

    assert open_embedder(model_card(f"{tmp_path / 'stub.py'}:Stub")).window_ends(["ab", ""]) == [2, 0]


def test_threads_that_open_a_model_at_once_share_one_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(embedder.Embedder):
        def __init__(self, card: ModelCard) -> None:
            time.sleep(0.05)
            super().__init__(card)

    monkeypatch.setattr(embedder, "Embedder", Slow)
    card, found = ModelCard("shared", "digest", None, ""), []
    threads = [threading.Thread(target=lambda: found.append(open_embedder(card))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [each is found[0] for each in found] == [True] * 4
