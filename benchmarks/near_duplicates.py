"""Shows what is taken for near-duplicate questions on public sets, and how far such questions move together.

Why: the rule that merges questions rests on a measurement. Questions whose whole gold is the same are mostly found and
lost together by the same cells; questions that share a part of it are hardly more alike than any two.

    python -m benchmarks.near_duplicates [--sets FOLDER] [--only NAME] [--cache-dir DIR]

For each set: the groups, and for pairs of questions by what they share of their gold, the correlation of the paired
differences between cells (BM25 over six ways to cut), averaged over all pairs of cells.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chunklab_core.inputs.questions import load_questions
from chunklab_core.pipeline import evaluate
from chunklab_core.records.questions import Question
from chunklab_core.select.near_duplicates import Place, group_questions
from chunklab_core.text import fold

SETS = ("chunklab_example", "chroma", "qasper", "privacy_qa")
SETTINGS = {
    "retrieval": {"mode": "bm25"},
    "strategies": [
        {"name": name, "params": {"chunk_size": size, "overlap": 0}, "label": f"{name} {size}"}
        for name, sizes in (("fixed", (64, 128, 256, 512)), ("recursive", (128, 256)))
        for size in sizes
    ],
}
SHARED = ("all of it", "all of one", "a part", "a sentence in a section")


def main() -> None:
    """Prints one section a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=Path, default=Path("../shared/benchmarks"))
    parser.add_argument("--only", choices=SETS)
    parser.add_argument("--cache-dir")
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else SETS:
        folder = arguments.sets / name
        questions = [question for question in load_questions(folder / "questions.yaml") if question.slots]
        places = places_of(folder / "docs", questions)
        labels = group_questions(questions, places)
        print(f"\n{name}: {len(questions)} questions, {len(set(labels))} groups")
        print_groups(questions, labels)
        print_correlations(questions, places, recall_of(folder, arguments.cache_dir))


def places_of(docs: Path, questions: Sequence[Question]) -> list[list[Place | None]]:
    """Where gold stands word for word; None in documents that are no text, and for gold that differs in a word."""
    texts = {path.name: _plain(path.read_text(encoding="utf-8")) for path in sorted(docs.iterdir()) if _is_text(path)}

    def place(gold: str) -> Place | None:
        starts = ((name, text.find(gold)) for name, text in texts.items())
        return next(((name, start, start + len(gold)) for name, start in starts if start >= 0), None)

    return [[place(_plain(slot[0])) for slot in question.slots] for question in questions]


def recall_of(folder: Path, cache: str | None) -> NDArray[np.float64]:
    """Shape (cells, questions)."""
    report = evaluate(folder / "docs", folder / "questions.yaml", SETTINGS, cache=cache)
    return np.array([[each.recall for each in cell.per_question] for cell in report.cells])


def print_groups(questions: Sequence[Question], labels: Sequence[str]) -> None:
    """The questions that were merged, group by group."""
    groups: dict[str, list[str]] = defaultdict(list)
    for question, label in zip(questions, labels, strict=True):
        groups[label].append(question.query)
    for queries in groups.values():
        if len(queries) > 1:
            print("  - " + "\n    ".join(queries))


def print_correlations(
    questions: Sequence[Question], places: Sequence[Sequence[Place | None]], recall: NDArray[np.float64]
) -> None:
    """Mean correlation of what the questions of a pair say about two cells, by what they share."""
    differences = np.array([recall[one] - recall[other] for one, other in combinations(range(len(recall)), 2)])
    differences -= differences.mean(axis=1, keepdims=True)
    differences = differences[differences.std(axis=1) > 0]  # two cells that never differ tell nothing
    differences /= differences.std(axis=1, keepdims=True)
    found: dict[str, list[float]] = defaultdict(list)
    for one, other in combinations(range(len(questions)), 2):
        kind = shared(places[one], places[other])
        if kind:
            found[kind].append(float((differences[:, one] * differences[:, other]).mean()))
    for kind in SHARED:
        values = np.array(found[kind])
        if len(values) > 1:
            error = values.std(ddof=1) / len(values) ** 0.5
            print(f"  gold shared: {kind}: {len(values)} pairs, correlation {values.mean():.2f} (+- {error:.2f})")


def shared(one: Sequence[Place | None], other: Sequence[Place | None]) -> str | None:
    """What two questions share of their gold."""
    equal = set(one) & set(other) - {None}
    if equal:
        whole = [len(equal) == len(places) for places in (one, other)]
        return SHARED[0] if all(whole) else SHARED[1] if any(whole) else SHARED[2]
    inside = any(a and b and a[0] == b[0] and (_holds(a, b) or _holds(b, a)) for a in one for b in other)
    return SHARED[3] if inside and len(one) == len(other) == 1 else None


def _holds(section: Place, sentence: Place) -> bool:
    """Whether one place contains the other and is more than twice as long."""
    is_inside = section[1] <= sentence[1] and sentence[2] <= section[2]
    return is_inside and section[2] - section[1] > 2 * (sentence[2] - sentence[1])


def _plain(text: str) -> str:
    return " ".join(fold(text).split())


def _is_text(path: Path) -> bool:
    return path.suffix in (".md", ".txt")


if __name__ == "__main__":
    main()
