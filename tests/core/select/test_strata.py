"""Where to ask more: Neyman's shares by hand, and a simulation of what following them saves."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest

from chunklab_core.records.survey import Strata
from chunklab_core.select.questions_needed import questions_needed
from chunklab_core.select.strata import strata


def of_gaps(gaps: list[float], parts: list[tuple[str, ...]], groups: list[str] | None = None) -> Strata[int]:
    """Of two cells whose recalls differ by these gaps."""
    difference = np.array(gaps)
    return strata(np.vstack([0.5 + difference / 2, 0.5 - difference / 2]), 0, 1, parts, groups)


def shrunk(part: list[float], whole: list[float]) -> float:
    """Spread of a part, as if four more questions had the spread of the whole."""
    free = len(part) - 1
    return float(np.sqrt((free * np.var(part, ddof=1) + 4 * np.var(whole, ddof=1)) / (free + 4)))


WILD, CALM = [1.0, -1.0] * 6, [0.0] * 24


def test_shares_go_by_weight_times_spread() -> None:
    found = of_gaps(WILD + CALM, [("wild",)] * 12 + [("calm",)] * 24)
    wild, calm = shrunk(WILD, WILD + CALM), shrunk(CALM, WILD + CALM)

    assert [(each.part, each.n_groups) for each in found.parts] == [("wild", 12), ("calm", 24)]
    assert [each.sd for each in found.parts] == pytest.approx([wild, calm])
    assert [each.weight for each in found.parts] == pytest.approx([1 / 3, 2 / 3])
    assert found.parts[0].share == pytest.approx(wild / (wild + 2 * calm))
    assert sum(each.share or 0 for each in found.parts) == pytest.approx(1)


def test_a_small_part_has_most_of_the_spread_over_all_and_is_not_left_out() -> None:
    """Where the cells differ in a small part alone, it is the one to ask."""
    small, lone, calm = [1.0, -1.0], [1.0], [0.0] * 24
    found = of_gaps([*small, *lone, *calm], [("small",)] * 2 + [("lone",)] + [("calm",)] * 24)
    whole = [*small, *lone, *calm]

    sd = {each.part: each.sd for each in found.parts}
    assert sd == pytest.approx(
        {"small": shrunk(small, whole), "lone": float(np.std(whole, ddof=1)), "calm": shrunk(calm, whole)}
    )
    asked = {each.part: (each.share or 0.0) / each.weight for each in found.parts}
    assert asked["small"] > asked["lone"] > asked["calm"] > 0


def test_fewer_questions_are_needed_where_they_are_asked_in_the_right_place() -> None:
    gaps = [1.0, -1.0] * 7 + [1.0, 1.0] + [0.0] * 64
    found = of_gaps(gaps, [("wild",)] * 16 + [("calm",)] * 64)
    plain = questions_needed(np.array(gaps), 15)
    spread = sum(weight * shrunk(part, gaps) for weight, part in ((0.2, gaps[:16]), (0.8, gaps[16:])))

    assert plain is not None
    assert found.needed == plain
    assert found.needed_by_share == 80 + ceil((plain - 80) * spread**2 / np.var(gaps, ddof=1))
    assert 80 < found.needed_by_share < plain


def test_asking_by_share_gives_the_variance_that_the_forecast_counts_on() -> None:
    """Two parts with known spreads: means of samples drawn by share vary as (sum of weight x spread)^2 / n."""
    rng, n = np.random.default_rng(4), 300
    wild, calm = np.array([1.0, -1.0] * 50), np.array([0.2, -0.2] * 150)
    found = of_gaps([*wild, *calm], [("wild",)] * 100 + [("calm",)] * 300)
    parts, draws = {"wild": wild, "calm": calm}, []
    for each in found.parts:
        drawn = rng.choice(parts[each.part], (4000, round((each.share or 0) * n)))
        draws.append(each.weight * drawn.mean(axis=1))
    spread = 0.25 * 1.0 + 0.75 * 0.2

    assert np.var(sum(draws)) == pytest.approx(spread**2 / n, rel=0.08)
    assert np.var(sum(draws)) < 0.6 * np.var([*wild, *calm]) / n


def test_parts_that_overlap_have_shares_and_no_forecast_of_their_own() -> None:
    found = of_gaps(WILD + CALM, [("wild", "all")] * 12 + [("all",)] * 24)

    assert sum(each.weight for each in found.parts) == pytest.approx(1)
    assert sum(each.share or 0 for each in found.parts) == pytest.approx(1)
    assert found.needed_by_share is None


def test_copies_of_a_question_count_once() -> None:
    labels = [str(at) for at in range(36)]
    once = of_gaps(WILD + CALM, [("wild",)] * 12 + [("calm",)] * 24)
    copied = of_gaps((WILD + CALM) * 3, ([("wild",)] * 12 + [("calm",)] * 24) * 3, labels * 3)

    assert copied == once


def test_cells_that_never_differ_leave_nothing_to_ask() -> None:
    found = of_gaps([0.0] * 20, [("a",)] * 10 + [("b",)] * 10)

    assert [(each.part, each.sd, each.share) for each in found.parts] == [("a", 0, None), ("b", 0, None)]
    assert (found.needed, found.needed_by_share) == (None, None)


def test_questions_without_a_part_keep_their_weight() -> None:
    found = of_gaps(WILD + CALM, [("wild",)] * 12 + [()] * 24)

    assert [(each.part, each.share) for each in found.parts] == [("wild", 1.0)]
    assert found.parts[0].weight == pytest.approx(1 / 3)


def test_one_question_and_no_parts_are_no_error() -> None:
    assert of_gaps([1.0], [()]).parts == ()
    assert of_gaps([1.0], [("a",)]).parts[0].share is None


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="two different rows"):
        strata([[1.0], [0.0]], 0, 0, [()])
    with pytest.raises(ValueError, match="parts holds 2 entries for 1 questions"):
        strata([[1.0], [0.0]], 0, 1, [(), ()])
