"""The reported faults of matching and metrics, with their right values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Span
from chunklab_core.records.questions import Question
from chunklab_core.records.scores import QuestionScore
from chunklab_core.score import QuestionGold, mean_scores, score_question
from chunklab_core.score.gold import contains, find_gold
from chunklab_core.score.normalize import normalize_chunk
from chunklab_core.score.token_level import GoldSlot

CASES = Path(__file__).parents[3] / ".." / "shared" / "cases" / "cases.yaml"


def case(name: str) -> dict[str, Any]:
    if not CASES.exists():
        pytest.skip("needs ../shared/cases/cases.yaml beside the repository")
    return next(one for one in yaml.safe_load(CASES.read_text(encoding="utf-8")) if one["id"] == name)


def written_out(text: str | dict[str, Any]) -> str:
    if isinstance(text, str):
        return text
    return text.get("before", "") + text.get("repeat", "") * text.get("times", 0) + text.get("then", "")


def test_c18_found_is_what_the_case_says() -> None:
    c18 = case("C18")
    threshold = c18["input"]["fuzzy_threshold"]
    found = [contains(snippet, written_out(passage), threshold) for snippet, passage in c18["input"]["pairs"]]

    assert found == c18["expect"]["found"]


def test_c16_metrics_are_what_the_case_says() -> None:
    c16 = case("C16")
    scores = {name: _scored(name, one, c16["input"]["k"]) for name, one in c16["input"]["questions"].items()}
    mean = mean_scores(list(scores.values()))
    expect = c16["expect"]

    for metric, key in (("recall_at_k", "recall"), ("mrr", "reciprocal_rank"), ("precision_at_k", "precision")):
        for name, score in scores.items():
            assert score.metrics[metric] == pytest.approx(expect[key][name], abs=1e-6), (metric, name)
    assert mean["recall_at_k"] == expect["recall"]["mean"]
    assert mean["hit_rate_at_k"] == expect["hit_rate"]
    assert mean["mrr"] == expect["reciprocal_rank"]["mean"]
    assert mean["precision_at_k"] == pytest.approx(expect["precision"]["mean"])


def _scored(name: str, given: dict[str, Any], k: int) -> QuestionScore:
    texts = [*given["retrieved"], *([given["rank_4"]] if "rank_4" in given else [])]
    chunks = [Chunk(f"d#{at}", "d", Span(at, at + len(text)), text, "", 5) for at, text in enumerate(texts)]
    question = Question(name, "?", tuple((gold,) for gold in given["gold"]))
    finds = find_gold(question, chunks, [normalize_chunk(chunk, []) for chunk in chunks])
    gold = QuestionGold(int(finds.found.any(axis=1).sum()), [GoldSlot((), 1)])
    return score_question(question, chunks, finds, k, gold=gold, spans=[], count_tokens=lambda text: len(text.split()))
