"""The words for each reason, asserted once."""

import json
from dataclasses import asdict
from typing import Any, get_args

import pytest

from chunklab_core.records.verdict import Reason, ReasonCode
from chunklab_core.report.reasons import sentence
from chunklab_core.select import select_winner

NAMES = ["long", "short", "a", "b", "c"]

EXAMPLES: dict[ReasonCode, tuple[dict[str, Any], str]] = {
    "only_cell": ({"cell": 0}, "'long' is the only cell, so there is nothing to compare it with."),
    "all_equal": ({"equal": [0, 1]}, "All 2 cells score the same on every question: 'long', 'short'."),
    "leader_share": (
        {"leader": [0, 1], "share": 0.5219},
        "'long' (equal on every question: 'short') leads in 52.2 % of resamples of your questions (needed: 90 %).",
    ),
    "share_without_luck": (
        {"share": 0.895},
        "Allowing for luck, it is the best with a probability of 89.5 % (needed: 90 %): a lead like this one is common "
        "between equal cells.",
    ),
    "share_by_document": (
        {"share": 0.4, "leader": 0},
        "With documents resampled instead of questions, it leads in 40 % of resamples (needed: 90 %).",
    ),
    "few_documents": (
        {"share": 0.8, "leader": 0},
        "With documents resampled instead of questions, it leads in 80 % of resamples (needed: 90 %): the lead of "
        "'long' comes from few documents.",
    ),
    "share_on_balance": (
        {"share": 0.461},
        "Counting the cost of the retrieved text, it leads in 46.1 % of resamples (needed: 90 %).",
    ),
    "leader_costs_more": (
        {"leader": 0, "times": 3.04, "cheaper": 1},
        "'long' retrieves 3.0 times the tokens of 'short'.",
    ),
    "not_ruled_out": (
        {"entrants": [[1], [2, 3]]},
        "Not ruled out: 'short'; 'a' (equal on every question: 'b').",
    ),
    "ruled_out": (
        {"cells": [0, 1, 2, 3, 4], "leader": 0, "below": 0.0125},
        "Ruled out: 'long', 'short', 'a' and 2 more; each scores at least as well as 'long' in under 1.25 % of "
        "resamples.",
    ),
    "no_realistic_number": (
        {"leader": 0, "rival": 1, "most": 10_000},
        "No realistic number of questions (up to 10,000) would separate 'long' from 'short'.",
    ),
    "questions_needed": (
        {"leader": 0, "rival": 1, "questions": 1459},
        "You would need about 1,459 scored questions for an 80 % chance of separating 'long' from 'short'.",
    ),
    "recall_discounted": (
        {"recall": 0.75, "discounted": 0.7},
        "Allowing for luck, the recall of the leader is about 0.700, not 0.750.",
    ),
    "recall_not_discounted": (
        {"recall": 0.75, "discounted": 0.75},
        "Allowing for luck does not lower the leader's recall of 0.750.",
    ),
    "about_questions": ({}, "This verdict is about new questions on these documents, not about other documents."),
    "about_documents": ({}, "This verdict is also about new documents like these."),
    "few_questions": (
        {"questions": 6, "least": 15, "duplicates": True},
        "Fewer than 15 questions are scored (6; near-duplicates count once): too few to name a winner, whatever the "
        "shares are.",
    ),
    "at_bar": (
        {"within": 0.005, "bar": 0.9},
        "A share is within 0.005 of the 0.90 needed: another seed may change the verdict.",
    ),
}


@pytest.mark.parametrize("code", get_args(ReasonCode))
def test_every_code_has_its_sentence(code: ReasonCode) -> None:
    arguments, text = EXAMPLES[code]

    assert sentence(Reason(code, arguments), NAMES) == text


def test_a_stored_reason_reads_as_it_did_before() -> None:
    verdict = select_winner([[1.0] * 9 + [0.0] * 7, [1.0] * 8 + [0.0] * 8])
    stored = json.loads(json.dumps([asdict(reason) for reason in verdict.reasons]))

    assert [sentence(Reason(**each), NAMES) for each in stored] == [sentence(each, NAMES) for each in verdict.reasons]
