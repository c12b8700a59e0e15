"""The verdict: a winner only on evidence, with reasons as codes."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest

from chunklab_core.records.verdict import Reason, Verdict
from chunklab_core.select import select_winner


def reasons(verdict: Verdict) -> dict[str, Any]:
    """The arguments of each reason, by its code."""
    return {reason.code: reason.arguments for reason in verdict.reasons}


def answers(*pattern: tuple[int, str]) -> np.ndarray:
    """Cells x questions from blocks: (3, "10") is three questions that cell 0 finds and cell 1 does not."""
    return np.array([[int(mark) for mark in marks] for times, marks in pattern for _ in range(times)], dtype=float).T


CLEAR = answers((30, "11"), (10, "10"), (10, "00"))  # cell 0 finds ten more of fifty, and misses none that cell 1 finds


CLOSE = answers((30, "11"), (4, "10"), (3, "01"), (13, "00"))


def test_a_clear_lead_on_enough_questions_is_a_winner() -> None:
    verdict = select_winner(CLEAR)

    assert (verdict.status, verdict.leader, verdict.in_play, verdict.ruled_out) == ("winner", 0, (0,), (1,))
    assert sum(verdict.p_best) == pytest.approx(1)
    assert verdict.questions_needed is None
    assert verdict.reasons[0] == Reason("leader_share", {"leader": (0,), "share": verdict.leader_share})
    assert verdict.leader_share > 0.999
    assert reasons(verdict)["ruled_out"]["cells"] == (1,)


def test_a_close_race_is_undecided_and_names_the_questions_needed() -> None:
    verdict = select_winner(CLOSE)

    assert (verdict.status, verdict.leader, verdict.in_play, verdict.ruled_out) == ("undecided", 0, (0, 1), ())
    assert verdict.questions_needed is not None
    assert verdict.questions_needed > 50
    needed = {"leader": 0, "rival": 1, "questions": verdict.questions_needed}
    assert reasons(verdict)["questions_needed"] == needed


def test_a_clear_lead_on_fewer_than_15_questions_only_leans() -> None:
    verdict = select_winner(answers((10, "10"), (4, "11")))

    assert (verdict.status, verdict.leader, verdict.questions_needed) == ("leans", 0, 15)
    assert reasons(verdict)["few_questions"] == {"questions": 14, "least": 15, "duplicates": False}
    assert select_winner(answers((10, "10"), (5, "11"))).status == "winner"


def test_one_cell_is_the_only_one_and_equal_cells_are_tied() -> None:
    one, equal = select_winner(CLEAR[:1]), select_winner(CLEAR[[0, 0, 0]])

    assert (one.status, one.leader, one.p_best, one.in_play) == ("only", 0, (1.0,), (0,))
    assert (equal.status, equal.p_best, equal.in_play) == ("tied", pytest.approx([1 / 3] * 3), (0, 1, 2))
    assert not one.at_bar
    assert reasons(one) == {"only_cell": {"cell": 0}}
    assert reasons(equal) == {"all_equal": {"equal": (0, 1, 2)}}


def test_equal_best_cells_are_named_as_one_and_shown_as_the_cheaper() -> None:
    tokens = np.array([[100.0], [50.0], [80.0]]) * np.ones((1, 50))
    verdict = select_winner(CLEAR[[1, 0, 0]], tokens=tokens[[1, 0, 2]])

    assert (verdict.status, verdict.leader, verdict.in_play) == ("winner", 2, (2, 1))
    assert verdict.p_best[1] == verdict.p_best[2]
    assert reasons(verdict)["leader_share"]["leader"] == (2, 1)


def test_of_two_leaders_with_one_mean_the_cheaper_leads_then_the_first() -> None:
    even = answers((20, "10"), (20, "01"))

    assert select_winner(even).leader == 0
    assert select_winner(even, tokens=np.array([[2.0], [1.0]]) * np.ones((1, 40))).leader == 1


def test_copies_of_a_question_count_once() -> None:
    few = answers((3, "10"), (2, "11"), (1, "01"))
    copied, labels = np.repeat(few, 10, axis=1), [str(at // 10) for at in range(60)]
    free, grouped = select_winner(copied), select_winner(copied, groups=labels)

    assert free.status == "winner"
    assert grouped.status == "undecided"
    assert reasons(grouped)["few_questions"] == {"questions": 6, "least": 15, "duplicates": True}
    assert grouped.p_best == select_winner(few).p_best


def test_a_lead_from_one_document_only_leans() -> None:
    scores = answers((30, "10"), *[(10, "11")] * 5, *[(2, "01")] * 6)
    documents = ["big"] * 30 + [f"even {at // 10}" for at in range(50)] + [f"other {at // 2}" for at in range(12)]
    verdict = select_winner(scores, documents=documents)

    assert select_winner(scores).status == "winner"
    assert verdict.status == "leans"
    assert "few_documents" in reasons(verdict)
    assert select_winner(scores, documents=["a", "b"] * 46).status == "winner"  # too few documents to resample


def test_few_documents_are_not_the_reason_for_an_undecided_race() -> None:
    verdict = select_winner(CLOSE, documents=[str(at % 12) for at in range(CLOSE.shape[1])])

    assert verdict.status == "undecided"
    assert "share_by_document" in reasons(verdict)
    assert "few_documents" not in reasons(verdict)


def test_a_lead_that_its_price_outweighs_only_leans() -> None:
    scores = answers((60, "11"), (6, "10"), (1, "01"), (33, "00"))  # five points ahead and not ruled out
    tokens = np.array([[3000.0], [1000.0]]) * np.ones((1, 100))
    verdict = select_winner(scores, tokens=tokens)

    assert select_winner(scores).status == "winner"
    assert verdict.status == "leans"
    assert reasons(verdict)["leader_costs_more"] == {"leader": 0, "times": 3.0, "cheaper": 1}
    assert select_winner(scores, tokens=tokens, balanced_lambda=0.0).status == "winner"


def test_a_leader_that_costs_no_more_is_not_called_costly() -> None:
    scores = answers((19, "110"), (12, "111"), (18, "001"))  # two equal leaders share what one would win
    verdict = select_winner(scores, tokens=np.full((3, 49), 1000.0))

    assert verdict.p_best_balanced is not None
    assert verdict.p_best_balanced[2] == max(verdict.p_best_balanced)
    assert "share_on_balance" in reasons(verdict)
    assert "leader_costs_more" not in reasons(verdict)


def test_a_discounted_recall_is_a_reason_only_where_it_is_lower() -> None:
    found = ["1101110011111111", "1101111101111100", "1101110001111100"]  # the others, alike it, drag no lead down
    alike = select_winner([[float(mark) for mark in row] for row in found])

    assert alike.leader_recall_shrunk is not None
    assert alike.leader_recall_shrunk > 13 / 16
    assert reasons(alike)["recall_not_discounted"]["recall"] == pytest.approx(0.8125)
    assert "recall_discounted" not in reasons(alike)
    assert "recall_discounted" in reasons(select_winner(CLOSE))


def test_a_share_at_the_bar_is_reported() -> None:
    # Every question goes to one of the two, so cell 0 wins where 16 or more of 31 draws are among its 19.
    exact = sum(comb(31, wins) * 19**wins * 12 ** (31 - wins) for wins in range(16, 32)) / 31**31
    at_bar = select_winner(answers((19, "10"), (12, "01")))

    assert 0.900 < exact < 0.901
    assert at_bar.p_best[0] == pytest.approx(exact, abs=0.004)
    assert at_bar.at_bar
    assert "at_bar" in reasons(at_bar)
    assert not select_winner(CLEAR).at_bar


def test_the_same_seed_gives_the_same_verdict() -> None:
    assert select_winner(CLOSE, seed=4) == select_winner(CLOSE, seed=4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [[float("nan")]]}, "NaN"),
        ({"scores": []}, "cells, questions"),
        ({"scores": CLEAR, "tokens": [[1.0]]}, "tokens has shape"),
        ({"scores": [[1.0]], "tokens": [[-1.0]]}, "negative"),
        ({"scores": CLEAR, "documents": ["a"]}, "documents holds 1 labels for 50 questions"),
        ({"scores": CLEAR, "groups": ["a"]}, "groups holds 1 labels for 50 questions"),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        select_winner(arguments.pop("scores"), **arguments)
