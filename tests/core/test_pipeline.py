"""Whole runs in this process on a small world, with a chunker and an embedder of the user's own."""

import os
from pathlib import Path
from typing import Any

import pytest

from chunklab_core import graph, pipeline
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError, ContractError
from chunklab_core.parse import files
from chunklab_core.records.report import Report
from chunklab_core.stages.prepare import prepare
from chunklab_core.stages.stage import Node

PLUGINS = '''
from pathlib import Path

import numpy as np

from chunklab_core.records import Span

CALLS = Path(__file__).with_name("calls.txt")


class Letters:
    """Counts of the letters."""

    def __call__(self, texts):
        with CALLS.open("a") as file:
            file.writelines(f"{text!r}\\n" for text in texts)
        return np.array([[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts], dtype=np.float32)


class Whole:
    def __call__(self, document):
        return [Span(0, len(document.text))]


class ByName(Whole):
    """Leaves all documents but one whole, by the id."""

    def __call__(self, document):
        half = len(document.text) // 2
        cuts = [Span(0, half), Span(half, len(document.text))]
        return cuts if document.doc_id == "cut.txt" else super().__call__(document)


class Asks(Whole):
    def __init__(self, embed, times=1):
        embed(["asked"] * times)
        self.embed = embed


class NeedsSize(Whole):
    def __init__(self, size):
        self.size = size


class Fails:
    def __call__(self, document):
        raise KeyError("late")


class Nothing:
    def __call__(self, document):
        return []


class Pairs:
    def __call__(self, document):
        return [(0, len(document.text))]
'''
QUESTIONS = """
questions:
  - {id: refunds, query: How long do refunds take?, gold_snippets: [Refunds take five days.]}
  - {id: parcels, query: When do parcels arrive?, gold_snippets: [Parcels arrive after three days.]}
"""


class World:
    def __init__(self, folder: Path) -> None:
        self.folder, self.docs = folder, folder / "docs"
        self.docs.mkdir()
        (self.docs / "refunds.txt").write_text("Refunds take five days.")
        (self.docs / "parcels.txt").write_text("Parcels arrive after three days.")
        (folder / "questions.yaml").write_text(QUESTIONS)
        (folder / "mine.py").write_text(PLUGINS)

    def name(self, of: str) -> str:
        return f"{self.folder / 'mine.py'}:{of}"

    def settings(self, *strategies: dict[str, Any], mode: str = "bm25") -> dict[str, Any]:
        return {
            "embedding": {"model": self.name("Letters")},
            "retrieval": {"mode": mode},
            "strategies": list(strategies) or [{"name": "fixed"}],
        }

    @property
    def store(self) -> Store:
        return Store(self.folder / "cache")

    def nodes(self, settings: dict[str, Any]) -> list[Node]:
        inputs = prepare(self.docs, self.folder / "questions.yaml", settings, self.store)
        return graph.nodes(self.store, inputs)

    def run(self, settings: dict[str, Any], refresh: tuple[str, ...] = ()) -> None:
        work = self.nodes(settings)
        graph.nodes_to_run(self.store, work, refresh)
        for one in work:
            pipeline.run_stage(one.stage, self.store, label=one.label, **one.arguments)

    def report(self, settings: dict[str, Any]) -> Report:
        return pipeline.evaluate(self.docs, self.folder / "questions.yaml", settings, cache=self.folder / "cache")

    def texts_sent(self) -> int:
        calls = self.folder / "calls.txt"
        return len(calls.read_text().splitlines()) if calls.exists() else 0


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_file_that_changes_during_a_run_ends_it_and_leaves_nothing_behind(world: World) -> None:
    path, settings = world.docs / "parcels.txt", world.settings()
    typed = path.read_text()
    work = world.nodes(settings)
    path.write_text("half saved")

    with pytest.raises(ConfigError, match=r"parcels\.txt changed during the run"):
        pipeline.run_stage("parse", world.store, label="documents", **work[0].arguments)
    path.write_text(typed)

    assert [entry.id for entry in world.report(settings).documents] == ["parcels.txt", "refunds.txt"]


def test_a_cache_that_lies_among_the_documents_is_none_of_them(world: World) -> None:
    def report() -> Report:
        return pipeline.evaluate(
            world.docs, world.folder / "questions.yaml", world.settings(), cache=world.docs / "cache"
        )

    first, again = report(), report()

    assert first.skipped == again.skipped == ()
    assert sum(stage.run for stage in again.provenance.run.stages.values()) == 0


def test_a_file_whose_name_is_not_utf8_is_skipped_with_the_reason(world: World) -> None:
    odd = os.fsdecode(b"caf\xe9.txt")
    try:
        (world.docs / odd).write_text("Coffee costs 3 EUR.")
    except OSError:
        pytest.skip("this file system takes no such name")

    (left_out,) = world.report(world.settings()).skipped
    assert (left_out.path, left_out.reason) == (
        "caf\\udce9.txt",
        "has a name or a folder whose name is not UTF-8; rename it",
    )

    world.docs = world.docs.rename(world.folder / odd)
    with pytest.raises(ConfigError, match=r"is not UTF-8. Rename its folders") as caught:
        world.report(world.settings())
    assert str(caught.value).isascii()


def test_a_refreshed_stage_does_its_work_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = world.settings(mode="dense")
    world.run(settings)
    parsed: list[str] = []
    parse_file = files.parse_file

    def watched(file: Any, folder: Path, pdf: str) -> Any:
        parsed.append(file.doc_id)
        return parse_file(file, folder, pdf)

    monkeypatch.setattr(files, "parse_file", watched)
    world.run(settings)
    assert (parsed, world.texts_sent()) == ([], 4)

    world.run(settings, refresh=("parse",))
    assert (parsed, world.texts_sent()) == (["parcels.txt", "refunds.txt"], 4)

    world.run(settings, refresh=("embed",))
    assert (len(parsed), world.texts_sent()) == (2, 8)


@pytest.mark.parametrize("mode", ["dense", "bm25", "hybrid"])
def test_documents_without_any_text_are_searched_and_nothing_is_found(world: World, mode: str) -> None:
    for path in world.docs.iterdir():
        path.write_text(" \n")
    report = world.report(world.settings(mode=mode))

    assert [cell.recall_at_k for cell in report.cells] == [0.0]
    assert {warning.code for warning in report.warnings} >= {"document"}


def test_a_chunker_of_the_users_may_look_at_the_documents_name(world: World) -> None:
    settings = world.settings({"name": world.name("ByName")})
    assert world.report(settings).health[0].n_chunks == 2
    (world.docs / "parcels.txt").rename(world.docs / "cut.txt")

    assert world.report(settings).health[0].n_chunks == 3


def test_a_chunker_of_the_users_that_asks_for_an_embedder_gets_the_one_it_names(world: World) -> None:
    strategy = {"name": world.name("Asks"), "params": {"times": 3}}
    with pytest.raises(ConfigError, match="no parameter 'model'"):
        world.report(world.settings({**strategy, "params": {"model": world.name("Letters")}}))

    (world.folder / "mine.py").write_text(PLUGINS.replace("embed, times=1", "embed, times=1, model=None"))
    world.report(world.settings({**strategy, "params": {"times": 3, "model": world.name("Letters")}}))
    assert world.texts_sent() == 1  # three times one text


def test_plugin_files_are_looked_for_beside_the_configuration_that_names_them(world: World) -> None:
    path = world.folder / "config.yaml"
    path.write_text(
        "embedding: {model: 'mine.py:Letters'}\n"
        "strategies: [{name: 'mine.py:Whole'}, {name: semantic, params: {model: 'mine.py:Letters'}}]\n"
    )
    report = pipeline.evaluate(world.docs, world.folder / "questions.yaml", path, cache=world.folder / "cache")

    assert [cell.strategy for cell in report.cells] == ["mine.py:Whole", "semantic"]
    assert str(world.folder) not in str(report.provenance.config)


def test_one_that_takes_no_name_of_a_model_gets_the_bundled_one_and_no_parameter(world: World) -> None:
    chunk = next(one for one in world.nodes(world.settings({"name": world.name("Asks")})) if one.stage == "chunk")

    assert chunk.arguments["strategy"]["params"] == {}
    assert chunk.arguments["model_place"]["name"] == "all-MiniLM-L6-v2"


@pytest.mark.parametrize("key", ["name", "embed", "base"])
def test_a_parameter_that_means_something_else_is_refused_by_name(world: World, key: str) -> None:
    with pytest.raises(ConfigError, match=f"has the reserved name '{key}'"):
        world.report(world.settings({"name": "fixed", "params": {key: "x"}}))


@pytest.mark.parametrize(
    ("chunker", "error", "message"),
    [
        ("NeedsSize", ConfigError, r"cannot be made from its parameters: .*'size'"),
        ("Fails", ContractError, r"Fails failed on 'parcels\.txt': KeyError: 'late' \(mine\.py, line \d+\)"),
        ("Pairs", ContractError, r"Pairs returned \(0, 32\) for 'parcels\.txt'; .* Span or Cut"),
    ],
)
def test_a_chunker_that_breaks_is_named_in_one_line(
    world: World, chunker: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        world.report(world.settings({"name": world.name(chunker)}))


def test_wilsons_interval_stands_beside_the_other_only_where_it_is_needed(world: World) -> None:
    rows = (
        f"{{id: q{at}, query: How long is refund {at}?, gold_snippets: [Refund {at} is slow.]}}" for at in range(40)
    )
    lines = ["questions:", *(f"  - {row}" for row in rows)]
    (world.docs / "refunds.txt").write_text(" ".join(f"Refund {at} is slow." for at in range(0, 40, 2)))
    (world.folder / "questions.yaml").write_text("\n".join(lines))
    cell = world.report(world.settings()).cells[0]

    assert cell.recall_at_k == 0.5
    assert cell.ci95_wilson is None  # 40 questions that do not move together, mean far from 0 and 1


def test_equal_strategies_under_two_labels_are_one_node(world: World) -> None:
    twins = [{"name": "fixed", "label": "one"}, {"name": "fixed", "label": "two"}]
    report = world.report(world.settings(*twins))

    assert [cell.cell for cell in report.cells] == ["one/bm25", "two/bm25"]
    assert {stage: reuse.run for stage, reuse in report.provenance.run.stages.items()} == {
        "parse": 1,
        "chunk": 1,
        "health": 1,
        "index": 1,
        "retrieve": 1,
        "locate": 1,
        "match": 1,
        "ceiling": 1,
        "score": 1,
        "select": 1,
        "survey": 1,
    }


def test_gold_that_stands_in_no_document_is_told_from_gold_that_no_cell_finds(world: World) -> None:
    (world.folder / "questions.yaml").write_text(
        f"{QUESTIONS}  - {{id: lost, query: Where?, gold_snippets: [Not here.]}}\n"
        "  - {id: cut, query: zebra, gold_snippets: [[Nowhere., Refunds take five days.]]}\n"
        "  - {id: elsewhere, query: Refunds?, gold_snippets: [Refunds take five days.], documents: [parcels.txt]}\n"
    )
    messages = {warning.code: warning.message for warning in world.report(world.settings()).warnings}

    assert "2 questions: lost, elsewhere" in messages["gold_not_in_documents"]
    assert "1 question: cut" in messages["found_by_no_cell"]  # no word of its query stands anywhere


def test_a_chunker_that_makes_nothing_is_told_so(world: World) -> None:
    report = world.report(world.settings({"name": world.name("Nothing")}))

    assert ("no_chunks", "error") in {(warning.code, warning.severity) for warning in report.warnings}
    assert "k_covers_all" not in {warning.code for warning in report.warnings}
