"""docs/benchmarks.md is complete: a command and fifteen cells for each question set."""

import re

import pytest
from pages import ROOT, blocks, read, tables

from benchmarks.tables import PAGE, QUESTION_SETS, command

SCORED = {"chunklab_example": 129, "chroma": 472, "qasper": 44, "privacy_qa": 194}
STRATEGIES = ("fixed", "recursive", "semantic", "semantic_no_floor", "structure")
CELLS = {f"{strategy}/{retriever}" for strategy in STRATEGIES for retriever in ("dense", "bm25", "hybrid")}


def section(name: str) -> str:
    (title,) = [each.title for each in QUESTION_SETS if each.name == name]
    return read(PAGE).split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_page_is_at_its_linked_path() -> None:
    assert PAGE == ROOT / "docs" / "benchmarks.md"
    assert [each.name for each in QUESTION_SETS] == list(SCORED)


@pytest.mark.parametrize("name", SCORED)
def test_a_set_has_its_command_and_its_count(name: str) -> None:
    assert " ".join(["python", *command(name)]) in section(name)
    assert f"\n{SCORED[name]} scored questions" in section(name)


@pytest.mark.parametrize("name", SCORED)
def test_a_set_has_fifteen_ranked_cells_of_eleven_columns(name: str) -> None:
    (table,) = tables(section(name))
    titles, *rows = table

    assert {row[0] for row in rows} == CELLS
    assert len(rows) == 15
    assert {len(row) for row in rows} == {len(titles)} == {11}


@pytest.mark.parametrize("name", SCORED)
def test_the_figures_of_a_set_are_consistent(name: str) -> None:
    """Shares are in [0, 1], P(best) adds up to 1, intervals contain their mean, cells are in order of rank."""
    titles, *rows = tables(section(name))[0]
    cells = [dict(zip(titles, row, strict=True)) for row in rows]
    shares = ("recall@5", "hit", "MRR", "precision", "efficiency", "P(best)")

    assert all(0 <= float(cell[title]) <= 1 for cell in cells for title in shares)
    assert sum(float(cell["P(best)"]) for cell in cells) == pytest.approx(1, abs=0.01)
    for cell in cells:
        low, high = (float(bound) for bound in cell["95 % CI"].split(" to "))
        assert low <= float(cell["recall@5"]) + 0.005
        assert float(cell["recall@5"]) <= high + 0.005
    standing = [cell["standing"] for cell in cells]
    assert standing == sorted(standing)  # "in play" before "ruled out"
    for kind in set(standing):
        ranked = [float(cell["balanced"]) for cell in cells if cell["standing"] == kind]
        assert ranked == sorted(ranked, reverse=True)


@pytest.mark.parametrize("name", SCORED)
def test_a_set_has_its_verdict_and_its_seconds(name: str) -> None:
    runs = re.findall(r"run: [\d,]+ s, [\d,]+ CPU s; (\d+) of (\d+) stage results reused", section(name))

    assert re.search(r"^Verdict: (winner|leans|undecided|tied)\. ", section(name), re.MULTILINE)
    assert len(runs) == 2
    assert runs[1][0] == runs[1][1]  # the second run reuses everything


def test_the_page_names_no_machine() -> None:
    text = read(PAGE)

    assert not re.search(r"(?<![\w.])/(?:home|root|tmp|work|Users)/", text)
    assert len(blocks(PAGE)) == len(SCORED)
