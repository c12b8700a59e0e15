"""The small worlds of the tests: documents to evaluate, documents laid out by hand, embedders that need no model."""

import json
import re
import shutil
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunklab_core import pipeline
from chunklab_core.chunk.health import document_health, summarize
from chunklab_core.models.card import ModelCard
from chunklab_core.models.embedder import Embedder
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Element, Span
from chunklab_core.records.health import Health
from chunklab_core.report.json import report_to_json

RETRIEVERS = ("dense", "bm25", "hybrid")
LABELS = ("fixed", "semantic")

# ---------------------------------------------------------------- a world to evaluate

DOCUMENTS = {
    "refunds.md": """\
# Refunds

## Deadlines

A refund reaches the card within 14 days. Transfers to a bank abroad take 21 days.

## Exceptions

Gift cards are never refunded. Opened seed packets cannot be returned.
""",
    "delivery.md": """\
# Delivery

## Prices

Delivery inside the city costs 3 EUR. Delivery to the islands costs 19 EUR.

## Damage

Damaged parcels are reported by the evening of the second day.
""",
    "garden.txt": """\
The garden opens at nine in summer and at ten in winter.

Dogs are welcome on a lead. Bicycles stay at the gate.

Guided tours begin at the old pump every Sunday at noon.
""",
}

QUESTIONS: list[dict[str, Any]] = [
    {"id": "card", "query": "How long does a refund take?", "gold_snippets": ["reaches the card within 14 days"]},
    {"id": "gift", "query": "Are gift cards refunded?", "gold_snippets": ["Gift cards are never refunded."]},
    {"id": "islands", "query": "What does delivery to the islands cost?", "gold_snippets": ["costs 19 EUR"]},
    {"id": "dogs", "query": "May dogs enter the garden?", "gold_snippets": ["Dogs are welcome on a lead."]},
    {"id": "tours", "query": "Where do tours begin?", "gold_snippets": ["begin at the old pump"]},
]

STUB = '''\
"""An embedder without a model: hashed words. It records every text in a file."""

import hashlib
import json
from pathlib import Path

import numpy as np

SEEN = Path(__file__).with_suffix(".seen")


class Stub:
    def __call__(self, texts):
        with SEEN.open("a", encoding="utf-8") as seen:
            seen.writelines(json.dumps(text) + "\\n" for text in texts)
        return np.array([vector(text) for text in texts], dtype=np.float32)


def vector(text):
    row = np.full(32, 0.01)
    for word in text.lower().split():
        row[hashlib.sha256(word.encode()).digest()[0] % 32] += 1
    return row / np.linalg.norm(row)
'''


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation: its report, the Prefect states of its tasks by name, and the texts that the stub embedded."""

    report: dict[str, Any]
    states: dict[str, str]
    seen: list[str]

    @property
    def made(self) -> set[str]:
        """Names of the tasks that ran, without the report, which always runs."""
        return {name for name, state in self.states.items() if state == "Completed"} - {"report"}

    @property
    def figures(self) -> dict[str, Any]:
        return figures(self.report)


def figures(report: dict[str, Any]) -> dict[str, Any]:
    """The report without `provenance.run`, which may differ between two runs of the same inputs."""
    provenance = {name: value for name, value in report["provenance"].items() if name != "run"}
    return {**report, "provenance": provenance}


@dataclass(frozen=True, slots=True)
class World:
    """A folder with three documents, five questions, a stub embedder and its own cache."""

    folder: Path

    @property
    def docs(self) -> Path:
        return self.folder / "docs"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def stub(self) -> str:
        return f"{self.folder / 'stub.py'}:Stub"

    def strategies(self) -> list[dict[str, Any]]:
        return [
            {"name": "fixed", "params": {"chunk_size": 16, "overlap": 2}},
            {"name": "semantic", "params": {"max_tokens": 40, "min_tokens": 5, "model": self.stub}},
        ]

    def write(self, documents: dict[str, str] = DOCUMENTS, questions: list[dict[str, Any]] = QUESTIONS) -> "World":
        self.docs.mkdir(parents=True, exist_ok=True)
        for name, text in documents.items():
            (self.docs / name).write_text(text, encoding="utf-8")
        (self.folder / "questions.yaml").write_text(json.dumps({"questions": questions}), encoding="utf-8")
        (self.folder / "stub.py").write_text(STUB, encoding="utf-8")
        return self

    def arguments(self, *more: str, strategies: Sequence[dict[str, Any]] | None = None, model: str = "") -> list[str]:
        return [
            *("--docs", str(self.docs), "--questions", str(self.folder / "questions.yaml")),
            *("--cache-dir", str(self.cache), "--out", str(self.folder / "out"), "--compare-retrievers"),
            *("--set", f"embedding.model={json.dumps(model or self.stub)}"),
            *("--set", f"strategies={json.dumps(strategies or self.strategies())}"),
            *("--set", "retrieval.candidates=10"),
            *more,
        ]

    def run(self, *more: str, strategies: Sequence[dict[str, Any]] | None = None, model: str = "") -> Run:
        """One evaluation by the command line, in this process."""
        from flows import cli

        seen = self.folder / "stub.seen"
        seen.unlink(missing_ok=True)
        assert cli.run(["--quiet", *self.arguments(*more, strategies=strategies, model=model)]) == 0
        texts = seen.read_text(encoding="utf-8").splitlines() if seen.exists() else []
        report = json.loads((self.folder / "out" / "report.json").read_text(encoding="utf-8"))
        return Run(report, task_states(), [json.loads(text) for text in texts])

    def evaluate(self, cache: Path, *overrides: str) -> dict[str, Any]:
        """The figures of a run in this process without Prefect, with another cache."""
        from chunklab_core.stages.prepare import read_config

        arguments = self.arguments(*(part for override in overrides for part in ("--set", override)))
        settings = [value for name, value in pairwise(arguments) if name == "--set"]
        config = read_config(None, [*settings, f"retrieval.compare={json.dumps(RETRIEVERS)}"])
        report = pipeline.evaluate(self.docs, self.folder / "questions.yaml", config, cache=cache)
        return figures(json.loads(report_to_json(report)))

    def copy(self, folder: Path) -> "World":
        """The same world in another folder, with its cache."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return World(folder)


def task_states() -> dict[str, str]:
    """State of each task in the newest flow run on the server, by the name of the task run."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
    from prefect.client.schemas.sorting import FlowRunSort

    with get_client(sync_client=True) as client:
        newest = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC, limit=1)[0]
        runs = client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[newest.id])), limit=200)
    states = {run.name: run.state_name or "" for run in runs}
    assert len(states) == len(runs), "two task runs have one name"
    return states


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


# ---------------------------------------------------------------- names of the task runs of that world


def cells(stage: str, retrievers: Iterable[str] = RETRIEVERS, labels: Iterable[str] = LABELS) -> set[str]:
    return {f"{stage} {label}/{retriever}" for label in labels for retriever in retrievers}


def of_strategies(*stages: str, labels: Iterable[str] = LABELS) -> set[str]:
    return {f"{stage} {label}" for stage in stages for label in labels}


def branch(label: str) -> set[str]:
    """All nodes of one strategy."""
    strategy = of_strategies("chunk", "embed", "health", "match", "ceiling", labels=[label])
    searches = cells("retrieve", labels=[label]) | cells("score", labels=[label])
    return strategy | cells("index", ("dense", "bm25"), [label]) | searches


SELECT = {"select all cells", "survey all cells"}
LOCATE = {"locate gold"}

# ---------------------------------------------------------------- documents laid out by hand

_BLOCK = re.compile(r"\S(?:.|\n(?!\s*\n))*")


def laid_out(text: str, doc_id: str = "doc") -> Document:
    """A document whose blocks are recognized by empty lines and first characters, which is enough for tests."""
    elements: list[Element] = []
    path: list[tuple[int, str]] = []
    for block in _BLOCK.finditer(text):
        heading = re.fullmatch(r"(#{1,6}) (.*)", block.group())
        level = len(heading[1]) if heading else 0
        if heading:
            path = [part for part in path if part[0] < level] + [(level, heading[2])]
        first = block.group()[0]
        kind = "heading" if heading else {"|": "table", "-": "list", "`": "code"}.get(first, "paragraph")
        elements.append(Element(kind, Span(*block.span()), tuple(title for _, title in path), level))
    return Document(doc_id, text, tuple(elements))


def embed_by_first_letter(texts: Sequence[str]) -> NDArray[np.float32]:
    """Texts that begin with the same letter are alike, others have nothing in common."""
    vectors = np.zeros((len(texts), 64), dtype=np.float32)
    vectors[np.arange(len(texts)), [ord(text[0]) % 64 for text in texts]] = 1.0
    return vectors


def health_of(document: Document, chunks: Sequence[Chunk], **settings: Any) -> Health:
    """The health of a strategy that cut this one document."""
    return summarize("s", [document_health(document, chunks, **settings)])


# ---------------------------------------------------------------- an embedder object

CARD = ModelCard("stub", "0" * 64, None, "")
TEXTS = [f"text {number:03}" for number in range(150)]  # more than two batches are saved apart


class Stub(Embedder):
    """An embedder that records its texts. The vector of a text is the number in it. It may fail at a given call."""

    def __init__(self, card: ModelCard = CARD, fails_at_call: int | None = None) -> None:
        super().__init__(card)
        self.calls: list[list[str]] = []
        self._fails_at_call = fails_at_call

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(self.calls) + 1 == self._fails_at_call:
            raise RuntimeError("power cut")
        self.calls.append(list(texts))
        return np.array([[int(text.split()[1]), 1.0] for text in texts], dtype=np.float32)

    @property
    def seen(self) -> list[str]:
        return [text for call in self.calls for text in call]
