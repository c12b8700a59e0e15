"""Recall part by part: which question belongs where, and how sure each figure is."""

from __future__ import annotations

import numpy as np
import pytest

from chunklab_core.records.survey import PartRecall
from chunklab_core.select.breakdown import LENGTH_NAMES, gold_length_parts, recall_by_part
from chunklab_core.select.wilson import ci95_wilson

TAGS = [("table",), ("table", "faq"), ("faq",), ()]
RECALL = [[1.0, 0.5, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]


def of(parts: tuple[PartRecall, ...], name: str) -> PartRecall:
    return next(part for part in parts if part.part == name)


def test_a_question_counts_in_each_of_its_parts_once() -> None:
    first, second = recall_by_part(RECALL, TAGS).cells
    doubled = recall_by_part(RECALL, [("table", "table"), *TAGS[1:]]).cells

    assert [(part.part, part.n, part.recall) for part in first] == [("faq", 2, 0.25), ("table", 2, 0.75)]
    assert [part.recall for part in second] == [0, 0]
    assert doubled == (first, second)


def test_small_parts_bear_both_intervals() -> None:
    answers = np.array([[1.0] * 12 + [0.0] * 8])
    (part,) = recall_by_part(answers, [("all",)] * 20).cells[0]

    assert part.ci95_wilson == pytest.approx(ci95_wilson(answers[0]))
    assert part.ci95 == pytest.approx((0.4, 0.8), abs=0.051)  # binomial(20, 0.6) / 20: 2.5 % below .4, above .8


def test_large_parts_away_from_the_ends_bear_one() -> None:
    plenty = np.array([[1.0] * 40 + [0.0] * 40, [1.0] * 79 + [0.0]])
    middle, top = (parts[0] for parts in recall_by_part(plenty, [("all",)] * 80).cells)

    assert middle.ci95_wilson is None
    assert top.ci95_wilson is not None


def test_copies_count_once_in_both_intervals() -> None:
    answers, parts = np.array([[1.0] * 12 + [0.0] * 8]), [("all",)] * 20
    once = recall_by_part(answers, parts).cells[0][0]
    copied = recall_by_part(np.tile(answers, 5), parts * 5, [str(at % 20) for at in range(100)]).cells[0][0]

    assert (copied.n, copied.n_groups, copied.recall) == (100, 20, once.recall)
    assert copied.ci95 == once.ci95
    assert copied.ci95_wilson == pytest.approx(once.ci95_wilson)


def test_one_group_of_questions_tells_no_spread_and_counts_as_one_answer() -> None:
    (part,) = recall_by_part([[1.0, 1.0, 1.0]], [("all",)] * 3, ["same"] * 3).cells[0]

    assert (part.n, part.n_groups, part.ci95) == (3, 1, None)
    assert part.ci95_wilson == pytest.approx(ci95_wilson([1.0]))


def test_no_tags_at_all_give_no_parts() -> None:
    assert recall_by_part(RECALL, [()] * 4).cells == ((), ())


def test_gold_lengths_fall_into_bands_listed_from_short_to_long() -> None:
    lengths = [1, 25, 26, 75, 76, 200, 201, 9999]
    bands = gold_length_parts(lengths)

    assert bands == tuple((LENGTH_NAMES[at // 2],) for at in range(8))
    assert LENGTH_NAMES == ("1 to 25 tokens", "26 to 75 tokens", "76 to 200 tokens", "over 200 tokens")
    listed = recall_by_part([[1.0] * 4], [bands[7], bands[0], bands[7], bands[2]], order=LENGTH_NAMES).cells[0]
    assert [(part.part, part.n) for part in listed] == [
        ("1 to 25 tokens", 1),
        ("26 to 75 tokens", 1),
        ("over 200 tokens", 2),
    ]


def test_labels_have_to_fit_the_questions() -> None:
    with pytest.raises(ValueError, match="parts holds 1 entries for 4 questions"):
        recall_by_part(RECALL, [()])
    with pytest.raises(ValueError, match="groups holds 1 labels for 4 questions"):
        recall_by_part(RECALL, TAGS, ["a"])
    with pytest.raises(ValueError, match="NaN"):
        recall_by_part([[np.nan]], [()])
