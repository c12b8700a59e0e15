import json
import shutil
from pathlib import Path

import pytest

from chunklab_core.errors import ConfigError
from chunklab_core.models import card
from chunklab_core.models.card import BUNDLED, model_card
from chunklab_core.models.prompts import PROMPTS


def test_the_bundled_model_is_known_by_both_of_its_names() -> None:
    short, long = model_card(BUNDLED), model_card(f"sentence-transformers/{BUNDLED}")

    assert short.digest == long.digest
    assert (short.max_length, short.query_prompt, short.passage_prompt) == (256, "", "")


def test_a_changed_bundled_file_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "_BUNDLED_SHA256", {"tokenizer.json": "f" * 64})

    with pytest.raises(
        ConfigError, match=r"tokenizer\.json has SHA-256 be50c3628f2b, expected ffffffffffff\. Reinstall"
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
def test_the_digest_is_of_what_shapes_a_vector(model: Path, file: str, content: bytes, same: bool) -> None:
    before = model_card(str(model)).digest
    (model / file).parent.mkdir(exist_ok=True)
    (model / file).write_bytes(content)

    assert (model_card(str(model)).digest == before) is same


def test_a_model_is_also_the_code_of_the_encoder_and_no_other_code(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, modules = model_card(str(model)).digest, []
    monkeypatch.setattr(card, "code_of_modules", lambda names: modules.extend(names) or "edited")

    assert model_card(str(model)).digest != before
    assert modules == ["chunklab_core.models.sentence_transformer"]


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
    assert PROMPTS["intfloat/e5-small-v2"] == ("query: ", "passage: ")
    assert PROMPTS["BAAI/bge-small-en-v1.5"] == (
        "Represent this sentence for searching relevant passages: ",
        "",
    )


def test_a_folder_shows_its_own_name_alone(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absolute = model_card(str(model))
    assert (absolute.name, absolute.folder) == ("model", str(model))
    monkeypatch.chdir(model.parent)
    assert (model_card("./model").name, model_card("./model").digest) == ("model", absolute.digest)


def test_an_unknown_model_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ConfigError, match=r"Embedding model 'nobody/nothing' is neither a folder .* bundled") as caught:
        model_card("nobody/nothing")
    assert "\n" not in str(caught.value)
    (tmp_path / "notes.txt").write_text("A folder of documents, given for a model.")
    with pytest.raises(ConfigError, match="holds no embedding model"):
        model_card(str(tmp_path))


def test_a_damaged_setting_of_a_model_is_one_line(model: Path) -> None:
    (model / "config.json").write_text("{half")
    (model / "sentence_bert_config.json").unlink()

    with pytest.raises(ConfigError, match=r"Cannot read .*config\.json of an embedding model"):
        model_card(str(model))
