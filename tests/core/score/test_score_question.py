"""The figures of a question and of a cell: right values by hand, and the same as independent libraries."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Span
from chunklab_core.records.questions import Question
from chunklab_core.records.scores import FuzzyFind, QuestionScore
from chunklab_core.score import METRICS, QuestionGold, is_share, mean_scores, score_question
from chunklab_core.score.gold import find_gold
from chunklab_core.score.hit_rate import hit_at_k
from chunklab_core.score.mrr import first_hit_rank, reciprocal_rank
from chunklab_core.score.normalize import normalize_chunk
from chunklab_core.score.precision import precision_at_k
from chunklab_core.score.recall import recall_at_k
from chunklab_core.score.token_level import GoldSlot, Stretch

LAMP, ROPE = "The lamp hangs in the hall.", "The rope lies in the boat."


def words(text: str) -> int:
    return len(text.split())


def chunk(text: str, at: int = 0, doc_id: str = "doc", prefix: str = "") -> Chunk:
    return Chunk(f"{doc_id}#{at}", doc_id, Span(at, at + len(text)), text, prefix, words(f"{prefix} {text}"))


NO_PLACE = [GoldSlot((), 1)]  # for tests of figures that do not count tokens of the documents


def scored(gold: list[str | tuple[str, ...]], chunks: list[Chunk], k: int = 3) -> QuestionScore:
    question = Question("q", "?", tuple((slot,) if isinstance(slot, str) else slot for slot in gold))
    finds = find_gold(question, chunks, [normalize_chunk(one, []) for one in chunks])
    known = QuestionGold(int(finds.found.any(axis=1).sum()), NO_PLACE)
    return score_question(question, chunks, finds, k, gold=known, spans=[], count_tokens=words)


def test_the_definitions_on_four_questions() -> None:
    twice = scored([LAMP, ROPE], [chunk(f"{LAMP} x"), chunk(f"{LAMP} y", 100), chunk("none", 200)])
    below = scored([LAMP], [chunk("n1"), chunk("n2", 10), chunk("n3", 20), chunk(LAMP, 30)])
    empty = scored([LAMP], [])
    short = scored([ROPE], [chunk(ROPE)])
    four = [twice, below, empty, short]

    expected = {
        "recall_at_k": ([0.5, 0, 0, 1], 0.375),
        "hit_rate_at_k": ([1, 0, 0, 1], 0.5),
        "mrr": ([1, 0, 0, 1], 0.5),
        "precision_at_k": ([2 / 3, 0, 0, 1 / 3], 0.25),
        "retrieved_tokens_at_k": ([15, 3, 0, 6], 6),
        "context_efficiency": ([6 / 15, 0, 0, 1], 0.35),
    }
    means = mean_scores(four)
    for metric, (values, mean) in expected.items():
        assert [score.metrics[metric] for score in four] == pytest.approx(values), metric
        assert means[metric] == pytest.approx(mean), metric
    assert [score.first_hit_rank for score in four] == [1, None, None, 1]
    assert twice.found == (True, False)


def test_chunks_below_k_change_no_figure() -> None:
    """Of three chunks that hold the gold, one came back at rank 2 and one below k; the gold is tokens 4 to 10."""
    chunks = [chunk("none"), chunk(f"{LAMP} x", 10), chunk(f"{LAMP} y", 100)]
    question = Question("q", "?", ((LAMP,),))
    finds = find_gold(question, chunks, [normalize_chunk(one, []) for one in chunks])
    gold = QuestionGold(3, [GoldSlot([Stretch(0, 4, 10)], 6)])
    spans = [Stretch(0, 0, 2), Stretch(0, 4, 11), Stretch(0, 4, 10)]
    score = score_question(question, chunks, finds, 2, gold=gold, spans=spans, count_tokens=words)

    assert score.metrics == pytest.approx(
        {
            "recall_at_k": 1,
            "hit_rate_at_k": 1,
            "mrr": 0.5,
            "precision_at_k": 0.5,
            "retrieved_tokens_at_k": 8,
            "context_efficiency": 6 / 8,
            "ndcg_at_k": (1 / np.log2(3)) / (1 + 1 / np.log2(3)),
            "map_at_k": 1 / 2 / 3,
            "token_recall": 1,
            "token_precision": 6 / 9,
            "token_iou": 6 / 9,
        }
    )
    assert mean_scores([score]) == score.metrics


def test_every_metric_but_the_retrieved_tokens_is_a_share() -> None:
    assert [name for name in METRICS if not is_share(name)] == ["retrieved_tokens_at_k"]


def test_a_new_metric_is_one_line_and_reaches_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("chunklab_core.score.longest")
    module.longest = lambda chunks, k: max(one.n_tokens for one in chunks) / k  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("chunklab_core.score.METRICS", {**METRICS, "longest_at_k": f"{module.__name__}:longest"})
    score = scored([LAMP], [chunk("one two"), chunk(LAMP, 10)], k=2)

    assert score.metrics["longest_at_k"] == 6 / 2
    assert list(mean_scores([score])) == [*METRICS, "longest_at_k"]


def test_overlapping_golds_count_as_their_union() -> None:
    score = scored(["one two three", "two three four"], [chunk("zero one two three four five")])

    assert score.metrics["context_efficiency"] == 4 / 6


def test_characters_seen_through_two_chunks_count_once() -> None:
    text = "one two three four five six"
    first, second = chunk(text[:18], 0), chunk(text[8:], 8)  # both hold "three four"
    score = scored(["one two three four", "three four five six"], [first, second])

    assert (first.body, second.body) == ("one two three four", "three four five six")
    assert score.metrics["context_efficiency"] == 6 / 8


def test_one_gold_in_two_chunks_counts_in_the_first_only() -> None:
    assert scored([LAMP], [chunk(LAMP), chunk(f"{LAMP} b", 500)]).metrics["context_efficiency"] == 6 / 13


def test_the_first_listed_wording_that_was_found_counts() -> None:
    slot = ("not there at all", LAMP, "the hall")

    assert scored([slot], [chunk("the hall x y"), chunk(LAMP, 100)]).metrics["context_efficiency"] == 6 / 10


def test_gold_in_the_prefix_is_found_and_counted() -> None:
    assert (
        scored(["Winter hours"], [chunk("Shut at noon.", prefix="Winter hours")]).metrics["context_efficiency"] == 2 / 5
    )


def test_gold_tokens_never_exceed_those_of_their_chunk() -> None:
    question = Question("q", "?", ((LAMP,),))
    chunks = [chunk(LAMP)]
    finds = find_gold(question, chunks, [normalize_chunk(chunks[0], [])])
    score = score_question(question, chunks, finds, 1, gold=QuestionGold(1, NO_PLACE), spans=[], count_tokens=len)

    assert score.metrics["context_efficiency"] == 1


def test_a_fuzzy_find_is_listed_with_the_words_that_differ_and_an_exact_one_is_not() -> None:
    slipped = chunk("Teh lamp hangs in the hall.")

    assert scored([LAMP], [slipped]).fuzzy == (FuzzyFind(0, "doc#0", "the", "teh"),)
    assert scored([(LAMP, "hangs in the hall")], [slipped]).fuzzy == ()


def test_finds_of_another_ranking_or_no_k_are_refused() -> None:
    question = Question("q", "?", ((LAMP,),))
    finds, gold = find_gold(question, [], []), QuestionGold(0, NO_PLACE)
    with pytest.raises(ValueError, match="one row a chunk"):
        score_question(question, [chunk(LAMP)], finds, 3, gold=gold, spans=[], count_tokens=words)
    with pytest.raises(ValueError, match="k is 0"):
        score_question(question, [], finds, 0, gold=gold, spans=[], count_tokens=words)


def test_a_question_without_gold_has_no_recall() -> None:
    with pytest.raises(ValueError, match="0 slots"):
        recall_at_k(np.zeros((3, 0), dtype=bool))


def test_a_mean_over_no_question_is_refused() -> None:
    with pytest.raises(ValueError, match="no scored question"):
        mean_scores([])


def test_metrics_agree_with_an_independent_library_on_random_rankings() -> None:
    ir = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(3)
    for k in (1, 3, 5, 10):
        found = rng.random((50, 12, 4)) < 0.08
        # One slot a chunk at most and one chunk a slot, so that slots are what the library calls relevant documents.
        found &= (found.cumsum(axis=1) == 1) & (found.cumsum(axis=2) == 1)
        cut = [one[:k] for one in found]
        qrels, run = [], []
        for question, one in enumerate(found):
            named = {row: f"slot{slot}" for row, slot in np.argwhere(one)}
            qrels += [ir.Qrel(str(question), f"slot{slot}", 1) for slot in range(4)]
            run += [ir.ScoredDoc(str(question), named.get(row, f"none{row}"), 20 - row) for row in range(12)]
        theirs = ir.calc_aggregate([ir.R @ k, ir.P @ k, ir.RR @ k, ir.Success @ k], qrels, run)

        assert np.mean([recall_at_k(one) for one in cut]) == pytest.approx(theirs[ir.R @ k], abs=1e-9)
        assert np.mean([precision_at_k(one, k) for one in cut]) == pytest.approx(theirs[ir.P @ k], abs=1e-9)
        assert np.mean([reciprocal_rank(one) for one in cut]) == pytest.approx(theirs[ir.RR @ k], abs=1e-9)
        assert np.mean([hit_at_k(one) for one in cut]) == pytest.approx(theirs[ir.Success @ k], abs=1e-9)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(hnp.arrays(np.bool_, st.tuples(st.integers(0, 6), st.integers(1, 4))), st.randoms(use_true_random=False))
def test_figures_of_any_ranking_keep_their_bounds(found: np.ndarray, random: object) -> None:
    k = max(len(found), 1)
    recalls = [recall_at_k(found[:rank]) for rank in range(len(found) + 1)]
    order = np.random.default_rng(0).permutation(len(found))

    assert recalls == sorted(recalls)
    assert recall_at_k(found[order]) == recalls[-1]
    assert all(0 <= value <= 1 for value in (recalls[-1], hit_at_k(found), reciprocal_rank(found)))
    assert 0 <= precision_at_k(found, k) <= 1
    assert (first_hit_rank(found) is None) == (hit_at_k(found) == 0)
