"""What an addition takes: a metric or a retriever is one file and one line, a stage is one file and one call.

Each is made in a copy of the package, and a new process evaluates a small world with it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]

RUN = """
import json, sys
from chunklab_core.cache.store import Store
from chunklab_core.pipeline import evaluate
from chunklab_core.report.json import report_to_json
settings = json.loads(sys.argv[1])
print(report_to_json(evaluate("docs", "questions.yaml", settings, cache="cache")))
"""
QUESTIONS = """
questions:
  - {id: gate, query: Which colour has the gate?, gold_snippets: [The gate is green]}
  - {id: wall, query: Which colour has the wall?, gold_snippets: [The wall is red]}
"""
SETTINGS = {"retrieval": {"mode": "bm25"}, "strategies": [{"name": "fixed", "params": {"chunk_size": 8, "overlap": 0}}]}

METRIC = '''\
"""Empty rank: how many of the k places hold nothing."""


def empty_places(k: int, found: object) -> float:
    """Places without a chunk, of k."""
    return float(k - len(found))
'''
RETRIEVER = '''\
"""The first chunks of the corpus, whatever the question."""

import numpy as np

from chunklab_core.records.rankings import Ranking


def rank(index, questions, *, depth):
    """The same ranking for every question."""
    rows = np.arange(min(depth, len(index.lengths)), dtype=np.int64)
    return [Ranking(rows, 1.0 / (rows + 1)) for _ in questions]
'''
STAGE = '''\
"""Stage lengths: how long the chunks of one strategy are."""

from chunklab_core.cache.formats import pack_json
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.stage import Stage


def lengths(store, _, *, chunks):
    """The tokens of every chunk."""
    return pack_json(ChunkTable(store, chunks).table[:, 3].tolist()), None


STAGE = Stage(lengths, "How long the chunks are.", inputs=("chunks",))
'''


class Copy:
    """A copy of the package with a world beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.package = folder, folder / "chunklab_core"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "chunklab_core", self.package, ignore=ignored)
        (folder / "docs").mkdir()
        (folder / "docs" / "yard.md").write_text("# Yard\n\nThe gate is green.\n\nThe wall is red. It is high.\n")
        (folder / "questions.yaml").write_text(QUESTIONS)

    def add_file(self, name: str, text: str) -> None:
        assert not (self.package / name).exists()
        (self.package / name).write_text(text)

    def add_line(self, name: str, before: str, line: str) -> None:
        """Puts one line before another one, which stands in the file once."""
        path = self.package / name
        text = path.read_text()
        assert text.count(before) == 1
        path.write_text(text.replace(before, f"{line}\n{before}"))

    def report(self, settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
        command = [sys.executable, "-c", RUN, json.dumps(settings)]
        path = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = subprocess.run(command, cwd=self.folder, env=path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_a_metric_is_one_file_and_one_line(copy: Copy) -> None:
    copy.add_file("score/empty_places.py", METRIC)
    copy.add_line("score/__init__.py", '    "mrr": ', '    "empty": "chunklab_core.score.empty_places:empty_places",')
    settings = {**SETTINGS, "retrieval": {"mode": "bm25", "top_k": [50, 20]}}
    (cell,) = copy.report(settings)["cells"]

    n_retrieved = [len(row["retrieved"]) for row in cell["per_question"]]
    assert cell["empty"] == 50 - sum(n_retrieved) / len(n_retrieved)
    assert cell["by_k"]["20"]["empty"] == cell["empty"] - 30


def test_a_retriever_is_one_file_and_one_line(copy: Copy) -> None:
    copy.add_file("retrieve/first.py", RETRIEVER)
    line = '    "first": Retriever("chunklab_core.retrieve.first", index="words"),'
    copy.add_line("retrieve/__init__.py", '    "hybrid": ', line)
    settings = {**SETTINGS, "retrieval": {"compare": ["first", "bm25"], "top_k": 2}}
    cells = {cell["cell"]: cell for cell in copy.report(settings)["cells"]}

    assert set(cells) == {"fixed/first", "fixed/bm25"}
    assert cells["fixed/first"]["model"] is None
    assert {row["retrieved"][0]["chunk_id"] for row in cells["fixed/first"]["per_question"]} == {"yard.md#000000"}


def test_a_stage_is_one_file_and_one_call(copy: Copy) -> None:
    copy.add_file("stages/lengths.py", STAGE)
    copy.add_line(
        "graph.py",
        "    return [chunks, *embedded, health, match, ceiling, *chain(*searches.values()), *scores]",
        '    scores.append(node("lengths", label, chunks=chunks.ref))',
    )
    report = copy.report()

    assert report["provenance"]["run"]["stages"]["lengths"] == {"reused": 0, "run": 1}
    assert copy.report()["provenance"]["run"]["stages"]["lengths"] == {"reused": 1, "run": 0}
    (result,) = (copy.folder / "cache" / "results" / "lengths").rglob("*/*")
    tokens = json.loads(result.read_bytes().rpartition(b"[")[2].join([b"[", b""]))
    assert tokens == [chunk["tokens"] for chunk in report["chunks"]["fixed"]]
