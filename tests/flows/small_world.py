"""A small world to evaluate: three documents, five questions, and an embedder that needs no model."""

import json
import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
"""An embedder without a model: hashed words. It writes down every text that it is given."""

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
    """One evaluation: its report, Prefect's states of its tasks by name, and the texts that the stub was given."""

    report: dict[str, Any]
    states: dict[str, str]
    seen: list[str]

    @property
    def made(self) -> set[str]:
        """Names of the tasks that ran; the report runs always and is left out."""
        return {name for name, state in self.states.items() if state == "Completed"} - {"report"}

    @property
    def figures(self) -> dict[str, Any]:
        """The report without what may differ between two runs of the same inputs."""
        provenance = {name: value for name, value in self.report["provenance"].items() if name != "run"}
        return {**self.report, "provenance": provenance}


@dataclass(frozen=True, slots=True)
class World:
    """A folder with three documents, five questions, a stub embedder and a cache of its own."""

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

    def copy(self, folder: Path) -> "World":
        """The same world elsewhere, with all that its cache holds."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return World(folder)


def task_states() -> dict[str, str]:
    """Of the newest flow run on the server, the name of each task's state, by the name of the task run."""
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
