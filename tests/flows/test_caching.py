"""What a run makes and what it reuses, by Prefect's own states of its task runs; the change table has the rest."""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from worlds import DOCUMENTS, LOCATE, QUESTIONS, SELECT, Run, World, branch, cells, of_strategies

from chunklab_core.stages import all_stages

pytestmark = pytest.mark.prefect

ALL = {"parse documents", "embed questions", *LOCATE, *branch("fixed"), *branch("semantic"), *SELECT}


def text_of(figures: dict[str, Any]) -> str:
    """As in report.json: order and every digit count."""
    return json.dumps(figures)


def recall_of(run: Run, question_id: str) -> float:
    """The sum of a question's recall over all cells."""
    questions = (question for cell in run.report["cells"] for question in cell["per_question"])
    return sum(question["recall"] for question in questions if question["id"] == question_id)


def test_the_first_run_makes_every_node(first: tuple[World, Run]) -> None:
    assert first[1].states == dict.fromkeys(ALL | {"report"}, "Completed")


def test_the_flow_finds_what_an_evaluation_in_this_process_finds(first: tuple[World, Run], tmp_path: Path) -> None:
    world, run = first

    assert text_of(world.evaluate(tmp_path)) == text_of(run.figures)


def test_no_text_is_embedded_twice_and_the_report_has_no_path_of_this_machine(first: tuple[World, Run]) -> None:
    world, run = first

    assert len(run.seen) == len(set(run.seen))
    assert str(world.folder) not in text_of(run.report)


def test_a_second_run_makes_only_the_report_and_counts_the_rest(first: tuple[World, Run], world: World) -> None:
    again = world.run()

    assert again.states == {**dict.fromkeys(ALL, "Cached"), "report": "Completed"}
    assert again.seen == []
    assert text_of(again.figures) == text_of(first[1].figures)
    stages = again.report["provenance"]["run"]["stages"]
    assert {stage: counts["run"] for stage, counts in stages.items()} == dict.fromkeys(all_stages(), 0)
    assert sum(counts["reused"] for counts in stages.values()) == len(ALL)


def test_another_label_and_another_report_folder_make_nothing_again(world: World) -> None:
    fixed, semantic = world.strategies()
    elsewhere = world.folder / "elsewhere"

    again = world.run("--out", str(elsewhere), strategies=[{**fixed, "label": "plain"}, semantic])

    assert again.made == set()
    assert again.states["chunk plain"] == "Cached"
    assert (elsewhere / "report.json").is_file()


def test_a_parameter_of_one_strategy_runs_only_that_strategy(first: tuple[World, Run], world: World) -> None:
    fixed, semantic = world.strategies()

    again = world.run(strategies=[{**fixed, "params": {"chunk_size": 12, "overlap": 2}}, semantic])

    assert again.made == branch("fixed") | SELECT
    assert again.seen
    assert not set(again.seen) & set(first[1].seen)


def test_one_more_question_embeds_that_question_and_no_chunk(world: World) -> None:
    query = "When does the garden open?"
    world.write(questions=[*QUESTIONS, {"id": "open", "query": query, "gold_snippets": ["opens at nine"]}])

    again = world.run()

    placed = LOCATE | of_strategies("match", "ceiling")
    assert again.made == {"embed questions", *cells("retrieve"), *placed, *cells("score"), *SELECT}
    assert again.seen == [query]


def test_one_word_in_one_document_embeds_only_its_new_texts(first: tuple[World, Run], world: World) -> None:
    """Name, size and time of the file stay the same: only its content shows the change."""
    path = world.docs / "garden.txt"
    before = path.stat()
    path.write_text(DOCUMENTS["garden.txt"].replace("Dogs", "Cats"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size

    again = world.run()

    assert {"parse documents", *branch("fixed"), *branch("semantic")} <= again.made
    assert any("Cats" in text for text in again.seen)
    assert not set(again.seen) & set(first[1].seen)
    document = " ".join(path.read_text(encoding="utf-8").split())
    assert all(" ".join(text.split()) in document for text in again.seen)
    assert recall_of(first[1], "dogs") > 0
    assert recall_of(again, "dogs") == 0  # "Dogs are welcome on a lead." stands nowhere now


def test_a_stage_is_made_again_on_request(world: World) -> None:
    again = world.run("--refresh", "chunk", "--refresh", "embed")

    assert again.made == {"embed questions", *of_strategies("chunk", "embed")}
    assert {question["query"] for question in QUESTIONS} <= set(again.seen)


# ---------------------------------------------------------------- damage


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite_start(path: Path) -> None:
    path.write_bytes(bytes(range(100, 120)) + path.read_bytes()[20:])


def damage(files: Iterable[Path], *ways: Callable[[Path], None]) -> int:
    """Damages every file, in each of the ways in turn."""
    found = sorted(files)
    for at, path in enumerate(found):
        ways[at % len(ways)](path)
    return len(found)


def test_damaged_results_are_made_again_with_the_same_figures(first: tuple[World, Run], world: World) -> None:
    results = (path for stage in all_stages() for path in (world.cache / "results" / stage).rglob("*"))
    n_damaged = damage((path for path in results if path.is_file()), delete, halve, overwrite_start, empty)

    again = world.run()

    assert n_damaged == len(ALL)
    assert text_of(again.figures) == text_of(first[1].figures)
    assert again.made == ALL
    assert again.seen == []  # the vectors are whole


def test_a_damaged_shelf_of_items_is_made_again_if_it_is_needed(world: World, tmp_path: Path) -> None:
    assert damage((world.cache / "items").rglob("*.sqlite"), overwrite_start, halve, delete) == 4

    again = world.run("--set", "retrieval.bm25.k1=2.0")

    expected = world.evaluate(tmp_path / "fresh", "retrieval.bm25.k1=2.0")
    assert text_of(again.figures) == text_of(expected)
    assert {"parse documents", *of_strategies("chunk")} <= again.made


def test_damaged_records_of_prefect_are_made_again(first: tuple[World, Run], world: World) -> None:
    n_damaged = damage((path for path in (world.cache / "prefect").rglob("*") if path.is_file()), delete, empty, halve)

    again, third = world.run(), world.run()

    assert n_damaged == len(ALL)
    for run in (again, third):
        assert text_of(run.figures) == text_of(first[1].figures)
        assert run.seen == []
    assert third.made == set()
