"""Whole runs on small worlds: each way to lose an answer, made by construction, and the figures around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from chunklab_core import pipeline
from chunklab_core.models.embedder import Embedder, ModelCard
from chunklab_core.records.report import Cell, Report
from chunklab_core.report.json import report_to_mapping

PLUGINS = '''
import numpy as np

from chunklab_core.records import Span


class Lines:
    """A line a chunk, with its line end."""

    def __call__(self, document):
        ends = [at + 1 for at, character in enumerate(document.text) if character == "\\n"]
        return [Span(start, end) for start, end in zip([0, *ends], [*ends, len(document.text)]) if start < end]


class Letters:
    """How often x, y and z stand in a text."""

    def __call__(self, texts):
        return np.array([[text.count(letter) for letter in "xyz"] for text in texts], dtype=np.float32)
'''

Evaluate = Callable[..., Report]


@pytest.fixture
def run(tmp_path: Path) -> Evaluate:
    """Evaluates one document, by default a chunk a line; a question is its query and its gold."""

    def evaluated(text: str, questions: dict[str, tuple[str, str | list[str]]], **settings: Any) -> Report:
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / settings.pop("file", "notes.txt")).write_text(text, encoding="utf-8")
        (tmp_path / "mine.py").write_text(PLUGINS, encoding="utf-8")
        entries = [
            {"id": name, "query": query, "gold_snippets": [gold] if isinstance(gold, str) else gold}
            for name, (query, gold) in questions.items()
        ]
        (tmp_path / "questions.yaml").write_text(yaml.safe_dump({"questions": entries}), encoding="utf-8")
        config = {
            "embedding": {"model": f"{tmp_path / 'mine.py'}:Letters", **settings.pop("embedding", {})},
            "strategies": settings.pop("strategies", [{"name": f"{tmp_path / 'mine.py'}:Lines"}]),
            "retrieval": settings,
        }
        return pipeline.evaluate(tmp_path / "docs", tmp_path / "questions.yaml", config, cache=tmp_path / "cache")

    return evaluated


def lost(cell: Cell) -> dict[str, tuple[str | None, ...]]:
    """By question, where its slots were lost."""
    return {entry.id: entry.lost or (None,) * len(entry.found) for entry in cell.per_question}


def check_sums(report: Report) -> None:
    """What must hold in every cell at every k."""
    for cell in report.cells:
        for at in (cell, *cell.by_k.values()):
            assert at.metrics["recall_at_k"] + sum(at.loss.values()) == pytest.approx(1, abs=1e-12)
            assert at.metrics["recall_at_k"] <= at.ceiling.recall + 1e-12
            assert at.metrics["precision_at_k"] <= at.ceiling.precision + 1e-12
        for entry in cell.per_question:
            assert [part is None for part in entry.lost] == (list(entry.found) if entry.lost else [])
            assert bool(entry.lost) != all(entry.found)


HARBOUR = """\
Boats leave at noon from the pier.
Boats boats boats.
The ferry costs nine euros
in winter and twelve in summer.
"""
ASKED: dict[str, tuple[str, str | list[str]]] = {
    "absent": ("boats", "Trains leave at dawn."),
    "cut": ("ferry", "costs nine euros in winter"),
    "unlisted": ("lighthouse", "Boats leave at noon"),
    "second": ("boats", "from the pier"),
    "found": ("pier", "from the pier"),
}


def test_gold_is_lost_by_parsing_cutting_searching_and_ranking(run: Evaluate) -> None:
    report = run(HARBOUR, ASKED, mode="bm25", top_k=[1, 2])
    (cell,) = report.cells

    check_sums(report)
    assert lost(cell) == {
        "absent": ("parse",),
        "cut": ("cut",),
        "unlisted": ("candidates",),
        "second": ("below_k",),
        "found": (None,),
    }
    assert {part: share for part, share in cell.loss.items() if share} == dict.fromkeys(
        ("parse", "cut", "candidates", "below_k"), 1 / 5
    )
    assert list(cell.by_k) == ["2"]
    assert (cell.by_k["2"].metrics["recall_at_k"], cell.by_k["2"].loss["below_k"]) == (2 / 5, 0)


def test_the_ceiling_is_what_the_chunks_allow_whatever_is_searched_with(run: Evaluate) -> None:
    cell = run(HARBOUR, ASKED, mode="bm25", top_k=[1, 2]).cells[0]

    assert (cell.ceiling.recall, cell.ceiling.precision) == pytest.approx((3 / 5, 3 / 5))
    assert (cell.by_k["2"].ceiling.recall, cell.by_k["2"].ceiling.precision) == pytest.approx((3 / 5, 3 / 10))


def test_gold_that_two_chunks_hold_between_them_is_found_token_by_token(run: Evaluate) -> None:
    questions = {"cut": ("ferry winter", "ferry costs nine euros in winter")}
    cell = run(HARBOUR, questions, mode="bm25", top_k=2).cells[0]

    assert cell.recall_at_k == 0
    assert cell.metrics["token_recall"] == pytest.approx(1)
    assert 0 < cell.metrics["token_precision"] < 1
    assert cell.metrics["token_iou"] == pytest.approx(cell.metrics["token_precision"])  # nothing of the gold is missing
    assert (cell.metrics["ndcg_at_k"], cell.metrics["map_at_k"], cell.ceiling.token_precision) == (0, 0, 0)


def test_a_slot_of_two_weighs_half_in_the_loss_as_in_the_recall(run: Evaluate) -> None:
    report = run(HARBOUR, {"both": ("pier", ["from the pier", "costs nine euros in winter"])}, mode="bm25", top_k=1)

    assert lost(report.cells[0]) == {"both": (None, "cut")}
    assert report.cells[0].loss["cut"] == 0.5
    assert report_to_mapping(report)["cells"][0]["per_question"][0]["lost"] == [None, "cut"]


def test_gold_that_one_search_has_on_top_is_lost_by_the_fusion(run: Evaluate) -> None:
    """Dense ranks box, six, harbour; the keywords rank harbour, box: so the sum of both has the box on top."""
    lines = "harbour box wall stone\nsix days\nharbour harbour day\n"
    report = run(lines, {"q": ("harbour fox", "harbour harbour day")}, compare=["bm25", "hybrid"], top_k=1)
    by_retriever = {cell.retriever: cell for cell in report.cells}

    check_sums(report)
    assert lost(by_retriever["hybrid"]) == {"q": ("fusion",)}
    assert lost(by_retriever["bm25"]) == {"q": (None,)}


def test_what_no_leg_lists_among_its_candidates_is_not_looked_for_further_down(run: Evaluate) -> None:
    """Both legs rank the gold second, and the first of each is all that goes into the fusion."""
    lines = "harbour harbour box\nharbour day fox stone wall\nsea\n"
    report = run(lines, {"q": ("harbour x", "day fox")}, mode="hybrid", top_k=1, candidates=1)

    check_sums(report)
    assert lost(report.cells[0]) == {"q": ("candidates",)}


class ThreeWords(Embedder):
    """Reads the first three words of a text, a prompt included."""

    def __init__(self, card: ModelCard) -> None:
        super().__init__(ModelCard(card.name, card.digest, 3, card.folder))

    def count_pieces(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def window_ends(self, texts: Sequence[str]) -> list[int]:
        return [len(" ".join([*text.split(" ")[:3], ""])) for text in texts]

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().__call__([" ".join(text.split()[:3]) for text in texts])


@pytest.mark.parametrize(
    ("prompt", "middle"),
    [("", "below_k"), ("see: ", "truncated")],  # the prompt takes a word of the window
)
def test_gold_past_the_window_of_the_model_is_truncated(
    run: Evaluate, monkeypatch: pytest.MonkeyPatch, prompt: str, middle: str
) -> None:
    monkeypatch.setattr(pipeline, "open_embedder", ThreeWords)
    questions: dict[str, tuple[str, str | list[str]]] = {
        "early": ("fox", "day one"),
        "middle": ("fox", "one two"),
        "late": ("fox", "the gate is red"),
        "twice": ("fox", "stone wall"),  # past the window in one chunk, and read in another
    }
    lines = "day one two the gate is red stone wall\nfox fox\nstone wall day\n"
    report = run(lines, questions, compare=["dense", "bm25"], top_k=1, embedding={"passage_prompt": prompt})
    by_retriever = {cell.retriever: cell for cell in report.cells}

    check_sums(report)
    assert lost(by_retriever["dense"]) == {
        "early": ("below_k",),
        "middle": (middle,),
        "late": ("truncated",),
        "twice": ("below_k",),
    }
    assert set(lost(by_retriever["bm25"]).values()) == {("candidates",)}  # no model reads there


def test_what_the_keywords_bring_to_their_top_is_not_truncated(run: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "open_embedder", ThreeWords)
    lines = "day one two the gate is red\nfox gate\nsix\n"
    questions: dict[str, tuple[str, str | list[str]]] = {
        "high": ("fox, the gate is red", "the gate is red"),
        "low": ("gate fox", "the gate is red"),
    }
    report = run(lines, questions, mode="hybrid", top_k=1)

    assert lost(report.cells[0]) == {"high": ("fusion",), "low": ("truncated",)}


def test_gold_across_prefix_and_body_stands_in_its_chunk(run: Evaluate) -> None:
    """It is in no document word for word, and still no fault of the parser."""
    text = "# Fees\n\n## Cash\n\nNine euros.\n\n## Cards\n\nTwo euros.\n"
    strategies = [{"name": "structure", "params": {"max_tokens": 30}}]
    gold: dict[str, tuple[str, str | list[str]]] = {
        "found": ("nine", "Fees > Cash Nine euros."),
        "missed": ("lighthouse", "Fees > Cash Nine euros."),
    }
    report = run(text, gold, file="notes.md", mode="bm25", top_k=1, strategies=strategies)

    assert lost(report.cells[0]) == {"found": (None,), "missed": ("candidates",)}


def test_the_order_is_judged_as_an_independent_library_judges_it(run: Evaluate) -> None:
    """Gold "mark N" stands in every line whose number N divides; queries find some of those lines."""
    ir = pytest.importorskip("ir_measures")
    marks = range(2, 12)
    lines = [
        f"row {at} " + " ".join([*(f"mark {mark};" for mark in marks if at % mark == 0), "filler " * (at * 7 % 13)])
        for at in range(1, 60)
    ]
    asked: dict[str, tuple[str, str | list[str]]] = {
        f"q{mark}": (f"mark {mark} row {mark * 3}", f"mark {mark};") for mark in marks
    }
    asked["absent"] = ("mark", "mark 99;")
    report = run("\n".join(lines), asked, mode="bm25", top_k=[5, 3, 20])
    (cell,) = report.cells
    held = {f"q{mark}": {f"notes.txt#{at - 1:06}" for at in range(1, 60) if at % mark == 0} for mark in marks}
    qrels = [ir.Qrel(name, chunk_id, 1) for name, chunks in held.items() for chunk_id in chunks]
    given = [ir.ScoredDoc(entry.id, one.chunk_id, -one.rank) for entry in cell.per_question for one in entry.retrieved]
    for k in (5, 3):  # the report names the chunks up to the judged k
        at = cell if k == 5 else cell.by_k[str(k)]
        theirs = ir.calc_aggregate([ir.nDCG @ k, ir.AP @ k], qrels, given)
        share = len(marks) / len(asked)  # the library leaves out a question without relevant chunks; here it counts 0

        assert at.metrics["ndcg_at_k"] == pytest.approx(theirs[ir.nDCG @ k] * share, abs=1e-9)
        assert at.metrics["map_at_k"] == pytest.approx(theirs[ir.AP @ k] * share, abs=1e-9)
        assert 0 < at.metrics["map_at_k"] < at.metrics["ndcg_at_k"] < 1


def test_parts_and_recall_add_up_to_1_in_every_cell(run: Evaluate) -> None:
    """Three searches, two strategies and two k, with gold that is cut, doubled, absent and far down."""
    words = ["boats", "pier", "fox", "gate", "days", "zinc", "noon", "wall"]
    lines = [" ".join(words[(at * step) % 8] for step in (1, 2, 3, 5, 7)) + f" number {at}." for at in range(40)]
    asked: dict[str, tuple[str, str | list[str]]] = {
        f"q{at}": (
            " ".join(lines[at].split()[1:3]),
            [f"number {at}. {lines[at + 1][:9]}", lines[at], f"number {at + 500}"],
        )
        for at in range(0, 36, 3)
    }
    strategies = [{"name": "fixed", "params": {"chunk_size": size, "overlap": 0}} for size in (20, 64)]
    strategies = [{**each, "label": f"s{at}"} for at, each in enumerate(strategies)]
    report = run(
        "\n".join(lines), asked, compare=["dense", "bm25", "hybrid"], top_k=[2, 5], candidates=6,
        strategies=strategies,
    )  # fmt: skip

    check_sums(report)
    assert len(report.cells) == 6
    seen = {part for cell in report.cells for part, share in cell.loss.items() if share}
    assert seen >= {"parse", "cut", "candidates", "below_k"}
