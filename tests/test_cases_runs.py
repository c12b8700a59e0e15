"""The reported faults of a whole run, each with its own input, and an embedder that needs no model."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import CASES, FILES, expected, given, needs_cases
from numpy.typing import NDArray

from chunklab_core.cache import code_memory
from chunklab_core.cache import keys as fingerprint
from chunklab_core.errors import ConfigError, ContractError
from chunklab_core.models import card as models
from chunklab_core.models import sentence_transformer
from chunklab_core.pipeline import evaluate
from chunklab_core.records.report import Report
from chunklab_core.report.console import render
from chunklab_core.report.json import report_to_json

pytestmark = needs_cases

LETTERS = """
import numpy as np


class Letters:
    def __call__(self, texts):
        return np.array([[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts], dtype=np.float32)


class Broken(Letters):
    def __call__(self, texts):
        vectors = super().__call__(texts)
        for vector, text in zip(vectors, texts):
            if "barn" in text or "shed" in text:
                vector[:] = 0.0
            if "mill" in text:
                vector[3] = np.nan
        return vectors
"""


class World:
    """Documents, their questions and a cache in one temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.docs, self.cache, self._folder = folder / "docs", folder / "cache", folder
        self.docs.mkdir()
        (folder / "letters.py").write_text(LETTERS)

    def write(self, **documents: str) -> None:
        for name, text in documents.items():
            (self.docs / name.replace("_", ".")).write_text(text, encoding="utf-8")

    def run(self, *questions: dict[str, Any], embedder: str = "Letters", **settings: Any) -> Report:
        questions_file = self._folder / "questions.yaml"
        questions_file.write_text(json.dumps({"questions": questions}))
        model = f"{self._folder / 'letters.py'}:{embedder}"
        mapping = {
            "embedding": {"model": model},
            "retrieval": {"compare": ["dense", "bm25", "hybrid"]},
            "strategies": [
                {"name": "fixed", "params": {"chunk_size": 20, "overlap": 5}},
                {"name": "semantic", "params": {"model": model, "min_tokens": 0, "max_tokens": 20}},
                {"name": "structure", "params": {"max_tokens": 20}},
            ],
        }
        return evaluate(self.docs, questions_file, mapping | settings, cache=self.cache)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def question(name: str, query: str, *gold: str) -> dict[str, Any]:
    return {"id": name, "query": query, "gold_snippets": list(gold)}


def messages(report: Report) -> str:
    return "\n".join(warning.message for warning in report.warnings)


def figures(report: Report) -> dict[str, Any]:
    """The report without `provenance.run`, which may differ between two runs of the same inputs."""
    found = json.loads(report_to_json(report))
    del found["provenance"]["run"]
    return found


def made(report: Report) -> dict[str, int]:
    return {stage: reuse.run for stage, reuse in report.provenance.run.stages.items()}


@pytest.mark.parametrize("name", ["fixed", "recursive"])
def test_c02_impossible_parameters_are_refused_before_documents_are_read(name: str, world: World) -> None:
    shutil.rmtree(world.docs)
    with pytest.raises(ConfigError, match=r"overlap.*chunk_size"):
        world.run(strategies=[{"name": name, "params": given("C02")["a"]["config"]}])


def test_c03_special_tokens_are_words_in_documents_questions_and_gold(world: World) -> None:
    case = given("C03")
    world.write(record_txt=case["text"])
    report = world.run(
        question("token", case["question"]["query"], case["question"]["gold"]),
        strategies=[{"name": "fixed", "params": {"chunk_size": 20, "overlap": 0}}],
    )

    assert {cell.recall_at_k for cell in report.cells} == {1.0}


def test_c08_documents_without_text_are_named_and_the_run_continues(world: World) -> None:
    one, two, none, blank = given("C08")["docs"]
    world.write(one_txt=one, two_txt=two, none_txt=none, blank_txt=blank)
    report = world.run(question("one", "Which sentence?", "One sentence only"))

    assert all(f"{name} has no text" in messages(report) for name in ("none.txt", "blank.txt"))
    assert {name: len(chunks) for name, chunks in report.chunks.items()} == {"fixed": 2, "semantic": 2, "structure": 2}


def test_c13_a_zero_vector_is_no_hit_and_no_number_of_a_report_is_odd(world: World) -> None:
    world.write(barn_txt="The red key opens the barn.", shed_txt="The blue key opens the shed.", gate_txt="The gate.")
    report = world.run(
        question("barn", "red barn", "The red key opens the barn."),
        question("shed", "blue shed", "The blue key opens the shed."),
        question("gate", "gate", "The gate."),
        embedder="Broken",
    )
    found = {cell.cell: [each.retrieved for each in cell.per_question] for cell in report.cells}

    assert all(math.isfinite(hit.score) for answers in found.values() for answer in answers for hit in answer)
    assert [len(answer) for answer in found["fixed/dense"]] == [0, 0, 1]  # one chunk and one question have a direction
    assert [answer[0].chunk_id[:4] for answer in found["fixed/hybrid"]] == ["barn", "shed", "gate"]
    assert "NaN" not in report_to_json(report)


def test_c13_a_vector_with_nan_is_reported_with_its_text(world: World) -> None:
    world.write(mill_txt="The old mill.")
    with pytest.raises(ContractError, match=r"NaN or infinity for the text that begins with 'old mill'"):
        world.run(question("mill", "old mill", "The old mill."), embedder="Broken")


class Recorder:
    """Replaces the model and records every string that reaches it."""

    sent: list[str]

    def __init__(self, folder: Path, **_: object) -> None:
        self.folder = folder

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        Recorder.sent += texts
        return np.ones((len(texts), 2), dtype=np.float32)


@pytest.mark.parametrize("name", given("C15")["a"]["models"] if CASES else [])
def test_c15a_a_model_gets_the_prompts_of_its_card(
    name: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = given("C15")["a"]
    (tmp_path / name).mkdir(parents=True)
    (tmp_path / name / "model.safetensors").write_bytes(name.encode())
    (tmp_path / name / "config.json").write_text("{}")
    monkeypatch.setattr(models, "_bundled_folder", lambda: tmp_path / name)
    monkeypatch.setattr(sentence_transformer, "SentenceTransformerEncoder", Recorder)
    monkeypatch.setattr(sentence_transformer, "piece_counter", lambda folder: lambda texts: [1] * len(texts))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Recorder, "sent", [], raising=False)
    world.write(meter_txt=case["passage"])
    world.run(
        question("meter", case["query"], case["passage"]),
        embedding={"model": name},
        strategies=[{"name": "fixed"}],
    )

    assert Recorder.sent == expected("C15")["a"][name]


def test_c19_a_scan_is_named_and_the_run_continues_with_the_other_file(world: World) -> None:
    for name in given("C19")["files"]:
        shutil.copy(FILES / name, world.docs)
    gold = given("C19")["gold"]
    report = world.run(
        question("office", "workflow", gold[0]),
        question("late", "filings", gold[1]),
        eval={"fuzzy_threshold": 1.0},
        strategies=[{"name": "whole_document"}],
    )

    assert "scan_only.pdf has no text layer" in messages(report)
    assert {cell.cell: cell.recall_at_k for cell in report.cells}["whole_document/bm25"] == 1.0


KEYS = "# Keys\n\nThe blue key opens the shed.\n\nThe red key opens the barn.\n"
KEY = question("key", "Which key opens the shed?", "The blue key opens the shed.")


def test_c23a_a_changed_word_is_noticed_whatever_the_time_stamp(world: World) -> None:
    world.write(keys_md=KEYS, other_md="# Other\n\nNothing changes here.\n")
    first = world.run(KEY)
    path = world.docs / "keys.md"
    before = path.stat()
    path.write_text(KEYS.replace("shed", "shop"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    second = world.run(question("key", "Which key opens the shop?", "The blue key opens the shop."))

    assert path.stat().st_size == before.st_size
    assert all(made(second)[stage] for stage in ("parse", "chunk", "embed", "index", "retrieve", "score", "select"))
    assert {cell.recall_at_k for cell in [*first.cells, *second.cells]} == {1.0}


def forget_code() -> None:
    """Clears what the process remembers of the core's source."""
    for remembered in (fingerprint._facts, fingerprint.worked_out, code_memory._sources_at_first):
        remembered.cache_clear()


@pytest.mark.parametrize(("module", "n_strategies"), [("chunk.fixed", 1), ("tokens", 3)])
def test_c23b_a_changed_function_that_chunking_calls_cuts_again(
    module: str, n_strategies: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write(keys_md=KEYS)
    first, source_of, name = world.run(KEY), fingerprint._source_of, f"chunklab_core.{module}"
    edited = source_of(name).replace(b"return ", b"return None or ", 1)
    assert edited != source_of(name)
    monkeypatch.setattr(fingerprint, "_source_of", lambda asked: edited if asked == name else source_of(asked))
    monkeypatch.setattr(code_memory, "sources_of_package", lambda: f"{module} edited")
    forget_code()
    second = world.run(KEY)
    monkeypatch.undo()
    forget_code()
    third = world.run(KEY)

    assert (made(first)["chunk"], made(second)["chunk"]) == (3, n_strategies)
    assert sum(made(third).values()) == 0  # the old code has its old results
    assert figures(first) == figures(second) == figures(third)  # what ran was the old code each time


@pytest.mark.parametrize("seed", range(3))
def test_c23c_broken_entries_are_made_again_with_the_same_figures(world: World, seed: int) -> None:
    world.write(keys_md=KEYS, other_md="# Other\n\nNothing changes here.\n")
    first, dice = world.run(KEY), random.Random(seed)
    files = sorted(path for path in world.cache.rglob("*") if path.is_file())
    shelves = [path for path in files if path.suffix == ".sqlite"]
    for path in {*dice.sample(files, len(files) // 2), dice.choice(shelves)}:
        content = path.read_bytes()
        whole = dice.random() < 0.5
        path.write_bytes(dice.randbytes(20) + content[20:] if whole else content[: len(content) // 2])

    assert figures(world.run(KEY)) == figures(first)


def test_c24_text_from_documents_and_names_is_data(world: World) -> None:
    case = given("C24")
    evil = '</script><b>[red]\x1b[31m{0}{{ 7 * 7 }} "x"'
    world.write(notes_md=case["document"])
    (world.docs / "\x1b[31m<i>[b].txt").write_text(case["document"])
    asked = case["question"]
    report = world.run(
        question(asked["id"] + evil, asked["query"], asked["gold"]),
        question("none", "nothing"),
        strategies=[{"name": "fixed", "label": "</script><b>[red]{0}"}],
    )
    shown, stored = render(report), report_to_json(report)

    assert "\x1b" not in shown + stored
    assert "</script><b>[red]{0}/dense" in shown
    assert json.loads(stored)["cells"][0]["per_question"][0]["id"] == asked["id"] + evil
    assert {cell.recall_at_k for cell in report.cells} == {1.0}
