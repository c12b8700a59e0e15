"""What stands around the verdict, through whole runs on worlds whose answers can be worked out by eye."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from chunklab_core import graph, pipeline
from chunklab_core.cache.store import Store
from chunklab_core.records.report import Report
from chunklab_core.report.json import report_to_mapping
from chunklab_core.select import select_winner
from chunklab_core.stages.prepare import prepare

EXAMPLE = Path(__file__).parents[3] / ".." / "shared" / "benchmarks" / "chunklab_example"

CHUNKERS = '''
from chunklab_core.records import Span


class Whole:
    def __call__(self, document):
        return [Span(0, len(document.text))]


class Halves:
    """Cuts every document in the middle, through the answer of a long one."""

    def __call__(self, document):
        half = len(document.text) // 2
        return [Span(0, half), Span(half, len(document.text))]
'''
DOCUMENTS = {
    "apples.txt": "Apples are picked in autumn. " + "The orchard is old and quiet and wide. " * 3,
    "pears.txt": "The ladders stand in the old barn. " * 3 + "Pears are picked in August.",
    "plums.txt": "Nothing is said of the weather here. Plums are stored in wooden boxes. Nor of the wind there.",
}
QUESTIONS: list[dict[str, Any]] = [
    {"id": "apples", "query": "When are apples picked?", "gold_snippets": ["Apples are picked in autumn."]},
    {"id": "pears", "query": "When are pears picked?", "gold_snippets": ["Pears are picked in August."]},
    {"id": "plums", "query": "Where are plums stored?", "gold_snippets": ["Plums are stored in wooden boxes."]},
]
TAGS = {"apples": ["time"], "pears": ["time"], "plums": ["place", "boxes"]}


class World:
    """One chunk is retrieved. Whole documents hold every answer; halves cut that of the plums, and cost half."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "docs").mkdir()
        for name, text in DOCUMENTS.items():
            (folder / "docs" / name).write_text(text)
        (folder / "mine.py").write_text(CHUNKERS)
        self.questions: list[dict[str, Any]] = [{**one, "tags": TAGS[one["id"]]} for one in QUESTIONS]
        self.labels = ("whole", "halves")

    def settings(self, **retrieval: Any) -> dict[str, Any]:
        names = zip(self.labels, ("Whole", "Halves"), strict=True)
        return {
            "retrieval": {"mode": "bm25", "top_k": [1, 2], **retrieval},
            "strategies": [{"name": f"{self.folder / 'mine.py'}:{of}", "label": label} for label, of in names],
        }

    def write(self) -> Path:
        path = self.folder / "questions.yaml"
        path.write_text(yaml.safe_dump({"questions": self.questions}), encoding="utf-8")
        return path

    def report(self) -> Report:
        return pipeline.evaluate(self.folder / "docs", self.write(), self.settings(), cache=self.folder / "cache")

    def keys(self) -> dict[str, set[str]]:
        store = Store(self.folder / "cache")
        work = graph.nodes(store, prepare(self.folder / "docs", self.write(), self.settings(), store))
        return {one.stage: {other.ref for other in work if other.stage == one.stage} for one in work}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    report = World(tmp_path_factory.mktemp("world")).report()
    mapping: dict[str, Any] = json.loads(json.dumps(report_to_mapping(report)))
    return mapping


def cell_of(found: dict[str, Any], strategy: str) -> dict[str, Any]:
    return next(cell for cell in found["cells"] if cell["strategy"] == strategy)


def test_recall_by_tag_counts_the_questions_with_the_tag(found: dict[str, Any]) -> None:
    assert {tag: (part["n"], part["recall"]) for tag, part in cell_of(found, "halves")["by_tag"].items()} == {
        "boxes": (1, 0.0),
        "place": (1, 0.0),
        "time": (2, 1.0),
    }
    assert {part["recall"] for part in cell_of(found, "whole")["by_tag"].values()} == {1.0}


def test_recall_by_document_counts_the_questions_whose_gold_stands_there(found: dict[str, Any]) -> None:
    by_document = cell_of(found, "halves")["by_document"]

    assert {name: part["recall"] for name, part in by_document.items()} == {
        "apples.txt": 1.0,
        "pears.txt": 1.0,
        "plums.txt": 0.0,
    }


def test_recall_by_gold_length_knows_a_phrase(found: dict[str, Any]) -> None:
    by_length = cell_of(found, "halves")["by_gold_length"]

    assert {name: part["n"] for name, part in by_length.items()} == {"1 to 25 tokens": 3}
    assert by_length["1 to 25 tokens"]["recall"] == pytest.approx(2 / 3)


def test_the_strategy_moved_recall_by_the_one_answer_that_was_cut(found: dict[str, Any]) -> None:
    (axis,) = found["axes"]["effects"]

    assert (axis["axis"], axis["moved"]) == ("strategy", pytest.approx(1 / 3))
    assert [level["level"] for level in axis["levels"]] == ["whole", "halves"]
    assert axis["share_of_variance"] == pytest.approx(1.0)


def test_both_cells_are_worth_a_look_and_the_price_decides(found: dict[str, Any]) -> None:
    whole, halves = (cell_of(found, label)["retrieved_tokens_at_k"] for label in ("whole", "halves"))
    price = (1 / 3) / (whole / halves - 1)  # where the recall that whole documents win is paid for in full

    assert found["pareto"] == {"front": ["halves/bm25", "whole/bm25"], "dominated": []}
    assert found["lambda_range"]["first"] == {
        "cell": "whole/bm25", "low": 0.0, "high": pytest.approx(price), "undefined": {},
    }  # fmt: skip
    assert found["lambda_range"]["above"] == "halves/bm25"


def test_the_lead_is_looked_at_under_the_other_k(found: dict[str, Any]) -> None:
    views = {view["name"]: view["holds"] for view in found["stability"]["views"]}

    assert found["stability"]["leader"] == "whole/bm25"
    assert views["k = 2"]  # two halves hold no answer that one chunk of a whole document lacks
    assert {view["kind"] for view in found["stability"]["views"]} == {"k", "lambda"}  # nothing is worth halving


def test_strata_ask_by_tag_and_by_document(found: dict[str, Any]) -> None:
    assert [(one["by"], one["leader"], one["rival"]) for one in found["strata"]] == [
        ("tag", "whole/bm25", "halves/bm25"),
        ("document", "whole/bm25", "halves/bm25"),
    ]
    gaps = {one["part"]: one["gap"] for one in found["strata"][1]["parts"]}
    assert gaps == {"apples.txt": 0.0, "pears.txt": 0.0, "plums.txt": 1.0}


def test_near_duplicates_are_named_and_warned_of(world: World) -> None:
    world.questions.append({**world.questions[0], "id": "again", "query": "In which season are apples harvested?"})
    report = world.report()

    assert report_to_mapping(report)["question_groups"] == [["apples", "again"]]
    (warning,) = (one for one in report.warnings if one.code == "near_duplicate_questions")
    assert warning.message.startswith("2 of 4 questions are near-duplicates. They form 1 group; ")
    assert "apples, again" in warning.message


def test_copies_of_a_question_make_no_interval_narrower(world: World) -> None:
    widths = {}
    for n_copies in (1, 30):
        copies = range(n_copies)
        world.questions = [
            {**one, "id": f"{one['id']}-{at}", "query": f"{'Again: ' * at}{one['query']}"}
            for one in QUESTIONS
            for at in copies
        ]
        cell = next(cell for cell in world.report().cells if cell.strategy == "halves")
        assert cell.recall_at_k == pytest.approx(2 / 3)
        assert cell.ci95_wilson is not None  # three questions, however often they are asked
        widths[n_copies] = cell.ci95[1] - cell.ci95[0], cell.ci95_wilson[1] - cell.ci95_wilson[0]

    assert widths[30] == pytest.approx(widths[1])


def test_without_near_duplicates_nothing_is_said_of_them(found: dict[str, Any]) -> None:
    assert found["question_groups"] == []
    assert "near_duplicate_questions" not in {one["code"] for one in found["warnings"]}


def test_gold_that_stands_nowhere_belongs_to_no_document(world: World) -> None:
    world.questions.append({"id": "lost", "query": "Who owns it?", "gold_snippets": ["The orchard belongs to nobody."]})

    found = report_to_mapping(world.report())

    assert list(found["cells"][0]["by_document"]) == sorted(DOCUMENTS)
    assert found["cells"][0]["by_gold_length"]["1 to 25 tokens"]["n"] == 4


@pytest.mark.parametrize(
    ("change", "stages"),
    [
        (lambda world: world.questions[0].update(tags=["season"]), {"survey"}),
        (lambda world: world.questions[0].update(reviewed=True), set()),
        (lambda world: setattr(world, "labels", ("a", "b")), set()),
        (lambda world: world.questions[0].update(documents=["apples.txt"]),
         {"locate", "match", "ceiling", "score", "select", "survey"}),
    ],
)  # fmt: skip
def test_what_is_edited_changes_the_keys_of_those_who_read_it(
    world: World, change: Callable[[World], None], stages: set[str]
) -> None:
    before = world.keys()
    change(world)
    after = world.keys()

    assert {stage for stage in after if after[stage] != before[stage]} == stages


def test_another_order_of_the_strategies_tells_the_same(world: World, found: dict[str, Any]) -> None:
    settings = world.settings()
    settings["strategies"].reverse()
    again = report_to_mapping(
        pipeline.evaluate(world.folder / "docs", world.write(), settings, cache=world.folder / "cache")
    )

    for key in ("axes", "pareto", "lambda_range", "stability", "strata"):
        assert again[key] == found[key]
    for label in ("whole", "halves"):
        for key in ("by_tag", "by_document", "by_gold_length"):
            assert cell_of(again, label)[key] == cell_of(found, label)[key]


@pytest.mark.skipif(not EXAMPLE.is_dir(), reason="needs ../shared/benchmarks beside the repository")
def test_twenty_facts_in_six_wordings_are_twenty_questions(tmp_path: Path) -> None:  # seconds: it parses real PDFs
    typed = yaml.safe_load((EXAMPLE / "questions.yaml").read_text("utf-8"))["questions"]
    apart, seen = [], set[str]()
    for question in typed:  # twenty whose answers differ
        gold = json.dumps(question["gold_snippets"])
        if gold not in seen and len(apart) < 20:
            seen.add(gold)
            apart.append(question)
    wordings = ("{}", "Please tell me: {}", "{} Be exact.", "A customer asks: {}", "{} Name the source.", "Again: {}")
    copies = [
        {**question, "id": f"{question['id']}-{at}", "query": wording.format(question["query"])}
        for question in apart
        for at, wording in enumerate(wordings)
    ]
    settings = {
        "retrieval": {"mode": "bm25"},
        "strategies": [
            {"name": "fixed", "label": str(size), "params": {"chunk_size": size, "overlap": 0}} for size in (256, 512)
        ],
    }

    def report_of(questions: list[dict[str, Any]]) -> Report:
        path = tmp_path / "questions.yaml"
        path.write_text(yaml.safe_dump({"questions": questions}), encoding="utf-8")
        return pipeline.evaluate(EXAMPLE / "docs", path, settings, cache=tmp_path / "cache")

    single, many = report_of(apart), report_of(copies)

    assert single.question_groups == ()
    assert [len(group) for group in many.question_groups] == [6] * 20
    assert many.verdict.status == single.verdict.status
    assert many.verdict.leader == single.verdict.leader
    alone = select_winner([[row.recall for row in cell.per_question] for cell in many.cells])
    assert (alone.status, single.verdict.status) == ("winner", "leans")  # what copies do where they are not found
    (warning,) = (one for one in many.warnings if one.code == "near_duplicate_questions")
    assert warning.message.startswith("120 of 120 questions are near-duplicates. They form 20 groups; ")
