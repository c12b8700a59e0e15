"""The bias of recall towards large chunks, and that `balanced` mends it.

Eight manuals of twelve sections; each question asks for one section of one manual by words that stand only there.
Whoever returns whole manuals finds every answer, and hands the reader the manual to search again.
"""

import pytest

from chunklab_core.pipeline import evaluate
from chunklab_core.records.report import Report

MACHINES = ("crane", "lathe", "press", "kiln", "winch", "mixer", "dryer", "sieve")
PARTS = ("axle", "belt", "cable", "drum", "engine", "filter", "gasket", "hinge", "injector", "joint", "knob", "lever")
FILLER = "Work is done in pairs, with gloves, and every finding goes into the log before the shift ends. " * 6


def section(machine: str, part: str, number: int) -> str:
    return f"## The {part}\n\n{FILLER}\n\nThe {part} of the {machine} is renewed after {number} hours of work.\n"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("degeneration")
    docs = folder / "docs"
    docs.mkdir()
    lines = ["questions:"]
    for row, machine in enumerate(MACHINES):
        body = [section(machine, part, 100 * row + 7 * at + 11) for at, part in enumerate(PARTS)]
        (docs / f"{machine}.md").write_text(f"# Manual of the {machine}\n\n" + "\n".join(body))
        for at, part in list(enumerate(PARTS))[row % 3 :: 3]:
            lines += [
                f"  - id: {machine}-{part}",
                f"    query: When is the {part} of the {machine} renewed?",
                "    gold_snippets:",
                f"      - The {part} of the {machine} is renewed after {100 * row + 7 * at + 11} hours of work.",
            ]
    (folder / "questions.yaml").write_text("\n".join(lines))
    settings = {
        "retrieval": {"mode": "bm25"},
        "strategies": [
            {"name": "whole_document"},
            {"name": "structure", "params": {"max_tokens": 300}},
            {"name": "fixed", "params": {"chunk_size": 128, "overlap": 16}},
        ],
    }
    return evaluate(docs, folder / "questions.yaml", settings, cache=folder / "cache")


def test_whole_documents_have_the_highest_recall(report: Report) -> None:
    recall = {cell.strategy: cell.recall_at_k for cell in report.cells}

    assert recall["whole_document"] == 1.0
    assert recall["whole_document"] == max(recall.values())


def test_whole_documents_lose_on_balanced(report: Report) -> None:
    """Five of eight manuals a question cost at least four times what the leanest cell takes: 15 points or more."""
    cells = {cell.strategy: cell for cell in report.cells}
    leanest = min(cell.retrieved_tokens_at_k for cell in report.cells)
    whole = cells["whole_document"]

    assert whole.retrieved_tokens_at_k > 4 * leanest
    assert whole.balanced == pytest.approx(1.0 - 0.05 * (whole.retrieved_tokens_at_k / leanest - 1))
    assert report.cells[0].strategy != "whole_document"
    assert whole.balanced == min(cell.balanced for cell in report.cells)


def test_its_recall_makes_it_no_winner(report: Report) -> None:
    assert report.verdict.status != "winner"
