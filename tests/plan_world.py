"""A small world whose changes a plan names: three documents, two questions, a stub embedder and a chunker."""

import copy
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from chunklab_core import pipeline
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.store import Store
from chunklab_core.graph import nodes
from chunklab_core.plan.plan import Plan, make_plan
from chunklab_core.plan.reasons import Reasons
from chunklab_core.plan.sentences import sentence
from chunklab_core.records.report import Report
from chunklab_core.stages.prepare import prepare
from chunklab_core.stages.stage import Node

LETTERS = """
import numpy as np

class Letters:
    def __call__(self, texts):
        return np.array([[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts], dtype=np.float32)

class Others(Letters):
    pass
"""
HALVES = """
from chunklab_core.records import Span

class Halves:
    def __call__(self, document):
        half = len(document.text) // 2
        return [Span(0, half), Span(half, len(document.text))]
"""
DOCUMENTS = {
    "refunds.txt": "Refunds take five days.",
    "parcels.txt": "Parcels arrive after three days.",
    "garden.txt": "The garden opens at nine.",
}
QUESTIONS: list[dict[str, Any]] = [
    {"id": "refunds", "query": "How long do refunds take?", "gold_snippets": ["Refunds take five days."]},
    {"id": "parcels", "query": "When do parcels arrive?", "gold_snippets": ["Parcels arrive after three days."]},
]


class World:
    """Three documents, two questions, settings, and a cache; a change in them counts from the next run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.docs = folder, folder / "docs"
        self.questions = copy.deepcopy(QUESTIONS)
        self.settings: dict[str, Any] = {
            "embedding": {"model": f"{folder / 'letters.py'}:Letters"},
            "retrieval": {"compare": ["dense", "bm25", "hybrid"]},
            "strategies": [
                {"name": "fixed", "params": {"chunk_size": 8, "overlap": 0}},
                {"name": f"{folder / 'halves.py'}:Halves", "label": "halves"},
            ],
        }

    def write(self) -> "World":
        self.docs.mkdir(parents=True)
        for name, text in DOCUMENTS.items():
            (self.docs / name).write_text(text)
        (self.folder / "letters.py").write_text(LETTERS)
        (self.folder / "halves.py").write_text(HALVES)
        return self

    @property
    def store(self) -> Store:
        return Store(self.folder / "cache")

    @property
    def question_file(self) -> Path:
        path = self.folder / "questions.yaml"
        path.write_text(json.dumps({"questions": self.questions}))
        return path

    def run(self) -> Report:
        return pipeline.evaluate(self.docs, self.question_file, self.settings, cache=self.store.root)

    def prepared(self) -> tuple[Ref, list[Node]]:
        inputs = prepare(self.docs, self.question_file, self.settings, self.store)
        return inputs, nodes(self.store, inputs)

    def plan(self, refresh: Collection[str] = ()) -> Plan:
        return make_plan(self.store, *self.prepared(), refresh)

    def reasons(self) -> dict[str, Reasons]:
        """By stage and label, why each node would run."""
        return {f"{step.stage} {step.label}": step.reasons for step in self.plan().steps if step.runs}

    def sentences(self) -> dict[str, list[str]]:
        """The same in words."""
        return {name: [sentence(reason) for reason in reasons] for name, reasons in self.reasons().items()}
