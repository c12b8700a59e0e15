"""The reported faults of matching and metrics, with their right values."""

from __future__ import annotations

from typing import Any

import pytest
from cases import expected, given, needs_cases, written_out

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Span
from chunklab_core.records.questions import Gold
from chunklab_core.records.scores import QuestionScore
from chunklab_core.score import QuestionGold, mean_scores, score_question
from chunklab_core.score.gold import contains, find_gold
from chunklab_core.score.normalize import normalize_chunk
from chunklab_core.score.token_level import GoldSlot

pytestmark = needs_cases


def test_c18_found_is_what_the_case_says() -> None:
    threshold = given("C18")["fuzzy_threshold"]
    found = [contains(snippet, written_out(passage), threshold) for snippet, passage in given("C18")["pairs"]]

    assert found == expected("C18")["found"]


def test_c16_metrics_are_what_the_case_says() -> None:
    c16, expect = given("C16"), expected("C16")
    scores = {name: _scored(name, answers, c16["k"]) for name, answers in c16["questions"].items()}
    mean = mean_scores(list(scores.values()))

    for metric, key in (("recall_at_k", "recall"), ("mrr", "reciprocal_rank"), ("precision_at_k", "precision")):
        for name, score in scores.items():
            assert score.metrics[metric] == pytest.approx(expect[key][name], abs=1e-6), (metric, name)
    assert mean["recall_at_k"] == expect["recall"]["mean"]
    assert mean["hit_rate_at_k"] == expect["hit_rate"]
    assert mean["mrr"] == expect["reciprocal_rank"]["mean"]
    assert mean["precision_at_k"] == pytest.approx(expect["precision"]["mean"])


def _scored(name: str, answers: dict[str, Any], k: int) -> QuestionScore:
    texts = [*answers["retrieved"], *([answers["rank_4"]] if "rank_4" in answers else [])]
    chunks = [Chunk(f"d#{at}", "d", Span(at, at + len(text)), text, "", 5) for at, text in enumerate(texts)]
    question = Gold(name, tuple((gold,) for gold in answers["gold"]))
    finds = find_gold(question, chunks, [normalize_chunk(chunk, []) for chunk in chunks])
    gold = QuestionGold(int(finds.found.any(axis=1).sum()), [GoldSlot((), 1)])
    return score_question(question, chunks, finds, k, gold=gold, spans=[], count_tokens=lambda text: len(text.split()))
