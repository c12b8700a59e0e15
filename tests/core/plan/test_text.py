"""A plan in words and as JSON."""

import json
from datetime import UTC, datetime

import pytest
from plan_world import World

from chunklab_core.plan.counts import Amount
from chunklab_core.plan.plan import Plan, Step
from chunklab_core.plan.reasons import Reason, Reasons
from chunklab_core.plan.text import duration, plan_text, plan_to_mapping

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "under 1 s"), (40, "about 40 s"), (89, "about 89 s"), (150, "about 2 min"), (7200, "about 2.0 h")],
)
def test_a_duration_is_rounded_as_a_person_would(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def follows(stage: str, label: str | int) -> Reasons:
    return (Reason("follows", (stage, label)),)


def test_a_plan_of_many_cells_is_a_few_lines() -> None:
    labels = [f"fixed {size}" for size in range(5)]
    steps = [
        Step(
            "parse",
            "documents",
            (Reason("things_edited", ("document", ["handbook.pdf"])),),
            Amount(1, 3, "documents"),
            2.0,
        ),
        *(Step("chunk", label, follows("parse", "documents"), Amount(1, 3, "documents"), 3.0) for label in labels),
        Step("embed", "questions", ()),
        *(Step("embed", label, follows("chunk", label), Amount(10, 20, "texts", about=True)) for label in labels),
        *(Step("score", f"{a}/{b}", follows("chunk", a)) for a in labels for b in ("dense", "bm25", "hybrid")),
        Step("select", "all cells", follows("score", 15), None, 0.2),
    ]
    text = plan_text(Plan(tuple(steps), START, 200.0, has_history=True))

    assert text.splitlines() == [
        "27 of 28 results to run, 1 reused; about 3 min in all, running in parallel, plus 20 without an estimate.",
        "Compared with the run of 2026-03-01 00:00 UTC.",
        "",
        "to run  parse documents: handbook.pdf edited; 1 of 3 documents new, 2 reused; about 2 s",
        "to run  chunk (all 5): follows parse documents; 5 of 15 documents new, 10 reused; about 15 s",
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
