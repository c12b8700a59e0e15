"""Which code the key of each stage holds: what shapes its result, and nothing else.

One edit of each kind is made in a copy of the package, and the keys are worked out by a new process.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from chunklab_core.cache.keys import modules_behind
from chunklab_core.graph import ref_of
from chunklab_core.parse import BUILTINS as READERS
from chunklab_core.stages import all_stages

ROOT = Path(__file__).resolve().parents[3]
CHOOSING: Mapping[str, Mapping[str, Any]] = {  # arguments that choose modules
    "parse": {"suffixes": [".md"], "pdf": None},
    "chunk": {"target": "fixed"},
    "index": {"kind": "words"},
    "retrieve": {"retriever": {"name": "bm25"}},
}
SEES = {  # packages whose code is in the key of a stage, `stages`, `records`, `text` and `tokens` apart
    "parse": {"parse"},
    "chunk": {"parse", "chunk"},
    "health": {"parse", "chunk"},
    "embed": {"parse", "chunk", "embed"},
    "index": {"parse", "chunk", "index"},
    "retrieve": {"index", "retrieve"},
    "locate": {"parse", "score"},
    "match": {"parse", "chunk", "score"},
    "ceiling": {"parse", "score"},
    "score": {"parse", "chunk", "score"},
    "select": {"parse", "score", "select"},
    "survey": {"parse", "score", "select"},
}
SEES_NEVER = ("cache", "inputs", "plan", "report", "models", "errors", "plugins", "pipeline", "graph", "records.report")
BY_CHOICE = {  # modules that a key sees only where its arguments choose them
    "parse": {"parse.docx", "parse.folder", "parse.pdf"},
    "chunk": {"chunk.recursive", "chunk.semantic", "chunk.structure", "chunk.whole_document", "chunk.health"},
    "index": {"index.dense"},
    "retrieve": {"index.dense", "retrieve.dense", "retrieve.hybrid"},
    "locate": {"score", "score.recall", "score.ndcg", "score.loss", "score.ceiling"},
    "match": {"score", "score.recall", "score.ndcg", "score.loss", "score.ceiling"},
    "select": {"select.axes", "select.stability", "select.strata", "score", "score.recall"},
}


def modules_of(stage: str) -> set[str]:
    """The modules whose code is in the key of a stage, without the name of the package."""
    rule, arguments = all_stages()[stage], CHOOSING.get(stage, {})
    chosen = {method.partition(":")[0] for method in rule.chosen(arguments)}
    names = {rule.function.__module__, *rule.room, *chosen}
    return {module.removeprefix("chunklab_core.") for module in modules_behind(names)}


def test_every_stage_is_in_the_table() -> None:
    assert set(SEES) == set(all_stages())


@pytest.mark.parametrize("stage", SEES)
def test_a_key_sees_the_rooms_that_shape_the_result_and_no_other(stage: str) -> None:
    packages = {module.partition(".")[0] for module in modules_of(stage)}

    assert packages - {"stages", "records", "text", "tokens"} == SEES[stage]


@pytest.mark.parametrize("stage", SEES)
def test_a_key_never_sees_what_only_stores_reads_settings_or_words(stage: str) -> None:
    seen = {module for module in modules_of(stage) for apart in SEES_NEVER if f"{module}.".startswith(f"{apart}.")}

    assert not seen


@pytest.mark.parametrize("stage", BY_CHOICE)
def test_a_key_sees_a_built_in_only_where_it_is_used(stage: str) -> None:
    assert not modules_of(stage) & BY_CHOICE[stage]


def test_readers_that_change_places_change_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = {"corpus": "corpus/1", "suffixes": [".md", ".txt"], "pdf": None, "folder": "docs"}
    before = ref_of("parse", **arguments)
    for suffix, reader in ((".md", READERS[".txt"]), (".txt", READERS[".md"])):
        monkeypatch.setitem(READERS, suffix, reader)

    assert ref_of("parse", **arguments) != before


# ---------------------------------------------------------------- one edit of each kind

SCRIPT = """
import json, sys
from pathlib import Path
from chunklab_core.cache.store import Store
from chunklab_core.graph import nodes
from chunklab_core.models.card import model_card
from chunklab_core.stages.prepare import prepare
world = Path(sys.argv[1])
settings = {
    "retrieval": {"compare": ["dense", "bm25", "hybrid"]},
    "strategies": [{"name": "fixed"}, {"name": "semantic"}, {"name": "semantic_no_floor"}],
}
store = Store(world / "cache")
work = nodes(store, prepare(world / "docs", world / "questions.yaml", settings, store))
keys = {f"{node.stage} {node.label}": node.ref for node in work}
print(json.dumps({**keys, "vectors": model_card("all-MiniLM-L6-v2").digest}))
"""
QUESTIONS = "questions: [{id: gate, query: Which gate?, gold_snippets: [The gate is green]}]"
METRIC = '"""Noise."""\n\n\ndef noise(k: int) -> float:\n    """Noise."""\n    return 1.0 / k\n'


class Copy:
    """A copy of the package, its world, and the keys of all nodes over it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "chunklab_core", folder / "chunklab_core", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "docs").mkdir()
        (folder / "docs" / "gate.md").write_text("# Gate\n\nThe gate is green.\n")
        (folder / "questions.yaml").write_text(QUESTIONS)
        self.before = self.keys()

    def keys(self) -> dict[str, str]:
        path = {**os.environ, "PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-c", SCRIPT, str(self.folder)]
        done = subprocess.run(command, env=path, cwd=self.folder, check=True, capture_output=True, timeout=120)
        keys: dict[str, str] = json.loads(done.stdout)
        return keys

    def keys_after(self, files: Mapping[str, tuple[str, str]]) -> dict[str, str]:
        """The keys after edits of these files, which are taken back; an old text of "" makes a new file."""
        before = {name: self.path(name).read_text() if self.path(name).exists() else None for name in files}
        for name, (old, new) in files.items():
            text = before[name] or ""
            assert old in text
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_text(text.replace(old, new, 1) if old else new)
        try:
            return self.keys()
        finally:
            for name, text in before.items():
                self.path(name).unlink() if text is None else self.path(name).write_text(text)

    def path(self, name: str) -> Path:
        return self.folder / "chunklab_core" / name


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    return Copy(tmp_path_factory.mktemp("copy"))


RETRIEVERS = ("dense", "bm25", "hybrid")
STRATEGIES = ("fixed", "semantic", "semantic_no_floor")
SELECT = {"select all cells", "survey all cells"}


def branch(*strategies: str) -> set[str]:
    """Every node of some strategies, from chunk to score."""
    stages = {f"{stage} {name}" for stage in ("chunk", "embed", "health", "match", "ceiling") for name in strategies}
    indexes = {f"index {name}/{kind}" for kind in ("dense", "bm25") for name in strategies}
    return stages | indexes | cells("retrieve", *strategies) | cells("score", *strategies)


def cells(stage: str, *strategies: str) -> set[str]:
    return {f"{stage} {name}/{retriever}" for name in strategies for retriever in RETRIEVERS}


SEMANTIC = branch("semantic", "semantic_no_floor") | SELECT
DENSE = {"embed questions", "vectors"} | {f"embed {name}" for name in STRATEGIES}
DENSE |= {f"health {name}" for name in STRATEGIES} | {f"index {name}/dense" for name in STRATEGIES}
DENSE |= {f"{stage} {name}/{r}" for stage in ("retrieve", "score") for name in STRATEGIES for r in ("dense", "hybrid")}

EDITS: dict[str, tuple[dict[str, tuple[str, str]], set[str]]] = {
    "a message of errors.py": ({"errors.py": ("did you mean", "was it")}, set()),
    "a message in a chunker": ({"chunk/parameters.py": ("Lower {low}", "Reduce {low}")}, set()),
    "a field of the report": (
        {"records/report.py": ("seed: Count", "seed: Count\n    more: Count")},
        set(),
    ),
    "the report's words": ({"report/warnings.py": ("return ", "return 0 or ")}, set()),
    "a line of the store": ({"cache/store.py": ("return ", "return 0 or ")}, set()),
    "a line of the YAML reader": ({"inputs/yaml.py": ("_MAX_DEPTH = 40", "_MAX_DEPTH = 41")}, set()),
    "a line of the plan": ({"plan/estimates.py": ("_NEWEST = 50", "_NEWEST = 51")}, set()),
    "a metric": (
        {
            "score/noise.py": ("", METRIC),
            "score/__init__.py": (
                "METRICS: Mapping[str, str] = {\n",
                "METRICS: Mapping[str, str] = {\n    'noise': 'chunklab_core.score.noise:noise',\n",
            ),
        },
        cells("score", *STRATEGIES) | SELECT,
    ),
    "a line of a metric": (
        {"score/recall.py": ("return ", "return 0 or ")},
        cells("score", *STRATEGIES) | SELECT,
    ),
    "a reader": (
        {
            "parse/wiki/wiki.py": ("", "class WikiParser:\n    pass\n"),
            "parse/__init__.py": (
                "BUILTINS = {\n",
                "BUILTINS = {\n    '.wiki': Reader('chunklab_core.parse.wiki.wiki:WikiParser'),\n",
            ),
        },
        set(),
    ),
    "a chunker": (
        {
            "chunk/by_wish.py": ("", "class ByWish:\n    pass\n"),
            "chunk/__init__.py": (
                "BUILTINS = {\n",
                "BUILTINS = {\n    'by_wish': 'chunklab_core.chunk.by_wish:ByWish',\n",
            ),
        },
        set(),
    ),
    "a retriever": (
        {
            "retrieve/by_luck.py": ("", "def rank(index, questions, *, depth):\n    return []\n"),
            "retrieve/__init__.py": (
                "RETRIEVERS = {\n",
                "RETRIEVERS = {\n    'by_luck': Retriever('chunklab_core.retrieve.by_luck', index='words'),\n",
            ),
        },
        set(),
    ),
    "a line of semantic.py": ({"chunk/semantic.py": ("return ", "return 0 or ")}, SEMANTIC),
    "a line of the encoder": ({"models/sentence_transformer.py": ("return ", "return 0 or ")}, SEMANTIC | DENSE),
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_retires_the_results_that_it_shapes_and_no_other(kind: str, copy: Copy) -> None:
    files, retired = EDITS[kind]
    after = copy.keys_after(files)

    assert {name for name, key in after.items() if copy.before[name] != key} == retired


def test_a_built_in_in_a_subfolder_changes_its_key_when_it_is_edited(copy: Copy) -> None:
    """A reader that was moved into a folder of its own."""
    source = copy.path("parse/markdown.py").read_text()
    place = "chunklab_core.parse.markdown:MarkdownParser"
    moved = {
        "parse/formats/markdown.py": ("", source),
        "parse/__init__.py": (place, "chunklab_core.parse.formats.markdown:MarkdownParser"),
    }
    edited = {**moved, "parse/formats/markdown.py": ("", source.replace("return ", "return 0 or ", 1))}

    assert copy.keys_after(moved)["parse documents"] != copy.keys_after(edited)["parse documents"]
