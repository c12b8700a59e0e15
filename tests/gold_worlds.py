"""A small corpus with its gold, located."""

from __future__ import annotations

from chunklab_core.records.questions import Question
from chunklab_core.score.locate import locate
from chunklab_core.score.wordings import wordings_of

QUESTIONS = [
    Question("hinge", "?", (("Oil the hinge.",), ("Shut the gate.", "Close the gate."))),
    Question("gate", "?", (("Shut the gate.",),), documents=("yard.md",)),
    Question("lost", "?", (("Paint the fence.",),)),
]

CORPUS = [
    ("barn.md", "Oil the hinge. Close the gate."),
    ("yard.md", "Shut the gate. Sweep."),
    ("a.md", "Shut the gate."),
]


def located_corpus() -> tuple[list[tuple[int, str, object]], object]:
    wordings = wordings_of(QUESTIONS, 1.0)
    found = locate([text for _, text in CORPUS], wordings)
    return [(at, CORPUS[at][0], each) for at, each in enumerate(found)], wordings
