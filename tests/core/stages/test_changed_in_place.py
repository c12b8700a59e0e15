"""Files of a model or of a plug-in that are replaced where they lie: what is kept under a key is what it says.

Size and time of the file stay as they were, and everything happens in one process: the hardest kind.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chunklab_core import graph, pipeline, plugins
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError
from chunklab_core.models import sentence_transformer
from chunklab_core.models.card import model_card
from chunklab_core.models.embedder import open_embedder
from chunklab_core.plugins import load_plugin, plugin_digest
from chunklab_core.stages.prepare import prepare

METHOD = """
from chunklab_core.records import Span


class Whole:
    number = 1

    def __call__(self, document):
        return [Span(0, len(document.text))]


class Model:
    def __call__(self, texts):
        return [[1.0, 1.0] for _ in texts]
"""


def replace(path: Path, old: str, new: str) -> None:
    """Other content of the same length, under the same times."""
    assert len(old) == len(new)
    before = path.stat()
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(METHOD)
    return path


def test_an_edited_plugin_is_the_one_that_runs_where_python_keeps_compiled_files(mine: Path) -> None:
    """Python tells two versions of a compiled file apart by size and by second, which is not enough."""
    show = f"from chunklab_core.plugins import load_plugin; print(load_plugin({f'{mine}:Whole'!r}).number)"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def number() -> str:
        return subprocess.run(
            [sys.executable, "-c", show], env=env, cwd=Path(__file__).parents[3], capture_output=True, text=True
        ).stdout.strip()

    assert number() == "1"
    replace(mine, "number = 1", "number = 2")
    assert number() == "2"


@pytest.mark.parametrize("stage", ["chunk", "embed"])
def test_a_plugin_that_is_edited_during_a_run_ends_it_and_leaves_nothing_behind(
    stage: str, mine: Path, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Refunds take five days.")
    (tmp_path / "questions.yaml").write_text("questions: [{id: a, query: When?, gold_snippets: [five days]}]")
    settings = {"embedding": {"model": f"{mine}:Model"}, "strategies": [{"name": f"{mine}:Whole"}]}
    store = Store(tmp_path / "cache")
    work = graph.nodes(store, prepare(tmp_path / "docs", tmp_path / "questions.yaml", settings, store))
    for one in work[: next(at for at, one in enumerate(work) if one.stage == stage)]:
        pipeline.run_stage(one.stage, store, label=one.label, **one.arguments)

    mine.write_text(METHOD.replace("1.0, 1.0", "2.0, 1.0"))
    node = next(one for one in work if one.stage == stage)

    with pytest.raises(ConfigError, match=r"mine\.py:\w+ was changed during the run"):
        pipeline.run_stage(node.stage, store, label=node.label, **node.arguments)
    assert not store.holds(node.ref)


def test_a_module_of_a_package_counts_as_it_was_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package_of_mine.py").write_text(METHOD)
    monkeypatch.syspath_prepend(tmp_path)
    before = plugin_digest("package_of_mine:Whole")
    replace(tmp_path / "package_of_mine.py", "number = 1", "number = 2")

    assert load_plugin("package_of_mine:Whole").number == 1
    assert plugin_digest("package_of_mine:Whole") == before
    plugins._digest_at_first.cache_clear()  # as in the next process
    assert plugin_digest("package_of_mine:Whole") != before


class Reader:
    """Stands where the model would be: its vectors are its weights."""

    def __init__(self, folder: Path, **_: object) -> None:
        self._weights = json.loads((folder / "model.safetensors").read_text())

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._weights for _ in texts], dtype=np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sentence_transformer, "SentenceTransformerEncoder", Reader)
    for name, text in {"model.safetensors": "[1, 1]", "tokenizer.json": "[1]", "config.json": "{}"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_file_of_a_model_replaced_between_two_runs_of_one_process_makes_it_another(folder: Path, name: str) -> None:
    before = model_card(str(folder))
    assert open_embedder(before)(["a"]).tolist() == [[1, 1]]
    replace(folder / name, "1]", "2]")
    after = model_card(str(folder))

    assert before.digest != after.digest
    assert open_embedder(after)(["a"]).tolist() == [[1, 2 if name == "model.safetensors" else 1]]


@pytest.mark.parametrize("name", ["pytorch_model.bin", "2_Dense/model.safetensors", "2_Dense/config.json"])
def test_weights_count_in_every_module_of_a_model_whatever_their_format(folder: Path, name: str) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "2_Dense").mkdir()
    for each in ("pytorch_model.bin", "2_Dense/model.safetensors", "2_Dense/config.json"):
        (folder / each).write_text("[1, 1]")
    before = model_card(str(folder))
    replace(folder / name, "1]", "2]")

    assert model_card(str(folder)).digest != before.digest


def test_weights_replaced_before_they_are_loaded_end_the_run(folder: Path) -> None:
    embedder = open_embedder(model_card(str(folder)))
    replace(folder / "model.safetensors", "1, 1", "1, 2")

    for _ in range(2):
        with pytest.raises(ConfigError, match="was changed during the run"):
            embedder(["a"])
