"""Every change is named, by the first difference to the earlier run."""

import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_world import HALVES, LETTERS, World

from chunklab_core.cache import keys as fingerprint
from chunklab_core.models import card
from chunklab_core.plan import comparison
from chunklab_core.plan.reasons import Code, Reason, document_changes, question_changes
from chunklab_core.plan.recorded import recorded
from chunklab_core.plan.sentences import _SENTENCES, sentence
from chunklab_core.stages import all_stages
from chunklab_core.stages.stage import Stage

Change = Callable[[World], object]


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
    "another parameter": (
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
            "embed questions": ["files of embedding model letters.py:Letters changed"],
            "embed fixed": ["files of embedding model letters.py:Letters changed"],
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
    "a chunker of the user": (
        rewritten("halves.py", HALVES.replace("// 2", "// 3")),
        {"chunk halves": ["halves.py or a module that it imports edited"]},
    ),
    "a new strategy": (
        lambda world: world.settings["strategies"].append({"name": "recursive"}),
        {
            "chunk recursive": ["new in this run"],
            "score recursive/bm25": ["new in this run"],
            "select all cells": ["3 score results added"],
        },
    ),
    "a strategy removed": (
        lambda world: world.settings["strategies"].pop(),
        {"select all cells": ["3 score results removed"]},
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
            "retrieve fixed/dense": ["search depth 100 -> 50"],
            "retrieve fixed/hybrid": [
                *("candidates 100 -> 50", "search depth 100 -> 50"),
                *("follows retrieve fixed/dense", "follows retrieve fixed/bm25"),
            ],
        },
    ),
    "rrf_k": (typed("retrieval", "rrf_k", 10), {"retrieve fixed/hybrid": ["rrf_k 60 -> 10"]}),
    "k1": (typed("retrieval", "bm25", {"k1": 1.5}), {"retrieve fixed/bm25": ["k1 1.2 -> 1.5"]}),
    "a retriever removed": (
        typed("retrieval", "compare", ["dense", "bm25"]),
        {"select all cells": ["score fixed/hybrid removed", "score halves/hybrid removed"]},
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
    change, expected = CHANGES[name]
    change(world)
    sentences = world.sentences()

    assert {node: sentences.get(node, [])[: len(first)] for node, first in expected.items()} == expected
    assert bool(sentences) == bool(expected)


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
    before = {node.ref for node in world.prepared()[1]}
    for name in sorted(names):
        CHANGES[name][0](world)
    _, work = world.prepared()

    changed = {f"{node.stage} {node.label}" for node in work if node.ref not in before}
    reasons = world.reasons()
    assert set(reasons) == changed
    assert all(of_node and Reason("lost") not in of_node for of_node in reasons.values())


@pytest.mark.parametrize("stage", sorted(all_stages()))
def test_changed_code_is_named_by_its_stage(stage: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    code_of = Stage.code
    monkeypatch.setattr(Stage, "code", lambda of, arguments: "changed" if of.name == stage else code_of(of, arguments))
    reasons = world.reasons()

    of_stage = {name for name in reasons if name.partition(" ")[0] == stage}
    assert {name for name, of_node in reasons.items() if Reason("code", (stage,)) in of_node} == of_stage != set()
    assert {reasons[name][0].code for name in reasons.keys() - of_stage} <= {"follows"}


def test_another_reader_or_chunker_is_not_named_as_edited_code_or_as_a_new_library(world: World) -> None:
    rewritten("docs/dogs.pdf", "Dogs may enter.")(world)
    world.settings["strategies"][0].update(name="recursive", label="fixed")
    sentences = world.sentences()

    assert sentences["parse documents"] == ["dogs.pdf added"]
    assert sentences["chunk fixed"] == ["name fixed -> recursive", "follows parse documents"]


def test_a_new_version_of_a_library_is_named_with_both_versions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fingerprint.version_of("scipy")
    version_of = fingerprint.version_of
    monkeypatch.setattr(fingerprint, "version_of", lambda name: "99.1" if name == "scipy" else version_of(name))

    assert world.reasons() == {
        "select all cells": (Reason("value", ("scipy", old, "99.1")),),
        "survey all cells": (Reason("value", ("scipy", old, "99.1")), Reason("follows", ("select", "all cells"))),
    }


def test_a_library_behind_a_model_is_named_and_not_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path).write()
    del world.settings["embedding"]
    inputs, work = world.prepared()
    with recorded(world.store, inputs, work):
        pass  # on record, without a result
    old, version_of = fingerprint.version_of("torch"), fingerprint.version_of
    for module in (card, comparison):
        monkeypatch.setattr(module, "version_of", lambda name: "99.1" if name == "torch" else version_of(name))
    cached = [each for each in vars(card).values() if hasattr(each, "cache_clear")]
    for function in cached:
        function.cache_clear()

    assert world.reasons()["embed questions"] == (Reason("value", ("torch", old, "99.1")),)
    for function in cached:
        function.cache_clear()


def test_a_lost_result_is_named_and_so_is_a_damaged_one(world: World) -> None:
    _, work = world.prepared()
    parse, select = (next(node for node in work if node.stage == stage) for stage in ("parse", "select"))
    world.store.discard(select.ref)
    path = world.store.path_of(parse.ref)
    path.write_bytes(path.read_bytes()[:-1])

    assert world.reasons() == {"parse documents": (Reason("lost"),), "select all cells": (Reason("lost"),)}


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("killed", "the run of 2026-03-01 00:00 UTC was killed before this was finished"),
        (None, "another run is still making it"),
    ],
)
def test_an_unfinished_result_is_named_with_the_end_of_its_run(how: str | None, words: str) -> None:
    assert sentence(Reason("unfinished", (how, datetime(2026, 3, 1, tzinfo=UTC)))) == words


def test_every_code_has_a_sentence() -> None:
    assert set(_SENTENCES) == set(get_args(Code))


def in_words(reasons: Iterable[Reason]) -> list[str]:
    return [sentence(reason) for reason in reasons]


def test_many_documents_are_counted_and_the_first_are_named() -> None:
    before = [{"doc_id": f"{at}.md", "digest": "old"} for at in range(5)]
    now = [{**file, "digest": "new"} for file in before]

    assert in_words(document_changes(before, now)) == ["5 documents (0.md, 1.md, 2.md, ...) edited"]
    assert in_words(document_changes(before[:2], now[:2])) == ["2 documents (0.md, 1.md) edited"]


def test_all_changes_of_documents_are_named() -> None:
    before = [{"doc_id": name, "digest": name} for name in ("a", "b", "c", "d")]
    contents = {"a": "other", "c": "c", "e": "d", "f": "f"}
    now = [{"doc_id": name, "digest": digest} for name, digest in contents.items()]

    assert document_changes(before, now) == [
        Reason("things_edited", ("document", ["a"])),
        Reason("things_added", ("document", ["f"])),
        Reason("things_removed", ("document", ["b"])),
        Reason("thing_renamed", ("document", "d", "e")),
    ]


def test_an_edited_question_is_named_with_the_edited_field() -> None:
    old = {"question_id": "q", "query": "a", "slots": [["x"]], "documents": []}

    assert question_changes([old], [{**old, "query": "b"}], ("query",)) == [Reason("field_edited", ("query", ["q"]))]
    assert question_changes([old], [{**old, "slots": []}], ("slots", "documents")) == [
        Reason("field_edited", ("slots", ["q"]))
    ]
