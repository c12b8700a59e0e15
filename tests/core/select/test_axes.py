"""What an axis moved: hand-worked grids, levels that meet only in part, and intervals against the plain bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from chunklab_core.records.survey import AxisEffect, AxisEffects, CellAxes
from chunklab_core.select.axes import axis_effects


def of(effects: AxisEffects, axis: str) -> AxisEffect:
    return next(effect for effect in effects.effects if effect.axis == axis)


def level(effect: AxisEffect, name: str) -> tuple[float | None, int]:
    return next((each.effect, each.comparisons) for each in effect.levels if each.level == name)


def means(*recalls: float) -> np.ndarray:
    """Cells of these mean recalls on two questions, one a tenth above and one below."""
    return np.array(recalls)[:, None] + np.array([[0.1, -0.1]])


GRID = [CellAxes(strategy, retriever) for strategy in ("long", "short") for retriever in ("bm25", "hybrid")]


def test_effects_are_differences_of_means_where_the_rest_is_equal() -> None:
    found = axis_effects(means(0.5, 0.8, 0.3, 0.4), GRID)

    assert [effect.axis for effect in found.effects] == ["strategy", "retriever"]
    assert level(of(found, "strategy"), "long") == (pytest.approx(((0.5 - 0.3) + (0.8 - 0.4)) / 2), 2)
    assert level(of(found, "retriever"), "bm25") == (pytest.approx(-((0.8 - 0.5) + (0.4 - 0.3)) / 2), 2)
    assert of(found, "strategy").moved == pytest.approx(0.3)
    assert [each.level for each in of(found, "retriever").levels] == ["hybrid", "bm25"]
    assert [each.recall for each in of(found, "retriever").levels] == pytest.approx([0.6, 0.4])


def test_shares_of_variance_and_of_the_interplay_add_up_to_one() -> None:
    # Around the mean of .5: strategy +-.15, retriever +-.10, interplay +-.05; each squared over their sum.
    found = axis_effects(means(0.5, 0.8, 0.3, 0.4), GRID)
    total = 0.15**2 + 0.10**2 + 0.05**2

    assert of(found, "strategy").share_of_variance == pytest.approx(0.15**2 / total)
    assert of(found, "retriever").share_of_variance == pytest.approx(0.10**2 / total)
    assert found.interplay == pytest.approx(0.05**2 / total)


MODELS = [
    CellAxes("long", "bm25"),
    *(CellAxes("long", retriever, model) for retriever in ("dense", "hybrid") for model in ("e5", "minilm")),
]


def test_models_are_compared_only_where_a_model_is_used() -> None:
    found = axis_effects(means(0.9, 0.5, 0.3, 0.7, 0.6), MODELS)

    assert level(of(found, "model"), "e5") == (pytest.approx(((0.5 - 0.3) + (0.7 - 0.6)) / 2), 2)
    assert {each.level for each in of(found, "model").levels} == {"e5", "minilm"}


def test_a_cell_without_a_model_stands_beside_the_cells_of_every_model() -> None:
    found = axis_effects(means(0.9, 0.5, 0.3, 0.7, 0.6), MODELS)
    beside_e5, beside_minilm = 0.9 - (0.5 + 0.7) / 2, 0.9 - (0.3 + 0.6) / 2

    assert level(of(found, "retriever"), "bm25") == (pytest.approx((beside_e5 + beside_minilm) / 2), 2)
    total = sum((recall - 0.6) ** 2 for recall in (0.9, 0.5, 0.3, 0.7, 0.6))
    retrievers = 1 * (0.9 - 0.6) ** 2 + 2 * (0.4 - 0.6) ** 2 + 2 * (0.65 - 0.6) ** 2
    assert of(found, "retriever").share_of_variance == pytest.approx(retrievers / total)
    assert of(found, "model").share_of_variance == pytest.approx(4 * 0.075**2 / total)


def test_a_cell_without_a_reranker_is_a_level_of_that_axis() -> None:
    found = axis_effects(
        means(0.5, 0.75), [CellAxes("long", "dense", "e5"), CellAxes("long", "dense", "e5", "minilm-ce")]
    )

    assert [each.level for each in of(found, "reranker").levels] == ["minilm-ce", "none"]
    assert of(found, "reranker").moved == pytest.approx(0.25)
    assert of(found, "reranker").share_of_variance == 1


def test_levels_that_never_meet_have_no_effect_and_a_grid_with_holes_no_shares() -> None:
    found = axis_effects(means(0.5, 0.75), [CellAxes("long", "bm25"), CellAxes("short", "dense", "e5")])

    assert [(effect.axis, effect.moved, effect.ci95) for effect in found.effects] == [
        ("strategy", None, None),
        ("retriever", None, None),
    ]
    assert level(of(found, "strategy"), "long") == (None, 0)
    assert {effect.share_of_variance for effect in found.effects} == {None}
    assert found.interplay is None


def test_equal_cells_move_nothing_and_have_no_variance_to_share() -> None:
    found = axis_effects(np.full((4, 3), 0.5), GRID)

    assert [(effect.moved, effect.ci95, effect.share_of_variance) for effect in found.effects] == [
        (0, (0, 0), None)
    ] * 2
    assert [each.level for each in of(found, "retriever").levels] == ["bm25", "hybrid"]


def test_one_cell_has_no_axis_and_one_question_no_interval() -> None:
    assert axis_effects([[0.5, 1.0]], GRID[:1]).effects == ()
    assert of(axis_effects([[1.0], [0.0]], GRID[:2]), "retriever").ci95 is None


def test_the_interval_is_that_of_paired_differences() -> None:
    rng = np.random.default_rng(5)
    recall = (rng.random((2, 200)) < [[0.7], [0.5]]).astype(float)
    interval = of(axis_effects(recall, GRID[:2]), "retriever").ci95
    expected = bootstrap((recall[0] - recall[1],), np.mean, method="percentile", rng=np.random.default_rng(1))

    assert interval == pytest.approx(tuple(expected.confidence_interval), abs=0.015)


def test_copies_of_questions_narrow_no_interval_once_they_are_grouped() -> None:
    recall = (np.random.default_rng(6).random((2, 30)) < 0.6).astype(float)
    copied, labels = np.tile(recall, 4), [str(at % 30) for at in range(120)]

    assert axis_effects(copied, GRID[:2], labels) == axis_effects(recall, GRID[:2])
    assert axis_effects(copied, GRID[:2]) != axis_effects(recall, GRID[:2])


@pytest.mark.parametrize("cells", [GRID[:1], [GRID[0], GRID[0]]])
def test_cells_have_to_be_as_many_as_rows_and_different(cells: list[CellAxes]) -> None:
    with pytest.raises(ValueError, match="expected one a row"):
        axis_effects(means(0.5, 0.6), cells)
