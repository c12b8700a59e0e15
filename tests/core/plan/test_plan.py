"""What --plan says: which results would be made, why, how much of each is new, and how long that takes."""

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chunklab_core import graph, pipeline
from chunklab_core.cache import keys as fingerprint
from chunklab_core.cache import run_records, runs
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.run_records import Effort, RunRecord
from chunklab_core.cache.store import Store
from chunklab_core.models import card as models
from chunklab_core.plan import reasons as changes
from chunklab_core.plan.estimates import History
from chunklab_core.plan.plan import Amount, Plan, Step, make_plan, plan_to_mapping, recorded
from chunklab_core.plan.reasons import LOST, NEVER, NEW, REFRESHED, document_changes, question_changes
from chunklab_core.plan.text import duration, plan_text
from chunklab_core.records.report import Report
from chunklab_core.stages import all_stages
from chunklab_core.stages.prepare import prepare
from chunklab_core.stages.stage import Node, Stage

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

Chosen = dict[str, Any]
Change = Callable[["World"], object]


class World:
    """Three documents, two questions, settings, and a cache; what is changed in it is changed for the next run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.docs = folder, folder / "docs"
        self.questions = copy.deepcopy(QUESTIONS)
        self.settings: Chosen = {
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
    def asked_in(self) -> Path:
        path = self.folder / "questions.yaml"
        path.write_text(json.dumps({"questions": self.questions}))
        return path

    def run(self) -> Report:
        return pipeline.evaluate(self.docs, self.asked_in, self.settings, cache=self.store.root)

    def prepared(self) -> tuple[Ref, list[Node]]:
        inputs = prepare(self.docs, self.asked_in, self.settings, self.store)
        return inputs, graph.nodes(self.store, inputs)

    def plan(self, refresh: Collection[str] = ()) -> Plan:
        return make_plan(self.store, *self.prepared(), refresh)

    def reasons(self) -> dict[str, list[str]]:
        """By stage and label, why each node would run."""
        return {f"{step.stage} {step.label}": list(step.reasons) for step in self.plan().steps if step.runs}


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("plan")).write()
    world.run()
    return world


@pytest.fixture
def world(evaluated: World, tmp_path: Path) -> World:
    """The world after a run, to be changed."""
    shutil.copytree(evaluated.folder, tmp_path, dirs_exist_ok=True)
    return World(tmp_path)


def typed(section: str, key: str, value: object) -> Change:
    return lambda world: world.settings.setdefault(section, {}).update({key: value})


def question(at: int, key: str, value: object) -> Change:
    return lambda world: world.questions[at].update({key: value})


def rewritten(name: str, text: str) -> Change:
    return lambda world: (world.folder / name).write_text(text)


CHANGES: dict[str, tuple[Change, dict[str, list[str]]]] = {
    "nothing": (lambda world: None, {}),
    "a parameter": (
        lambda world: world.settings["strategies"][0]["params"].update(chunk_size=6),
        {"chunk fixed": ["chunk_size 8 -> 6"], "embed fixed": ["follows chunk fixed"]},
    ),
    "a parameter more": (
        lambda world: world.settings["strategies"][0]["params"].update(heading_path=True),
        {"chunk fixed": ["heading_path false -> true"]},
    ),
    "a document edited": (
        rewritten("docs/refunds.txt", "Refunds take six days."),
        {"parse documents": ["refunds.txt edited"], "chunk fixed": ["follows parse documents"]},
    ),
    "a document added": (rewritten("docs/dogs.txt", "Dogs may enter."), {"parse documents": ["dogs.txt added"]}),
    "a document removed": (
        lambda world: (world.docs / "garden.txt").unlink(),
        {"parse documents": ["garden.txt removed"]},
    ),
    "a document renamed": (
        lambda world: (world.docs / "garden.txt").rename(world.docs / "park.txt"),
        {"parse documents": ["garden.txt renamed to park.txt"]},
    ),
    "a query edited": (
        question(0, "query", "How long?"),
        {
            "embed questions": ["query of question refunds edited"],
            "retrieve fixed/bm25": ["query of question refunds edited"],
            "retrieve fixed/dense": ["follows embed questions"],
        },
    ),
    "gold edited": (
        question(0, "gold_snippets", ["five days"]),
        {
            "score fixed/dense": ["gold of question refunds edited"],
            "score halves/bm25": ["gold of question refunds edited"],
            "select all cells": ["gold of question refunds edited", "follows locate gold"],
        },
    ),
    "the documents of a question": (
        question(0, "documents", ["refunds.txt"]),
        {"score fixed/dense": ["documents of question refunds edited"]},
    ),
    "a question added": (
        lambda world: world.questions.append({"id": "opens", "query": "When?", "gold_snippets": ["at nine"]}),
        {
            "embed questions": ["question opens added"],
            "score fixed/bm25": ["question opens added"],
        },
    ),
    "a question removed": (lambda world: world.questions.pop(), {"embed questions": ["question parcels removed"]}),
    "a question renamed": (
        question(0, "id", "money"),
        {"score fixed/bm25": ["question refunds renamed to money"]},
    ),
    "questions in another order": (
        lambda world: world.questions.reverse(),
        {"embed questions": ["order of the questions changed"]},
    ),
    "a model replaced in place": (
        rewritten("letters.py", LETTERS.replace("26", "25")),
        {
            "embed questions": ["embedding model letters.py:Letters replaced"],
            "embed fixed": ["embedding model letters.py:Letters replaced"],
        },
    ),
    "another model": (
        lambda world: world.settings["embedding"].update(model=f"{world.folder / 'letters.py'}:Others"),
        {"embed fixed": ["embedding model letters.py:Letters -> letters.py:Others"]},
    ),
    "a prompt for queries": (
        typed("embedding", "query_prompt", "query: "),
        {"embed questions": ["query_prompt '' -> 'query: '"]},
    ),
    "a prompt for passages": (
        typed("embedding", "passage_prompt", "text: "),
        {"embed fixed": ["passage_prompt '' -> 'text: '"]},
    ),
    "a chunker of the user's": (
        rewritten("halves.py", HALVES.replace("// 2", "// 3")),
        {"chunk halves": ["halves.py or what it imports edited"]},
    ),
    "a strategy more": (
        lambda world: world.settings["strategies"].append({"name": "recursive"}),
        {"chunk recursive": [NEW], "score recursive/bm25": [NEW], "select all cells": ["3 score results new"]},
    ),
    "a strategy less": (
        lambda world: world.settings["strategies"].pop(),
        {"select all cells": ["3 score results left out"]},
    ),
    "strategies in another order": (
        lambda world: world.settings["strategies"].reverse(),
        {"select all cells": ["order of the score results changed"]},
    ),
    "a parameter and the label": (
        lambda world: world.settings["strategies"][0].update(label="small", params={"chunk_size": 6, "overlap": 0}),
        {
            "chunk small": ["chunk_size 8 -> 6"],
            "score small/bm25": ["follows chunk small"],
        },
    ),
    "top_k": (typed("retrieval", "top_k", [3, 5]), {"score fixed/dense": ["top_k 5 -> 3, 5"]}),
    "candidates": (
        typed("retrieval", "candidates", 50),
        {
            "retrieve fixed/dense": ["depth of the search 100 -> 50"],
            "retrieve fixed/hybrid": [
                *("candidates 100 -> 50", "depth of the search 100 -> 50"),
                *("follows retrieve fixed/dense", "follows retrieve fixed/bm25"),
            ],
        },
    ),
    "rrf_k": (typed("retrieval", "rrf_k", 10), {"retrieve fixed/hybrid": ["rrf_k 60 -> 10"]}),
    "k1": (typed("retrieval", "bm25", {"k1": 1.5}), {"retrieve fixed/bm25": ["k1 1.2 -> 1.5"]}),
    "a retriever less": (
        typed("retrieval", "compare", ["dense", "bm25"]),
        {"select all cells": ["score fixed/hybrid left out", "score halves/hybrid left out"]},
    ),
    "tags": (question(0, "tags", ["dates"]), {"survey all cells": ["tags of question refunds edited"]}),
    "fuzzy_threshold": (typed("eval", "fuzzy_threshold", 0.8), {"locate gold": ["fuzzy_threshold 0.9 -> 0.8"]}),
    "min_floor_tokens": (typed("eval", "min_floor_tokens", 9), {"health fixed": ["min_floor_tokens 200 -> 9"]}),
    "ranking_metric": (
        typed("eval", "ranking_metric", "recall_at_k"),
        {"select all cells": ["ranking_metric balanced -> recall_at_k"]},
    ),
    "balanced_lambda": (
        typed("eval", "balanced_lambda", 0.1),
        {"select all cells": ["balanced_lambda 0.05 -> 0.1"]},
    ),
    "seed": (typed("eval", "seed", 1), {"select all cells": ["seed 0 -> 1"]}),
    "bootstrap_resamples": (
        typed("eval", "bootstrap_resamples", 500),
        {"select all cells": ["bootstrap_resamples 10000 -> 500"]},
    ),
    "the output folder": (typed("output", "dir", "elsewhere"), {}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_named_in_the_users_words(name: str, world: World) -> None:
    change, said = CHANGES[name]
    change(world)
    reasons = world.reasons()

    assert {node: reasons.get(node, [])[: len(first)] for node, first in said.items()} == said
    assert bool(reasons) == bool(said)


@given(names=st.sets(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=4))
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_changes_together_a_node_that_runs_has_a_reason_and_one_whose_key_stays_is_reused(
    evaluated: World, tmp_path_factory: pytest.TempPathFactory, names: set[str]
) -> None:
    world = World(tmp_path_factory.mktemp("changed"))
    shutil.copytree(evaluated.folder, world.folder, dirs_exist_ok=True)
    before = {one.ref for one in world.prepared()[1]}
    for name in sorted(names):
        CHANGES[name][0](world)
    _, work = world.prepared()

    changed = {f"{one.stage} {one.label}" for one in work if one.ref not in before}
    reasons = world.reasons()
    assert set(reasons) == changed
    assert all(said and LOST not in said for said in reasons.values())


@pytest.mark.parametrize("stage", sorted(all_stages()))
def test_changed_code_is_named_by_its_stage(stage: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    code_of = Stage.code
    monkeypatch.setattr(Stage, "code", lambda of, arguments: "changed" if of.name == stage else code_of(of, arguments))
    reasons = world.reasons()

    assert {node.partition(" ")[0] for node, said in reasons.items() if f"code of {stage} changed" in said} == {stage}
    assert all(said[0].startswith("follows") for node, said in reasons.items() if node.partition(" ")[0] != stage)


def test_a_new_version_of_a_library_is_named_with_both_versions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fingerprint.version_of("scipy")
    version_of = fingerprint.version_of
    monkeypatch.setattr(fingerprint, "version_of", lambda name: "99.1" if name == "scipy" else version_of(name))

    assert world.reasons() == {
        "select all cells": [f"scipy {old} -> 99.1"],
        "survey all cells": [f"scipy {old} -> 99.1", "follows select all cells"],
    }


def test_a_library_behind_a_model_is_named_and_not_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path).write()
    del world.settings["embedding"]
    inputs, work = world.prepared()
    with recorded(world.store, inputs, work):
        pass  # on record, and nothing made
    old, version_of = fingerprint.version_of("torch"), fingerprint.version_of
    for module in (models, changes):
        monkeypatch.setattr(module, "version_of", lambda name: "99.1" if name == "torch" else version_of(name))
    cleared = [one for one in vars(models).values() if hasattr(one, "cache_clear")]
    for one in cleared:
        one.cache_clear()

    assert world.reasons()["embed questions"] == [f"torch {old} -> 99.1"]
    for one in cleared:
        one.cache_clear()


def test_on_an_empty_cache_everything_runs_for_the_first_time(tmp_path: Path) -> None:
    plan = World(tmp_path).write().plan()

    assert {step.reasons for step in plan.steps} == {(NEVER,)}
    assert (plan.compared_with, plan.seconds, plan.has_history) == (None, None, False)
    assert "no estimate: first run on this machine" in plan_text(plan)


def test_a_lost_result_is_named_and_so_is_one_whose_bytes_changed(world: World) -> None:
    _, work = world.prepared()
    parse, select = (next(one for one in work if one.stage == stage) for stage in ("parse", "select"))
    world.store.discard(select.ref)
    path = world.store.path_of(parse.ref)
    path.write_bytes(path.read_bytes()[:-1])

    assert world.reasons() == {"parse documents": [LOST], "select all cells": [LOST]}


def files_of(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, less the empty files that SQLite keeps while it reads."""
    found = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".sqlite-shm"}
    return {str(path): content for path, content in found.items() if content}


def test_a_plan_changes_nothing_in_the_cache_not_even_for_a_stage_to_be_refreshed(world: World) -> None:
    world.plan()
    before = files_of(world.store.root)
    steps = world.plan(refresh=["embed"]).steps

    assert {(step.stage, step.reasons) for step in steps if step.runs} == {("embed", (REFRESHED,))}
    assert all(step.amount and step.amount.new == step.amount.of for step in steps if step.runs)
    assert files_of(world.store.root) == before


def test_a_plan_is_what_the_run_then_does(world: World) -> None:
    (world.docs / "refunds.txt").write_text("Refunds take six days.")
    steps = [step for step in world.plan().steps if step.runs]
    made = world.run().provenance.run.made

    assert [(one.stage, one.label, one.reasons) for one in made] == [
        (step.stage, step.label, step.reasons) for step in steps
    ]
    exact = {(step.stage, step.label): step.amount for step in steps if step.amount and not step.amount.about}
    assert exact[("parse", "documents")] == Amount(1, 3, "documents")
    told = {(one.stage, one.label): (one.new, one.taken_over) for one in made}
    assert {key: (amount.new, amount.of) for key, amount in exact.items()} == {
        key: (told[key][0], sum(told[key])) for key in exact
    }
    assert told["chunk", "halves"] == (1, 2)
    assert told["embed", "halves"] == (1, 5)  # "e six days."; the first half stays "Refunds tak"
    assert world.plan().steps
    assert not world.reasons()


def test_texts_are_counted_exactly_where_the_chunks_are_known_and_else_guessed_from_the_run_before(
    world: World,
) -> None:
    world.settings["embedding"]["passage_prompt"] = "text: "
    amounts = {step.label: step.amount for step in world.plan().steps if step.stage == "embed" and step.runs}
    assert amounts["halves"] == Amount(6, 6, "texts")

    world.settings["embedding"]["passage_prompt"] = ""
    (world.docs / "refunds.txt").write_text("Refunds take six days.")
    amounts = {step.label: step.amount for step in world.plan().steps if step.stage == "embed" and step.runs}
    assert amounts["halves"] == Amount(2, 6, "texts", about=True)

    world.settings["strategies"].append({"name": "recursive"})
    amounts = {step.label: step.amount for step in world.plan().steps if step.stage == "embed" and step.runs}
    assert amounts["recursive"] == Amount(None, None, "texts")


def test_a_run_is_compared_with_the_last_one_over_the_same_documents_and_questions(world: World) -> None:
    world.run()
    first = next(runs.records(world.store)).started
    other = World(world.folder / "other").write()
    pipeline.evaluate(other.docs, other.asked_in, world.settings, cache=world.store.root)
    world.settings["eval"] = {"seed": 5}

    assert world.plan().compared_with == first
    assert world.reasons() == {
        "select all cells": ["seed 0 -> 5"],
        "survey all cells": ["seed 0 -> 5", "follows select all cells"],
    }


# ---------------------------------------------------------------- after a kill

RUN = """
import json, sys
from chunklab_core import pipeline
docs, questions, settings, cache = sys.argv[1:]
pipeline.evaluate(docs, questions, json.loads(settings), cache=cache)
"""
DIES_AT_ITS_SECOND_BATCH = """
import os
from pathlib import Path
import numpy as np

class Letters:
    def __call__(self, texts):
        if len(texts) > 2:  # the questions are two
            seen = Path(__file__).with_name("seen")
            if seen.exists() and os.environ.get("DIES"):
                os._exit(9)
            seen.write_text("once")
        return np.array([[text.count(letter) for letter in "aeiou123"] for text in texts], dtype=np.float32)
"""
LINES = """
import re
from chunklab_core.records import Span

class Lines:
    def __call__(self, document):
        return [Span(*match.span()) for match in re.finditer(".+", document.text)]
"""


def test_after_a_kill_the_plan_and_the_run_say_what_is_taken_over(tmp_path: Path) -> None:
    world = World(tmp_path).write()
    world.settings["strategies"] = [{"name": f"{tmp_path / 'lines.py'}:Lines"}]
    (tmp_path / "lines.py").write_text(LINES)
    (tmp_path / "letters.py").write_text(DIES_AT_ITS_SECOND_BATCH)
    (world.docs / "long.txt").write_text("\n".join(f"line {at}" for at in range(100)))
    arguments = [str(world.docs), str(world.asked_in), json.dumps(world.settings), str(world.store.root)]
    command = [sys.executable, "-c", RUN, *arguments]
    assert subprocess.run(command, env={**os.environ, "DIES": "1"}, check=False).returncode == 9

    embed = next(step for step in world.plan().steps if (step.stage, step.label) == ("embed", "lines.py:Lines"))
    assert embed.amount == Amount(39, 103, "texts")  # three documents of one line; 64 texts are saved together
    assert embed.reasons[0].startswith("not finished by the run of ")
    assert embed.reasons[0].endswith("which was killed")
    assert "39 of 103 texts new; taken over: 64" in plan_text(world.plan())

    made = {(one.stage, one.label): one for one in world.run().provenance.run.made}
    assert ("chunk", "lines.py:Lines") not in made
    assert (made["embed", "lines.py:Lines"].new, made["embed", "lines.py:Lines"].taken_over) == (39, 64)


# ---------------------------------------------------------------- how long

EMBED = {"stage": "embed", "label": "a", "ref": "embed/1", "parameters": {"model": {"digest": "m"}}}
SELECT = {"stage": "select", "label": "all", "ref": "select/1", "parameters": {}}
START = datetime(2026, 3, 1, tzinfo=UTC)


def record(node: Mapping[str, Any], seconds: float, new: int | None, machine: str = "") -> RunRecord:
    """A run that took two seconds and made one result."""
    items = {} if new is None else {"shelf": new}
    effort = Effort(Ref(node["ref"]), seconds, items, items)
    return RunRecord(
        run_id="1",
        machine=machine or run_records.this_machine(),
        started=START,
        ended=START + timedelta(seconds=2),
        how="done",
        inputs=Ref("inputs/1"),
        refs=(Ref(node["ref"]),),
        explained={"nodes": [node]},
        made=(effort,),
    )


def test_an_estimate_lies_on_the_line_through_what_was_seen() -> None:
    history = History([record(EMBED, 3.0, 10), record(EMBED, 5.0, 30)])  # 2 s to load the model, 0.1 s a text

    assert history.seconds(EMBED, 20) == pytest.approx(4.0)
    assert history.seconds(EMBED, 100) == pytest.approx(12.0)
    assert history.seconds(EMBED, 601) is None  # more than 20 times what was ever seen
    assert history.seconds({**EMBED, "parameters": {"model": {"digest": "other"}}}, 20) is None


def test_one_size_alone_gives_the_time_of_an_item() -> None:
    assert History([record(EMBED, 3.0, 10)]).seconds(EMBED, 20) == pytest.approx(6.0)


def test_a_stage_without_items_takes_what_it_mostly_took() -> None:
    history = History([record(SELECT, seconds, None) for seconds in (1.0, 2.0, 60.0)])

    assert history.seconds(SELECT, None) == 2.0


def test_so_does_one_whose_items_nobody_counts_beforehand() -> None:
    history = History([record(EMBED, seconds, 10) for seconds in (1.0, 2.0, 60.0)])

    assert history.seconds(EMBED, None) == 2.0


def test_what_another_machine_did_says_nothing() -> None:
    history = History([record(SELECT, 1.0, None, machine="another")])

    assert not history
    assert history.seconds(SELECT, None) is None


def test_work_that_was_done_side_by_side_is_expected_to_be_again() -> None:
    history = History([record(SELECT, 8.0, None)])  # eight seconds of work in two

    assert history.wall_seconds([8.0, 8.0]) == 8.0  # a quarter of 16 s, and no less than the longest
    assert history.wall_seconds([2.0] * 8) == 4.0
    assert History([]).wall_seconds([3.0, 4.0]) == 7.0


def test_what_a_run_takes_that_has_nothing_to_make_is_part_of_every_run() -> None:
    nothing = replace(record(SELECT, 0.0, None), made=())  # two seconds for nothing

    assert History([nothing]).wall_seconds([3.0]) == 5.0
    assert History([nothing, record(SELECT, 1.0, None)]).wall_seconds([3.0]) == 5.0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "under 1 s"), (40, "about 40 s"), (89, "about 89 s"), (150, "about 2 min"), (7200, "about 2.0 h")],
)
def test_a_duration_is_said_as_a_person_would(seconds: float, said: str) -> None:
    assert duration(seconds) == said


# ---------------------------------------------------------------- wording


def test_many_documents_are_counted_and_the_first_are_named() -> None:
    before = [{"doc_id": f"{at}.md", "digest": "old"} for at in range(5)]
    now = [{**file, "digest": "new"} for file in before]

    assert document_changes(before, now) == ["5 documents (0.md, 1.md, 2.md, ...) edited"]
    assert document_changes(before[:2], now[:2]) == ["2 documents (0.md, 1.md) edited"]


def test_what_happened_to_documents_at_once_is_all_said() -> None:
    before = [{"doc_id": name, "digest": name} for name in ("a", "b", "c", "d")]
    now = [
        *({"doc_id": name, "digest": digest} for name, digest in (("a", "other"), ("c", "c"), ("e", "d"), ("f", "f")))
    ]

    assert document_changes(before, now) == ["a edited", "f added", "b removed", "d renamed to e"]


def test_an_edited_question_is_named_by_what_was_edited() -> None:
    old = {"question_id": "q", "query": "a", "slots": [["x"]], "documents": []}

    assert question_changes([old], [{**old, "query": "b"}], ("query",)) == ["query of question q edited"]
    assert question_changes([old], [{**old, "slots": []}], ("slots", "documents")) == ["gold of question q edited"]


def test_a_plan_of_many_cells_is_a_few_lines() -> None:
    labels = [f"fixed {size}" for size in range(5)]
    steps = [
        Step("parse", "documents", ("handbook.pdf edited",), Amount(1, 3, "documents"), 2.0),
        *(Step("chunk", label, ("follows parse documents",), Amount(1, 3, "documents"), 3.0) for label in labels),
        Step("embed", "questions", ()),
        *(Step("embed", label, (f"follows chunk {label}",), Amount(10, 20, "texts", about=True)) for label in labels),
        *(Step("score", f"{a}/{b}", (f"follows chunk {a}",)) for a in labels for b in ("dense", "bm25", "hybrid")),
        Step("select", "all cells", ("follows 15 score results",), None, 0.2),
    ]
    text = plan_text(Plan(tuple(steps), START, 200.0, has_history=True))

    assert text.splitlines() == [
        "27 of 28 results to run, 1 reused; about 3 min in all, side by side, and 20 without an estimate.",
        "Compared with the run of 2026-03-01 00:00 UTC.",
        "",
        "to run  parse documents: handbook.pdf edited; 1 of 3 documents new; taken over: 2; about 2 s",
        "to run  chunk (all 5): follows parse documents; 5 of 15 documents new; taken over: 10; about 15 s",
        "to run  embed (5 of 6: fixed 0, fixed 1, fixed 2, fixed 3, ...): follows chunk; about 50 of 100 texts new",
        "reused  embed questions",
        "to run  score (all 15): follows chunk",
        "to run  select all cells: follows 15 score results",
    ]


def test_a_plan_without_work_is_one_line(world: World) -> None:
    n_nodes = len(world.prepared()[1])
    assert plan_text(world.plan()) == f"Nothing to run: all {n_nodes} results are reused."
    mapping = plan_to_mapping(world.plan())
    assert (mapping["run"], mapping["reused"], mapping["seconds"]) == (0, n_nodes, 0.0)


def test_a_plan_in_json_holds_every_node(world: World) -> None:
    world.settings["eval"] = {"seed": 5}
    mapping = json.loads(json.dumps(plan_to_mapping(world.plan())))

    n_nodes = len(world.prepared()[1])
    assert (mapping["run"], mapping["reused"], len(mapping["nodes"])) == (2, n_nodes - 2, n_nodes)
    assert (
        mapping["nodes"][-2].items()
        >= {
            "stage": "select",
            "label": "all cells",
            "runs": True,
            "reasons": ["seed 0 -> 5"],
        }.items()
    )
