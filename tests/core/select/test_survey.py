"""All parts at once: that they are the parts, that plain inputs pass, and that it is quick."""

from __future__ import annotations

import json
from dataclasses import asdict
from time import process_time
from typing import Any

import numpy as np
import pytest

from chunklab_core.records.survey import CellAxes
from chunklab_core.select.axes import axis_effects
from chunklab_core.select.survey import survey


def world(n_questions: int, cells: list[CellAxes], seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "recall": rng.integers(0, 4, (len(cells), n_questions)) / 3,
        "tokens": rng.integers(100, 3000, (len(cells), n_questions)),
        "cells": cells,
        "tags": [[f"tag {tag}" for tag in rng.integers(0, 40, 3)] for _ in range(n_questions)],
        "documents": [[f"doc {rng.integers(0, 100)}"] for _ in range(n_questions)],
        "gold_tokens": rng.integers(1, 400, n_questions).tolist(),
        "groups": [str(at // 2) if at < n_questions // 5 else f"{at} alone" for at in range(n_questions)],
        "by_k": {k: rng.random((len(cells), n_questions)) for k in (3, 10)},
    }


SIX = [CellAxes(strategy, retriever) for strategy in ("a", "b", "c") for retriever in ("bm25", "hybrid")]


def test_the_parts_are_those_of_their_functions_and_plain_json() -> None:
    given = world(60, SIX)
    found = survey(**given)

    assert found.axes == axis_effects(given["recall"], SIX, given["groups"])
    assert [strata.by for strata in found.strata] == ["tag", "document"]
    assert found.stability.leader == found.strata[0].leader == given["recall"].mean(axis=1).argmax()
    assert found.question_groups == tuple((at, at + 1) for at in range(0, 12, 2))
    assert len(found.by_tag.cells) == len(found.by_document.cells) == len(found.by_gold_length.cells) == 6
    json.dumps(asdict(found), allow_nan=False)
    assert survey(**given) == found


def test_a_settled_verdict_asks_for_nothing_more() -> None:
    assert survey(**world(60, SIX), is_settled=True).strata == ()


def test_prices_are_no_views_where_cells_are_not_ranked_by_price() -> None:
    kinds = {view.kind for view in survey(**world(60, SIX), price_counts=False).stability.views}

    assert kinds == {"k", "documents", "questions"}


@pytest.mark.parametrize("n_cells", [1, 2])
def test_one_question_without_tag_or_document_passes(n_cells: int) -> None:
    found = survey(
        np.ones((n_cells, 1)), np.ones((n_cells, 1)), SIX[:n_cells], tags=[()], documents=[()], gold_tokens=[5]
    )

    assert found.strata == ()
    assert found.pareto.front == tuple(range(n_cells))
    assert found.by_gold_length.cells[0][0].ci95 is None
    assert found.question_groups == ()


def test_sixty_cells_and_a_thousand_questions_take_seconds() -> None:
    searches = [("bm25", None), *((name, model) for name in ("dense", "hybrid") for model in ("e5", "minilm"))]
    cells = [
        CellAxes(f"strategy {at}", retriever, model, reranker)
        for at in range(6)
        for retriever, model in searches
        for reranker in (None, "cross")
    ]
    given = world(1000, cells)
    began = process_time()
    found = survey(**given)

    assert len(found.axes.effects) == 4
    assert process_time() - began < 10  # about one second of one core; room for a busy machine
