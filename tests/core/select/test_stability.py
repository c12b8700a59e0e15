"""Looking again: each kind of view by itself, on answers that leave no doubt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chunklab_core.records.survey import CellAxes, Stability
from chunklab_core.select.stability import stability

EVERYWHERE = np.array([[1.0] * 12, [0.0] * 12])
CELLS = [
    CellAxes("long", "dense", "e5"),
    CellAxes("short", "dense", "e5"),
    CellAxes("long", "dense", "minilm"),
    CellAxes("short", "dense", "minilm"),
]


def views(found: Stability[int], kind: str) -> list[tuple[str, int, bool]]:
    return [(view.name, view.leader, view.holds) for view in found.views if view.kind == kind]


def test_a_leader_on_every_question_holds_in_every_view() -> None:
    documents = [f"doc {at // 2}" for at in range(12)]
    found = stability(EVERYWHERE, 0, documents=documents, by_k={10: EVERYWHERE, 3: EVERYWHERE})

    assert [view.name for view in found.views][:3] == ["k = 3", "k = 10", "half 1a of the documents"]
    assert (found.n_held, len(found.views)) == (14, 14)
    assert {view.leader for view in found.views} == {0}


def test_who_leads_at_another_k_is_named() -> None:
    found = stability(EVERYWHERE, 0, by_k={3: EVERYWHERE[::-1]})

    assert views(found, "k") == [("k = 3", 1, False)]
    assert found.n_held == len(found.views) - 1


def test_a_lead_from_one_document_is_lost_in_the_half_without_it() -> None:
    recall = np.array([[1.0] * 6 + [0.0] * 6, [0.0] * 6 + [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]])
    documents = ["big"] * 6 + [name for name in ("a", "b", "c") for _ in range(2)]
    halves = views(stability(recall, 0, documents=documents), "documents")

    assert len(halves) == 6
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        assert sorted([first[1:], second[1:]]) == [(0, True), (1, False)]


def test_questions_of_one_group_stay_in_one_half() -> None:
    recall = np.array([[1.0, 0.0] * 4, [0.0, 1.0] * 4])  # one question for each cell in every group
    found = stability(recall, 0, groups=[str(at // 2) for at in range(8)])

    assert [view.holds for view in found.views] == [True] * 6  # level in every half


def test_few_documents_and_few_groups_are_not_halved() -> None:
    assert stability(EVERYWHERE, 0, documents=["a", "b", "c"] * 4, groups=["x", "y", "z"] * 4).views == ()
    assert stability([[1.0]], 0) == Stability(0, 0, 0, ())


def test_a_level_view_holds_and_keeps_the_name_of_the_leader() -> None:
    found = stability(np.ones((3, 12)), 1, by_k={3: np.ones((3, 12))})

    assert views(found, "k") == [("k = 3", 1, True)]


def test_of_cells_that_lead_together_the_cheapest_is_named() -> None:
    other = np.array([[0.0], [1.0], [1.0]])

    assert stability([[1.0], [0.0], [0.0]], 0, by_k={3: other}).views[0].leader == 1
    assert stability([[1.0], [0.0], [0.0]], 0, by_k={3: other}, tokens=[[9.0], [8.0], [7.0]]).views[0].leader == 2


def test_under_another_model_the_leaders_twin_has_to_lead() -> None:
    held = stability(np.array([[0.9], [0.5], [0.4], [0.3]]), 0, cells=CELLS)
    lost = stability(np.array([[0.9], [0.5], [0.4], [0.6]]), 0, cells=CELLS)

    assert views(held, "model") == [("e5", 0, True), ("minilm", 2, True)]
    assert views(lost, "model") == [("e5", 0, True), ("minilm", 3, False)]


def test_a_leader_without_a_model_meets_the_cells_of_each() -> None:
    cells = [*CELLS, CellAxes("long", "bm25")]

    assert views(stability(np.array([[0.9], [0.5], [0.4], [0.3], [0.8]]), 4, cells=cells), "model") == [
        ("e5", 0, False),
        ("minilm", 4, True),
    ]
    assert views(stability(np.array([[0.9], [0.5]]), 0, cells=CELLS[:2]), "model") == []  # one model is no choice


def test_a_dearer_leader_is_lost_where_context_costs_too_much() -> None:
    # .9 - x against .8 at a price of x: lost from .1 on
    found = stability([[0.9], [0.8], [0.1]], 0, tokens=[[200.0], [100.0], [1.0]], in_play=[0, 1], balanced_lambda=0.05)

    assert views(found, "lambda") == [
        ("lambda = 0.0125", 0, True),
        ("lambda = 0.025", 0, True),
        ("lambda = 0.05", 0, True),
        ("lambda = 0.1", 0, True),
        ("lambda = 0.2", 1, False),
    ]


def test_the_same_seed_gives_the_same_halves_and_the_order_of_labels_none_of_its_own() -> None:
    rng = np.random.default_rng(8)
    recall = (rng.random((4, 40)) < 0.5).astype(float)
    order = rng.permutation(40)
    labels = np.array([f"doc {at % 10}" for at in range(40)])
    turned = stability(recall[:, order], 0, documents=labels[order].tolist())
    found = stability(recall, 0, documents=labels.tolist())

    assert found == stability(recall, 0, documents=labels.tolist())
    assert views(found, "documents") == views(turned, "documents")
    assert found != stability(recall, 0, documents=labels.tolist(), seed=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"leader": 2}, "leader is 2"),
        ({"leader": 0, "documents": ["a"]}, "documents holds 1 labels"),
        ({"leader": 0, "by_k": {3: [[1.0]]}}, r"by_k\[3\] has shape"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stability(EVERYWHERE, **arguments)
