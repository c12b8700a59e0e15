"""The outputs, files and code of the README are real."""

import io
import re
from pathlib import Path

import pytest
from pages import README, ROOT, block, blocks
from rich.console import Console

from chunklab_core.inputs.questions import questions_from_text
from chunklab_core.pipeline import evaluate
from chunklab_core.records.report import Report
from chunklab_core.report.console import render

EXAMPLE = ROOT / "examples" / "first_run"
NO_MODEL = {"retrieval": {"mode": "bm25"}, "strategies": [{"name": n} for n in ("fixed", "recursive", "structure")]}
BEFORE_BALANCED = 8  # columns of a cell that do not depend on other cells


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    cache = tmp_path_factory.mktemp("cache")
    return evaluate(EXAMPLE / "docs", EXAMPLE / "questions.yaml", NO_MODEL, cache=cache)


@pytest.fixture(scope="module")
def printed(report: Report) -> list[str]:
    return render(report, console=Console(file=io.StringIO(), width=100)).splitlines()


@pytest.fixture(scope="module")
def shown() -> list[str]:
    return block(README, "15 cells").splitlines()


def rows(lines: list[str]) -> dict[str, list[str]]:
    return {line.split()[0]: line.split() for line in lines if line.partition(" ")[0].count("/") == 1 and "0." in line}


def test_the_shown_screen_has_the_lines_of_a_run(shown: list[str], printed: list[str]) -> None:
    assert shown[1].split() == printed[1].split()
    assert shown[0].partition(", ")[2] == printed[0].partition(", ")[2]
    assert len(rows(shown[2:18])) == 15


def test_the_shown_figures_are_those_of_a_run(shown: list[str], printed: list[str]) -> None:
    expected = {f"{name}/bm25" for name in ("fixed", "recursive", "structure")}
    documented, found = rows(shown[2:18]), rows(printed)

    assert set(found) == expected
    for cell in expected:
        assert documented[cell][:BEFORE_BALANCED] == found[cell][:BEFORE_BALANCED]


def test_the_shown_verdict_agrees_with_the_shown_table(shown: list[str]) -> None:
    sentences, table = " ".join(shown[18:]), shown[2:18]
    heading = next(at for at, line in enumerate(table) if line.startswith("ruled out"))
    out = list(rows(table[heading + 1 :]))

    assert table[heading] == f"ruled out ({len(out)}):"
    named, _, more = sentences.partition("Ruled out: ")[2].partition(";")[0].partition(" and ")
    some = re.findall(r"'([^']+)'", named)
    assert set(some) <= set(out)
    assert len(some) + int(more.removesuffix(" more")) == len(out)
    assert f"{next(iter(rows(table)))} leads" in sentences


@pytest.mark.parametrize(
    "sentence",
    [
        r"'\S+' leads in [\d.]+ % of resamples of your questions \(needed: 90 %\)\.",
        r"Cheapest cell not ruled out: \S+, [\d,]+ tokens a question[.;]",
        r"The leader \S+ misses 0\.\d{3} of the recall\. Where the gold is, and what to do:",
    ],
)
def test_the_shown_verdict_has_the_sentences_of_a_run(sentence: str, shown: list[str], printed: list[str]) -> None:
    assert re.search(sentence, " ".join(shown))
    assert re.search(sentence, " ".join(printed))


def test_the_questions_of_the_readme_are_a_question_file() -> None:
    (question,) = questions_from_text(block(README, "questions:", "yaml"))

    assert question.slots == (("Refunds reach the card within 14 days.",),)


def test_the_chunker_of_the_readme_runs_from_its_file(tmp_path: Path) -> None:
    (code,) = blocks(README, "python")
    docs = tmp_path / "docs"
    docs.mkdir()
    paragraphs = [f"Paragraph {number} is about boats." for number in range(1, 8)]
    (docs / "boats.md").write_text("\n\n".join(paragraphs), encoding="utf-8")
    (tmp_path / "by_block.py").write_text(code, encoding="utf-8")
    (tmp_path / "config.yaml").write_text(block(README, "# config.yaml", "yaml") + "retrieval: {mode: bm25}\n")
    (tmp_path / "questions.yaml").write_text(
        "questions: [{id: a, query: boats, gold_snippets: [Paragraph 7 is about boats.]}]"
    )

    report = evaluate(docs, tmp_path / "questions.yaml", tmp_path / "config.yaml", cache=tmp_path / "cache")

    ours = report.chunks["by_block.py:ByBlock"]
    text = "\n\n".join(paragraphs)
    assert [text[chunk.start : chunk.end].count("Paragraph") for chunk in ours] == [6, 1]
    assert {cell.strategy: cell.recall_at_k for cell in report.cells} == {"by_block.py:ByBlock": 1.0, "structure": 1.0}
