import shutil
from pathlib import Path

import pytest


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
