import json
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from chunklab_core.errors import ConfigError, ContractError
from chunklab_core.models import embedder as models
from chunklab_core.models.embedder import (
    BUNDLED,
    ModelCard,
    bundled_embedder,
    model_card,
    open_embedder,
    window_by_counting,
)

STUB = """
import numpy as np


class Stub:
    def __call__(self, texts):
        return np.array([[len(text), 1.0] for text in texts])


class Wrong:
    def __call__(self, texts):
        return np.zeros(3)
"""


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out like a sentence-transformers model, with a few bytes of weights that no one loads."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 128}')
    (folder / "config.json").write_text('{"max_position_embeddings": 512}')
    (folder / "README.md").write_text("A model.")
    return folder


@pytest.fixture
def model(small_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_model, tmp_path / "model"))


def test_the_bundled_model_is_known_by_both_of_its_names() -> None:
    short, long = model_card(BUNDLED), model_card(f"sentence-transformers/{BUNDLED}")

    assert short.digest == long.digest
    assert (short.max_length, short.query_prompt, short.passage_prompt) == (256, "", "")


def test_a_bundled_file_that_was_changed_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_BUNDLED_SHA256", {"tokenizer.json": "f" * 64})

    with pytest.raises(
        ConfigError, match=r"tokenizer\.json has SHA-256 be50c3628f2b, expected ffffffffffff; reinstall"
    ):
        model_card(BUNDLED)


@pytest.mark.parametrize(
    ("file", "content", "same"),
    [
        ("model.safetensors", b"Weights", False),  # as long as before
        ("tokenizer.json", b"[]", False),
        ("1_Pooling/config.json", b'{"pooling_mode_cls_token": true}', False),
        ("sentence_bert_config.json", b'{"max_seq_length": 64}', False),
        ("README.md", b"Other words.", True),
        ("pytorch_model.bin", b"old weights, which are not loaded", True),
    ],
)
def test_a_model_is_what_shapes_its_vectors(model: Path, file: str, content: bytes, same: bool) -> None:
    before = model_card(str(model)).digest
    (model / file).parent.mkdir(exist_ok=True)
    (model / file).write_bytes(content)

    assert (model_card(str(model)).digest == before) is same


@pytest.mark.parametrize("edited", ["_SentenceTransformerEncoder", "_piece_counter", "_window_finder"])
def test_a_model_is_also_the_code_that_makes_what_is_kept_of_a_text(
    edited: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = model_card(str(model)).digest
    known = models.code_of_function
    monkeypatch.setattr(
        models, "code_of_function", lambda module, name: known(module, name) + "edited" * (name == edited)
    )

    assert model_card(str(model)).digest != before


def test_a_tokenizer_that_was_replaced_under_way_finds_no_window(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = open_embedder(model_card(str(model)))
    monkeypatch.setattr(models, "_window_finder", lambda folder, limit: lambda texts: [limit for _ in texts])
    (model / "tokenizer.json").write_text("[]")

    assert embedder.window_ends([]) == []
    with pytest.raises(ConfigError, match="was changed while the run was going on"):
        embedder.window_ends(["long"])


def test_a_model_in_another_folder_is_the_same_model(model: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(model, tmp_path / "elsewhere")

    assert model_card(str(model)).digest == model_card(str(moved)).digest


def test_the_length_comes_from_the_nearest_setting(model: Path) -> None:
    assert model_card(str(model)).max_length == 128
    (model / "sentence_bert_config.json").write_text('{"max_seq_length": null}')
    assert model_card(str(model)).max_length == 512
    (model / "tokenizer_config.json").write_text('{"model_max_length": 384}')
    assert model_card(str(model)).max_length == 384


def test_prompts_come_from_the_user_else_the_table_else_the_model(model: Path) -> None:
    (model / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "ask: ", "document": "text: "}})
    )
    own = model_card(str(model))
    typed = model_card(str(model), query_prompt="", passage_prompt="p: ")

    assert (own.query_prompt, own.passage_prompt) == ("ask: ", "text: ")
    assert (typed.query_prompt, typed.passage_prompt) == ("", "p: ")
    assert models.PROMPTS["intfloat/e5-small-v2"] == ("query: ", "passage: ")
    assert models.PROMPTS["BAAI/bge-small-en-v1.5"] == (
        "Represent this sentence for searching relevant passages: ",
        "",
    )


def test_a_folder_shows_its_own_name_alone(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = model_card(str(model))
    assert (card.name, card.folder) == ("model", str(model))
    monkeypatch.chdir(model.parent)
    assert (model_card("./model").name, model_card("./model").digest) == ("model", card.digest)


@pytest.mark.parametrize(("name", "query", "passage"), [(name, *both) for name, both in models.PROMPTS.items()])
def test_a_model_in_a_folder_of_its_own_name_gets_the_prompts_of_its_card(
    name: str, query: str, passage: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(parents=True)
    shutil.copytree(model, name)
    card = model_card(name)

    assert (card.query_prompt, card.passage_prompt) == (query, passage)


def test_a_name_that_is_nowhere_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ConfigError, match=r"Embedding model 'nobody/nothing' is neither a folder .* bundled") as caught:
        model_card("nobody/nothing")
    assert "\n" not in str(caught.value)
    (tmp_path / "notes.txt").write_text("A folder of documents, given for a model.")
    with pytest.raises(ConfigError, match="holds no embedding model"):
        model_card(str(tmp_path))


def test_a_plug_in_is_a_model(tmp_path: Path) -> None:
    file = tmp_path / "stub.py"
    file.write_text(STUB)
    card = model_card(f"{file}:Stub")

    np.testing.assert_array_equal(open_embedder(card)(["ab", "abc"]), np.array([[2, 1], [3, 1]], dtype=np.float32))
    assert card.digest != model_card(f"{file}:Wrong").digest
    file.write_text(STUB.replace("1.0", "2.0"))
    assert card.digest != model_card(f"{file}:Stub").digest


def test_a_plug_in_that_returns_no_row_a_text_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "stub.py").write_text(STUB)

    with pytest.raises(ContractError, match=r"array of shape \(3,\) for 2 texts"):
        open_embedder(model_card(f"{tmp_path / 'stub.py'}:Wrong"))(["a", "b"])


def test_the_window_ends_where_the_first_piece_begins_that_is_not_read() -> None:
    """The bundled model reads 256 pieces, of which two mark the beginning and the end: 254 words of one piece."""
    whole, long, accented = "word " * 254, "word " * 255, "\n" + "cafe\u0301 " * 900

    ends = bundled_embedder().window_ends([whole, long, accented, ""])

    assert ends == [len(whole), 254 * len("word "), 1 + 254 * len("cafe\u0301 "), 0]
    assert bundled_embedder().count_pieces([whole, long, long[: ends[1]], accented[: ends[2]]]) == [256, 257, 256, 256]


def test_a_window_can_be_found_by_counting_alone() -> None:
    def count(texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    assert window_by_counting("one two three", count, 2) == len("one two ")
    assert window_by_counting("one two", count, 2) == len("one two")
    assert window_by_counting("", count, 2) == 0


def test_a_model_of_unknown_length_is_taken_to_read_everything(tmp_path: Path) -> None:
    (tmp_path / "stub.py").write_text(STUB)

    assert open_embedder(model_card(f"{tmp_path / 'stub.py'}:Stub")).window_ends(["ab", ""]) == [2, 0]


@pytest.mark.slow
def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    """Padding depends on the text alone, so a run that finds half of its vectors has the figures of a whole one."""
    card = model_card(BUNDLED)
    embedder = open_embedder(ModelCard(card.name, card.digest, card.max_length, card.folder))
    texts = ["A short one.", "The gate opens at seven. " * 3, "word " * 400, "Fees are due in March."]
    together = embedder(texts)

    for at, text in enumerate(texts):
        np.testing.assert_array_equal(embedder([text])[0], together[at])
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    assert embedder.count_pieces([texts[0], texts[2]]) == [6, 402]


def test_threads_that_ask_for_a_model_at_once_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(models.Embedder):
        def __init__(self, card: ModelCard) -> None:
            time.sleep(0.05)
            super().__init__(card)

    monkeypatch.setattr(models, "Embedder", Slow)
    card, found = ModelCard("shared", "digest", None, ""), []
    threads = [threading.Thread(target=lambda: found.append(open_embedder(card))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [one is found[0] for one in found] == [True] * 4


def test_a_damaged_setting_of_a_model_is_said_in_one_line(model: Path) -> None:
    (model / "config.json").write_text("{half")
    (model / "sentence_bert_config.json").unlink()

    with pytest.raises(ConfigError, match=r"config\.json of an embedding model cannot be read"):
        model_card(str(model))
