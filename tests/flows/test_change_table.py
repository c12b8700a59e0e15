"""The table of changes: what a user may change, and exactly the nodes that run again for it.

Every row is checked by the keys of its nodes, and those of `TOLD_BY_PREFECT` (all of them in the long form) by
Prefect's own states of its task runs. The sets follow from one rule: a node runs again when its room's code, its own
parameters, a library behind it or an input of it is another. They are put together from groups, so that a stage that
is added is added in one place.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_changes import CHUNKER, FULL
from worlds import LOCATE, QUESTIONS, RETRIEVERS, SELECT, STUB, Run, World, branch, cells, of_strategies, task_states

from chunklab_core import graph
from chunklab_core.cache import code_memory
from chunklab_core.cache import keys as fingerprint
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError
from chunklab_core.inputs.config import load_config
from chunklab_core.inputs.rules import RULES
from chunklab_core.models import card as model_cards
from chunklab_core.models import sentence_transformer as encoder
from chunklab_core.parse import BUILTINS as READERS
from chunklab_core.stages import all_stages
from chunklab_core.stages.prepare import prepare

ROOT = Path(__file__).resolve().parents[2]
LABELS = ("lines", "semantic")
_STAMP = 1_700_000_000  # of every file, before and after a change: only content tells

# ---------------------------------------------------------------- groups of nodes

PARSE, ASKED = {"parse documents"}, {"embed questions"}
ALL = PARSE | ASKED | LOCATE | branch("lines") | branch("semantic") | SELECT
NOTHING: set[str] = set()


def scores(*retrievers: str) -> set[str]:
    """What is judged anew where the answers of these retrievers are others, or are judged otherwise."""
    return cells("score", retrievers, LABELS) | SELECT


def answers(*retrievers: str) -> set[str]:
    """What follows where these retrievers answer otherwise."""
    return cells("retrieve", retrievers, LABELS) | scores(*retrievers)


DOCUMENTS = ALL - ASKED  # a document: everything but the questions' vectors
QUERIES = ASKED | answers(*RETRIEVERS)
CEILING = of_strategies("ceiling", labels=LABELS)
GOLD = LOCATE | of_strategies("match", labels=LABELS) | CEILING | scores(*RETRIEVERS)  # what counts as an answer
MATCHING = GOLD  # what is taken for found
PASSAGES = of_strategies("embed", "health", labels=LABELS) | cells("index", ["dense"], LABELS)
PASSAGES |= answers("dense", "hybrid")
MODEL = ASKED | PASSAGES
HEALTH = of_strategies("health", labels=LABELS)
CHUNKS = DOCUMENTS - PARSE - LOCATE
KEYWORDS = cells("index", ["bm25"], LABELS) | answers("bm25", "hybrid")
VECTORS = cells("index", ["dense"], LABELS) | answers("dense", "hybrid")


# ---------------------------------------------------------------- changes


class FakeModel:
    """Stands where sentence-transformers would be: hashed words, like the stub's."""

    def __init__(self, folder: Path, **_: object) -> None:
        names: dict[str, Any] = {"__file__": str(folder / "unused.py")}
        exec(STUB, names)
        self._vector = names["vector"]

    def __call__(self, texts: list[str]) -> Any:
        return np.array([self._vector(text) for text in texts], dtype=np.float32)


@dataclass
class Case:
    """A world with its settings, to be changed."""

    world: World
    patch: pytest.MonkeyPatch
    settings: dict[str, Any]
    options: list[str] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=lambda: json.loads(json.dumps(QUESTIONS)))

    def write(self) -> None:
        (self.world.folder / "questions.yaml").write_text(json.dumps({"questions": self.questions}))
        (self.world.folder / "config.yaml").write_text(json.dumps(self.settings))
        for path in self.world.folder.rglob("*"):
            if path.is_file() and "cache" not in path.parts:
                os.utime(path, (_STAMP, _STAMP))

    def names(self) -> dict[str, str]:
        """The reference of every node, by the name of its task run."""
        folder = self.world.folder
        settings = load_config(folder / "config.yaml")
        store = Store(self.world.cache)
        work = graph.nodes(store, prepare(folder / "docs", folder / "questions.yaml", settings, store))
        return {f"{one.stage} {one.label}": one.ref for one in work}

    def run(self) -> Run:
        from flows import cli

        folder = self.world.folder
        paths = {"docs": folder / "docs", "questions": folder / "questions.yaml", "config": folder / "config.yaml"}
        paths |= {"cache-dir": self.world.cache} | ({} if "--out" in self.options else {"out": folder / "out"})
        named = [part for name, path in paths.items() for part in (f"--{name}", str(path))]
        assert cli.run([*named, *(self.options or ["--quiet"])]) == 0
        out = self.options[self.options.index("--out") + 1] if "--out" in self.options else folder / "out"
        return Run(json.loads((Path(out) / "report.json").read_text(encoding="utf-8")), task_states(), [])


Change = Callable[[Case], None]


def setting(key: str, value: object) -> Change:
    *sections, name = key.split(".")

    def change(case: Case) -> None:
        place = case.settings
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value

    return change


def setting_of_a_kind_to_come(key: str, value: object) -> Change:
    """Of a setting that has one value yet: its key must be ready for a second."""

    def change(case: Case) -> None:
        case.patch.setitem(RULES, key, lambda typed: typed)  # type: ignore[index]
        setting(key, value)(case)

    return change


def strategies(edit: Callable[[list[dict[str, Any]]], object]) -> Change:
    return lambda case: edit(case.settings["strategies"]) and None


def question(edit: Callable[[list[dict[str, Any]]], object]) -> Change:
    return lambda case: edit(case.questions) and None


def file(name: str, old: str, new: str) -> Change:
    """One text in a file of the world, edited; the file keeps its time stamp, and mostly its length."""

    def change(case: Case) -> None:
        path = case.world.folder / name
        content = path.read_bytes()
        assert old.encode() in content
        path.write_bytes(content.replace(old.encode(), new.encode()))

    return change


def renamed(old: str, new: str) -> Change:
    return lambda case: (case.world.folder / old).rename(case.world.folder / new) and None


def new_file(name: str, text: str) -> Change:
    return lambda case: (case.world.folder / name).write_text(text) and None


def removed(name: str) -> Change:
    return lambda case: (case.world.folder / name).unlink()


def moved_model(case: Case) -> None:
    renamed("model", "model of May")(case)
    setting("embedding.model", str(case.world.folder / "model of May"))(case)


def only_retrievers(mode: str | None, compare: list[str] | None) -> Change:
    def change(case: Case) -> None:
        del case.settings["retrieval"]["compare"]
        case.settings["retrieval"] |= {"mode": mode} if mode else {"compare": compare}

    return change


def options(*typed: str) -> Change:
    return lambda case: case.options.extend(part.format(folder=case.world.folder) for part in typed)


def code(module: str, old: str, new: str) -> Change:
    """A line of the core, edited: what runs is the old code, under the keys of the new."""

    def change(case: Case) -> None:
        source_of = fingerprint._source_of
        assert old.encode() in source_of(module)
        edited = source_of(module).replace(old.encode(), new.encode(), 1)
        case.patch.setattr(fingerprint, "_source_of", lambda name: edited if name == module else source_of(name))
        case.patch.setattr(code_memory, "sources_of_package", lambda: f"{module} with {new}")
        forget_code()

    return change


def library(name: str) -> Change:
    def change(case: Case) -> None:
        known = fingerprint.version_of
        for module in (fingerprint, model_cards):
            case.patch.setattr(module, "version_of", lambda asked: "99" if asked == name else known(asked))

    return change


def unicode_tables(case: Case) -> None:
    case.patch.setattr(fingerprint.unicodedata, "unidata_version", "99.0")


def forget_code() -> None:
    """What a process remembers of the core's source."""
    for remembered in (fingerprint._facts, fingerprint.worked_out, code_memory._sources_at_first):
        remembered.cache_clear()


# ---------------------------------------------------------------- the table

NEW = {"id": "open", "query": "When does the garden open?", "gold_snippets": ["opens at nine"]}
PARAMETER = {"lines": branch("lines") | SELECT, "semantic": branch("semantic") | SELECT}
CHUNKING = "chunklab_core.chunk.cutting"

TABLE: dict[str, tuple[Change, set[str]]] = {
    "nothing": (lambda case: None, NOTHING),
    # settings
    "parse.pdf": (setting_of_a_kind_to_come("parse.pdf", "another"), NOTHING),
    "embedding.model": (lambda case: setting("embedding.model", case.world.stub)(case), MODEL),
    "embedding.query_prompt": (setting("embedding.query_prompt", "query: "), ASKED | answers("dense", "hybrid")),
    "embedding.passage_prompt": (setting("embedding.passage_prompt", "passage: "), PASSAGES),
    "retrieval.mode": (only_retrievers("dense", None), SELECT),
    "retrieval.mode without a model": (only_retrievers("bm25", None), HEALTH | SELECT),
    "retrieval.compare": (only_retrievers(None, ["bm25", "dense"]), SELECT),
    "retrieval.top_k": (setting("retrieval.top_k", [2, 1]), CEILING | scores(*RETRIEVERS)),
    "retrieval.candidates": (setting("retrieval.candidates", 8), answers(*RETRIEVERS)),
    "retrieval.rrf_k": (setting("retrieval.rrf_k", 5), answers("hybrid")),
    "retrieval.bm25.k1": (setting("retrieval.bm25.k1", 2.0), answers("bm25", "hybrid")),
    "retrieval.bm25.b": (setting("retrieval.bm25.b", 0.5), answers("bm25", "hybrid")),
    "eval.fuzzy_threshold": (setting("eval.fuzzy_threshold", 0.8), MATCHING),
    "eval.ranking_metric": (setting("eval.ranking_metric", "mrr"), SELECT),
    "eval.balanced_lambda": (setting("eval.balanced_lambda", 0.1), SELECT),
    "eval.min_floor_tokens": (setting("eval.min_floor_tokens", 10), HEALTH),
    "eval.seed": (setting("eval.seed", 7), SELECT),
    "eval.bootstrap_resamples": (setting("eval.bootstrap_resamples", 200), SELECT),
    "output.dir": (setting("output.dir", "elsewhere"), NOTHING),
    # strategies
    "a parameter of a user's chunker": (strategies(lambda of: of[0]["params"].update(times=2)), PARAMETER["lines"]),
    "a parameter of a chunker": (strategies(lambda of: of[1]["params"].update(max_tokens=30)), PARAMETER["semantic"]),
    "a parameter typed as its default": (
        strategies(lambda of: of[1]["params"].update(breakpoint_percentile=95)),
        NOTHING,
    ),
    "a label": (strategies(lambda of: of[1].update(label="semantic at 40")), NOTHING),
    "the order of strategies": (strategies(lambda of: of.reverse()), SELECT),
    "a strategy more": (strategies(lambda of: of.append({"name": "structure"})), branch("structure") | SELECT),
    "a strategy less": (strategies(lambda of: of.pop(0)), SELECT),
    "a user's chunker edited": (file("lines.py", "LINES = 2", "LINES = 3"), PARAMETER["lines"]),
    "a strategy's own model edited": (file("stub.py", "+= 1", "+= 2"), PARAMETER["semantic"]),
    # documents
    "a document edited": (file("docs/garden.txt", "Dogs", "Cats"), DOCUMENTS),
    "a document added": (new_file("docs/new.md", "# New\n\nThe gate is green.\n"), DOCUMENTS),
    "a document removed": (removed("docs/delivery.md"), DOCUMENTS),
    "a document renamed": (renamed("docs/garden.txt", "docs/park.txt"), DOCUMENTS),
    "a file that is no document": (new_file("docs/picture.bin", "..."), NOTHING),
    # questions
    "a question added": (question(lambda of: of.append(NEW)), QUERIES | GOLD),
    "a question removed": (question(lambda of: of.pop()), QUERIES | GOLD),
    "a question edited": (question(lambda of: of[0].update(query="When is the money back?")), QUERIES),
    "the order of questions": (question(lambda of: of.reverse()), QUERIES | GOLD),
    "a question without gold": (question(lambda of: of.append({"id": "x", "query": "Why?"})), NOTHING),
    "gold edited": (question(lambda of: of[0].update(gold_snippets=["within 14 days"])), GOLD),
    "a question's documents": (question(lambda of: of[0].update(documents=["refunds.md"])), GOLD),
    "tags edited": (question(lambda of: of[0].update(tags=["money"])), {"survey all cells"}),
    "a question reviewed": (question(lambda of: of[0].update(reviewed=True)), NOTHING),
    # the model's files
    "weights replaced in place": (file("model/model.safetensors", "weights", "heights"), MODEL),
    "the tokenizer replaced in place": (file("model/tokenizer.json", "{}", "[]"), MODEL),
    "the model's maximum length": (file("model/sentence_bert_config.json", "256", "128"), MODEL),
    "the model's pooling": (file("model/modules.json", "mean", "last"), MODEL),
    "the model's folder moved": (moved_model, NOTHING),
    "the model's description": (new_file("model/README.md", "A model."), NOTHING),
    # code
    "the room that makes chunks": (code("chunklab_core.chunk.build", "return ", "return 0 or "), CHUNKS),
    "a chunker": (code("chunklab_core.chunk.semantic", "return ", "return 0 or "), PARAMETER["semantic"]),
    "a function that chunkers call": (code(CHUNKING, "return ", "return 0 or "), PARAMETER["semantic"]),
    "another chunker": (code("chunklab_core.chunk.fixed", "return ", "return 0 or "), NOTHING),
    "a reader": (code("chunklab_core.parse.markdown", "return ", "return 0 or "), DOCUMENTS),
    "a reader of another format": (code("chunklab_core.parse.docx", "return ", "return 0 or "), NOTHING),
    "a function of the keyword index": (code("chunklab_core.index.words", "return ", "return 0 or "), KEYWORDS),
    "a function of the vector index": (code("chunklab_core.index.dense", "return ", "return 0 or "), VECTORS),
    "a function of fusion": (code("chunklab_core.retrieve.hybrid", "return ", "return 0 or "), answers("hybrid")),
    "a metric": (code("chunklab_core.score.recall", "return ", "return 0 or "), scores(*RETRIEVERS)),
    "a function of gold matching": (code("chunklab_core.score.align", "return ", "return 0 or "), MATCHING),
    "a function of the verdict": (code("chunklab_core.select.rule_out", "return ", "return 0 or "), SELECT),
    "a function of the survey": (code("chunklab_core.select.axes", "return ", "return 0 or "), {"survey all cells"}),
    "a stage's own function": (
        code("chunklab_core.stages.retrieve", "index, queries = sources", "queries = index, _ = sources"),
        answers(*RETRIEVERS),
    ),
    "the encoder": (code("chunklab_core.models.sentence_transformer", "return ", "return 0 or "), MODEL),
    "a function of the report": (code("chunklab_core.report.json", "return ", "return 0 or "), NOTHING),
    "a function of the store": (code("chunklab_core.cache.store", "return ", "return 0 or "), NOTHING),
    "a record of the report": (
        code("chunklab_core.records.report", ", slots=True", ""),
        NOTHING,
    ),
    "the reader of settings": (code("chunklab_core.inputs.yaml", "return ", "return 0 or "), NOTHING),
    "a message": (code("chunklab_core.errors", "return ", "return '' or "), NOTHING),
    "a comment in the code": (code(CHUNKING, "return ", "# as it was\n    return "), NOTHING),
    "a docstring in the code": (code(CHUNKING, '"""', '"""As it was. '), NOTHING),
    # libraries
    "another markdown-it-py": (library("markdown-it-py"), DOCUMENTS),
    "another pypdf": (library("pypdf"), NOTHING),
    "another tiktoken": (library("tiktoken"), DOCUMENTS),
    "another numpy": (library("numpy"), CHUNKS | LOCATE),
    "another rapidfuzz": (library("rapidfuzz"), MATCHING),
    "another scipy": (library("scipy"), SELECT),
    "another torch": (library("torch"), MODEL),
    "another prefect": (library("prefect"), NOTHING),
    "another Unicode": (unicode_tables, ALL),
    # options
    "--json": (options("--json"), NOTHING),
    "--out": (options("--quiet", "--out", "{folder}/elsewhere"), NOTHING),
}

ONE_VALUE = {
    "embedding.precision": "int8",
    "retrieval.fusion": "convex",
    "retrieval.rerank": "mine",
    "output.formats": ["html"],
}

TOLD_BY_PREFECT = [
    *("nothing", "retrieval.top_k", "a strategy more", "a user's chunker edited", "a document edited"),
    *("a question edited", "weights replaced in place", "the room that makes chunks", "--json"),
]
"""One row of each kind: the keys decide, and Prefect obeys them."""

# ---------------------------------------------------------------- the tests


@pytest.fixture(scope="module")
def fake_model() -> Iterator[None]:
    """No model is loaded in this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "SentenceTransformerEncoder", FakeModel)
        patch.setattr(encoder, "piece_counter", lambda _: lambda texts: [len(text.split()) for text in texts])
        patch.setattr(encoder, "window_finder", lambda *_: lambda texts: [len(text) for text in texts])
        yield


@pytest.fixture(scope="module")
def base(fake_model: None, tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world with a user's chunker and a model in a folder; nothing has been run over it."""
    world = World(tmp_path_factory.mktemp("table") / "world").write()
    (world.folder / "lines.py").write_text(CHUNKER)
    (world.folder / "model").mkdir()
    for name, text in {
        "model.safetensors": "weights",
        "tokenizer.json": "{}",
        "sentence_bert_config.json": '{"max_seq_length": 256}',
        "modules.json": '["mean"]',
    }.items():
        (world.folder / "model" / name).write_text(text)
    case_of(world, pytest.MonkeyPatch()).write()
    return world


@pytest.fixture(scope="module")
def known(base: World) -> set[str]:
    """The references of its nodes."""
    return set(case_of(base, pytest.MonkeyPatch()).names().values())


@pytest.fixture(scope="module")
def run_once(base: World, prefect_backend: str) -> World:
    """The world after its first run."""
    assert case_of(base, pytest.MonkeyPatch()).run().made == ALL
    return base


@pytest.fixture
def unpatched(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A patch after whose end no process-wide memory of the code is left."""
    yield monkeypatch
    monkeypatch.undo()
    forget_code()


def case_of(world: World, patch: pytest.MonkeyPatch) -> Case:
    return Case(
        world,
        patch,
        {
            "embedding": {"model": str(world.folder / "model")},
            "retrieval": {"compare": list(RETRIEVERS), "candidates": 10},
            "strategies": [
                {"name": "lines.py:Lines", "params": {"times": 1}, "label": "lines"},
                {
                    "name": "semantic",
                    "params": {"max_tokens": 40, "min_tokens": 5, "model": world.stub},
                    "label": "semantic",
                },
            ],
        },
    )


def changed(change: Change, world: World, folder: Path, patch: pytest.MonkeyPatch) -> Case:
    """A copy of a world with all that its cache holds, after a change."""
    case = case_of(world.copy(folder), patch)
    change(case)
    case.write()
    return case


@pytest.mark.parametrize("row", TABLE)
def test_a_change_gives_new_keys_to_the_nodes_it_concerns(
    row: str, base: World, known: set[str], unpatched: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    change, made = TABLE[row]
    now = changed(change, base, tmp_path / "world", unpatched).names()

    assert {name for name, ref in now.items() if ref not in known} == made


@pytest.mark.prefect
@pytest.mark.parametrize("row", TABLE if FULL else TOLD_BY_PREFECT)
def test_a_change_runs_the_nodes_it_concerns_and_no_other(
    row: str, run_once: World, unpatched: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    change, made = TABLE[row]

    assert changed(change, run_once, tmp_path / "world", unpatched).run().made == made


def test_every_setting_stands_in_the_table_or_has_one_value_yet() -> None:
    assert set(RULES) == {row for row in TABLE if row in RULES} | set(ONE_VALUE)
    for key, value in ONE_VALUE.items():
        with pytest.raises(ConfigError, match=key):
            load_config(None, [f"{key}={json.dumps(value)}"])


CHOOSING = {  # arguments that choose modules and libraries
    "parse": {"suffixes": sorted(READERS), "pdf": "pypdf"},
    "chunk": {"target": "semantic"},
    "index": {"kind": "words"},
    "retrieve": {"retriever": {"name": "hybrid"}},
}


def test_every_library_of_a_stage_has_a_key_of_its_own(unpatched: pytest.MonkeyPatch) -> None:
    for name, stage in all_stages().items():
        arguments = {**dict.fromkeys(stage.inputs, "x/1"), **CHOOSING.get(name, {})}
        before = graph.ref_of(name, **arguments)
        for distribution in stage.libraries_of(arguments):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(fingerprint, "version_of", lambda asked, other=distribution: f"99 {asked == other}")
                assert graph.ref_of(name, **arguments) != before


@pytest.mark.slow
@pytest.mark.prefect
def test_in_a_new_process_an_edited_function_counts_and_an_edited_comment_does_not(
    first: tuple[World, Run], world: World, prefect_backend: str, tmp_path: Path
) -> None:
    """The whole way: the source is copied, a line of it is edited, and the copy is run."""
    source = tmp_path / "source"
    for package in ("chunklab_core", "tasks", "flows"):
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    path = source / "chunklab_core" / "chunk" / "fixed.py"
    text = path.read_text(encoding="utf-8")

    def made_by(edited: str) -> set[str]:
        path.write_text(edited, encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "flows.evaluate", "--quiet", *world.arguments()],
            cwd=source,
            env={**os.environ, "PREFECT_API_URL": prefect_backend, "PYTHONPATH": str(source)},
            check=True,
            timeout=300,
        )
        return Run({}, task_states(), []).made

    assert made_by(f"# A comment.\n\n{text}") == set()
    assert made_by(text.replace("return ", "return [] or ", 1)) == branch("fixed") | SELECT
