import pytest

from chunklab_core.index.bm25 import build_bm25, tokenize
from chunklab_core.records.rankings import Ranking
from chunklab_core.retrieve.bm25 import rank

PUMPS = ["valve pump filter", "valve pump hose", "motor belt hose", "fan belt"]
MIXED = [
    "退款申请须在收到货物后三十天内提交。",
    "发票由财务部每月五日寄出。",
    "仓库周末不开放。",
    "Replace fuse RULE-B217 after a surge.",
    "Rule of thumb: replace old fuses yearly.",
    "Set max_open_jobs to 8.",
]


def search(texts: list[str], *queries: str, depth: int = 10) -> list[Ranking]:
    return rank(build_bm25(texts), [tokenize(query) for query in queries], k1=1.2, b=0.75, depth=depth)


def test_only_chunks_that_share_a_term_are_ranked_and_equals_stand_by_position() -> None:
    valve, hose, zebra = search(PUMPS, "valve", "valve hose", "zebra", depth=4)

    assert (valve.rows.tolist(), hose.rows.tolist(), zebra.rows.tolist()) == ([0, 1], [1, 0, 2], [])
    assert valve.scores.tolist() == pytest.approx([0.668293, 0.668293], abs=1e-6)
    assert hose.scores.tolist() == pytest.approx([1.336587, 0.668293, 0.668293], abs=1e-6)


@pytest.mark.parametrize(
    ("query", "rows"), [("退款申请", [0]), ("发票", [1]), ("B217", [3]), ("RULE-B217", [3, 4]), ("max_open_jobs", [5])]
)
def test_the_words_a_user_types_find_the_chunk_that_holds_them(query: str, rows: list[int]) -> None:
    (ranking,) = search(MIXED, query)

    assert ranking.rows.tolist() == rows
    assert (ranking.scores > 0).all()


def test_of_chunks_that_tie_at_the_cut_the_earlier_ones_stay() -> None:
    (ranking,) = search(["b c", "a b", *["a c"] * 50, "a a"], "a", depth=3)

    assert ranking.rows.tolist() == [52, 1, 2]


@pytest.mark.parametrize("texts", [[], ["", ""], ["only this"]])
def test_a_corpus_smaller_than_the_depth_is_no_error(texts: list[str]) -> None:
    (ranking,) = search(texts, "this", depth=1000)

    assert ranking.rows.tolist() == [at for at, text in enumerate(texts) if "this" in text]
    assert search(texts) == []


def test_a_depth_of_zero_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="depth is 0"):
        search(PUMPS, "valve", depth=0)
