"""The reported faults of single functions, each with its own input and right values."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from cases import FILES, expected, given, needs_cases, written_out
from numpy.typing import NDArray

from chunklab_core.chunk import chunk_document, make_chunker
from chunklab_core.chunk.health import document_health, summarize
from chunklab_core.chunk.prefix import path_shortened
from chunklab_core.errors import ConfigError
from chunklab_core.index.bm25 import build_bm25, scores, tokenize
from chunklab_core.index.dense import build_dense
from chunklab_core.models.card import BUNDLED
from chunklab_core.models.embedder import bundled_embedder
from chunklab_core.parse import parse_bytes, parse_document
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document
from chunklab_core.records.rankings import Ranking
from chunklab_core.retrieve import bm25, dense, hybrid
from chunklab_core.score.gold import contains
from chunklab_core.tokens import TokenizedText, count_tokens

pytestmark = needs_cases


def alike(texts: list[str]) -> NDArray[np.float32]:
    return np.ones((len(texts), 2), dtype=np.float32)


def cut(document: Document, strategy: dict[str, dict[str, Any]]) -> list[Chunk]:
    (name, params), *_ = strategy.items()
    embed = alike if name == "semantic" else None
    return chunk_document(document, make_chunker(name, embed=embed, **(params or {})))


def limit_of(strategy: dict[str, dict[str, Any]]) -> int:
    (params, *_) = strategy.values()
    return params.get("max_tokens") or params["chunk_size"]


def assert_lawful(document: Document, chunks: list[Chunk]) -> None:
    """Bodies are slices, spans move on, no span is inside another, and together they cover all but white space."""
    assert all(chunk.body == document.text[chunk.span.start : chunk.span.end] for chunk in chunks)
    assert all(a.span.start < b.span.start and a.span.end < b.span.end for a, b in pairwise(chunks))
    covered = bytearray(len(document.text))
    for chunk in chunks:
        covered[chunk.span.start : chunk.span.end] = b"\1" * (chunk.span.end - chunk.span.start)
    assert all(is_in or character.isspace() for is_in, character in zip(covered, document.text, strict=True))


# ---------------------------------------------------------------- chunk


@pytest.mark.parametrize("at", range(4))
def test_c01_a_repeated_sentence_keeps_its_own_place(at: int) -> None:
    strategy, expect = given("C01")["strategies"][at], expected("C01")
    document = Document("pump.txt", written_out(given("C01")["text"]))
    chunks = cut(document, strategy)

    assert (len(document.text), count_tokens(document.text)) == (expect["characters"], expect["tokens_cl100k"])
    assert_lawful(document, chunks)
    assert "The pump is on." in chunks[-1].body
    if "fixed" in strategy:
        offsets = TokenizedText(document.text).offsets.tolist()
        windows = [(offsets[15 * i], offsets[min(15 * i + 20, 305)]) for i in range(expect["fixed_chunk_count"])]
        assert [(chunk.span.start, chunk.span.end) for chunk in chunks] == windows


@pytest.mark.parametrize("name", ["fixed", "recursive"])
def test_c02a_an_overlap_as_large_as_the_size_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"overlap.*chunk_size"):
        make_chunker(name, **given("C02")["a"]["config"])


def test_c02b_a_step_of_one_token_ends() -> None:
    document, expect = Document("go.txt", written_out(given("C02")["b"]["text"])), expected("C02")["b"]

    assert count_tokens(document.text) == expect["tokens"]
    assert len(cut(document, {"fixed": given("C02")["b"]["config"]})) == expect["fixed_chunk_count"]


def test_c02c_a_path_longer_than_the_maximum_is_shortened_and_counted() -> None:
    names = "harbour {0} crane {0} safety {0} inspection {0} schedule {0} for {0} the {0} night {0} shift {0}"
    headings = [f"{'#' * level} {names.format(level)}" for level in range(1, 7)]
    points = [f"Point {number} says check bolt {number} twice." for number in range(1, 41)]
    document = parse_bytes("harbour.md", "\n\n".join([*headings, " ".join(points)]).encode(), ".md")
    chunks = cut(document, {"structure": given("C02")["c"]["structure"]})

    assert count_tokens("\n\n".join(headings)) == expected("C02")["c"]["tokens_of_the_six_heading_lines"]
    assert all(any(point in chunk.body for chunk in chunks) for point in points)
    assert all(count_tokens(chunk.text) <= 64 for chunk in chunks)
    said = summarize("s", [document_health(document, chunks, min_floor_tokens=0, max_tokens=64, heading_path=True)])
    assert said.path_shortened == sum(path_shortened(document, chunk) for chunk in chunks) > 0


@pytest.mark.parametrize("at", range(3))
def test_c03_special_tokens_are_words_and_no_character_is_cut(at: int) -> None:
    case, strategy = given("C03"), given("C03")["strategies"][at]
    document = Document("record.txt", case["text"].strip())
    chunks = cut(document, strategy)

    assert count_tokens(document.text) == expected("C03")["tokens_cl100k"]
    assert {word: count_tokens(word) for word in expected("C03")["tokens_of"]} == expected("C03")["tokens_of"]
    assert_lawful(document, chunks)
    assert not any("\ufffd" in chunk.text for chunk in chunks)
    assert {chunk.body for chunk in chunks if chunk.n_tokens > limit_of(strategy)} <= {"👩\u200d🚀"}
    assert contains(case["question"]["gold"], document.text)
    assert scores(case["question"]["query"], [document.text])[0] > 0


@pytest.mark.parametrize("at", range(4))
def test_c04_a_run_without_blanks_is_cut_like_other_text(at: int) -> None:
    strategy, document = given("C04")["strategies"][at], Document("run.txt", written_out(given("C04")["text"]))
    chunks = cut(document, strategy)

    assert_lawful(document, chunks)
    assert max(chunk.n_tokens for chunk in chunks) <= limit_of(strategy)
    assert any("The seal is broken." in chunk.body for chunk in chunks)
    if "fixed" in strategy:
        assert count_tokens(document.text) == expected("C04")["tokens_cl100k"]
        assert len(chunks) == expected("C04")["fixed_chunk_count"]


@pytest.mark.parametrize("case", ["C05", "C06"])
def test_c05_c06_headings_and_paths_are_those_of_the_document(case: str) -> None:
    document = parse_bytes("case.md", given(case)["text"].encode(), ".md")
    chunks = cut(document, {"structure": {"max_tokens": 800}})
    headings = [[e.level, e.path[-1]] for e in document.elements if e.kind == "heading"]
    holding = {words: [c.prefix for c in chunks if words in c.body] for words in expected(case)["path_of"]}

    assert headings == expected(case)["headings"]
    assert holding == {words: [" > ".join(path)] for words, path in expected(case)["path_of"].items()}
    assert not any(words in chunk.text for chunk in chunks for words in ("owner: ops team", "title: Pump manual"))


def test_c05_a_block_of_code_stays_with_its_section() -> None:
    document = parse_bytes("case.md", given("C05")["text"].encode(), ".md")
    phrases = ("Run this before", "pip install agent", "Then reboot the box.")

    assert any(all(words in c.body for words in phrases) for c in cut(document, {"structure": {"max_tokens": 800}}))


@pytest.mark.parametrize("at", range(4))
def test_c07_a_table_in_parts_keeps_its_rows_and_its_names(at: int) -> None:
    strategy, document = given("C07")["strategies"][at], parse_document(FILES / given("C07")["file"])
    chunks = cut(document, strategy)
    said = summarize("s", [document_health(document, chunks, min_floor_tokens=0, max_tokens=None)])

    assert sum(e.kind == "table" for e in document.elements) == expected("C07")["tables_found"]
    assert said.tables_intact == list(expected("C07")["tables_intact"].values())[at]
    if "structure" in strategy:
        rows = set(document.text.splitlines())
        assert all(line in rows for chunk in chunks for line in chunk.body.splitlines())
        assert all("bolt" in c.text and "torque Nm" in c.text for c in chunks if "| M3" in c.body)
        assert sum(given("C07")["question"]["gold"] in c.body for c in chunks) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("at", range(2))
def test_c08_one_sentence_or_none_needs_no_percentile(at: int) -> None:
    documents = [Document("d", text) for text in given("C08")["docs"]]

    assert [len(cut(d, given("C08")["strategies"][at])) for d in documents] == expected("C08")["chunk_counts"]


# ---------------------------------------------------------------- index, retrieve


def test_c09_scores_are_those_of_the_formula_and_nothing_shared_is_no_hit() -> None:
    names, texts = zip(*given("C09")["chunks"].items(), strict=True)
    index = build_bm25(texts)
    for constants, by_query in expected("C09")["bm25"].items():
        k1, b = (float(part.partition("=")[2]) for part in constants.split(","))
        for query, hits in by_query.items():
            (found,) = bm25.rank(index, [tokenize(query)], k1=k1, b=b, depth=given("C09")["k"])
            assert [names[row] for row in found.rows] == list(hits)  # in order, equal scores by id
            assert found.scores.tolist() == pytest.approx(list(hits.values()), abs=1e-6)


def test_c09_what_bm25_does_not_find_leaves_the_other_order_as_it_is() -> None:
    names, texts = zip(*given("C09")["chunks"].items(), strict=True)
    fusion = given("C09")["hybrid"]
    keywords = bm25.rank(build_bm25(texts), [tokenize(fusion["query"])], k1=1.2, b=0.75, depth=4)
    order = np.array([names.index(name) for name in fusion["dense_order"]])
    (found,) = hybrid.rank([[Ranking(order, np.arange(4.0, 0.0, -1.0))], keywords], rrf_k=60, candidates=4, depth=4)

    assert [names[row] for row in found.rows] == expected("C09")["hybrid_order"]


def test_c10_the_words_that_a_user_types_find_their_chunk() -> None:
    names, texts = zip(*given("C10")["chunks"].items(), strict=True)
    hits = {}
    for query in given("C10")["queries"]:
        found = scores(query, texts)
        hits[query] = names[int(found.argmax())]
        assert found.max() > 0
    unrelated = scores("退款申请", texts)

    assert hits == expected("C10")["first"]
    assert unrelated[names.index("z1")] == unrelated[names.index("z2")] == 0


def test_c11_ranks_count_from_1_and_a_missing_chunk_adds_nothing() -> None:
    lists, expect = given("C11")["lists"], expected("C11")
    ids = sorted({name for ranked in lists.values() for name in ranked})
    legs = [
        [Ranking(np.array([ids.index(name) for name in ranked]), np.arange(float(len(ranked)), 0.0, -1.0))]
        for ranked in lists.values()
    ]
    (found,) = hybrid.rank(legs, rrf_k=given("C11")["k"], candidates=10, depth=10)

    assert hybrid.fuse(list(lists.values()), k=given("C11")["k"]) == expect["order"]
    assert hybrid.fuse(list(lists.values())[::-1], k=given("C11")["k"]) == expect["order"]
    assert [ids[row] for row in found.rows] == expect["order"]
    assert found.scores.tolist() == pytest.approx([expect["scores"][name] for name in expect["order"]], abs=1e-6)


def test_c13_a_zero_vector_is_no_hit() -> None:
    names, vectors = zip(*given("C13")["chunk_vectors"].items(), strict=True)
    query, k = given("C13")["query_vector"], given("C13")["k"]
    (found,) = dense.rank(build_dense(vectors), [query], depth=k)
    (deep,) = dense.rank(build_dense(vectors), [query], depth=10)

    assert [names[row] for row in found.rows] == [names[row] for row in deep.rows] == expected("C13")["order"]
    assert found.scores.tolist() == pytest.approx(list(expected("C13")["scores"].values()), abs=1e-6)
    assert all(math.isfinite(score) for score in deep.scores)


@pytest.mark.slow
def test_c14_what_the_model_cuts_off_is_counted() -> None:
    texts = [written_out(text) for text in given("C14")["chunks"].values()]
    embedder = bundled_embedder()
    documents = [Document(f"{at}.txt", text) for at, text in enumerate(texts)]
    chunks = [cut(document, {"semantic": {"max_tokens": 1000}}) for document in documents]
    pieces = embedder.count_pieces(texts)
    read = [{BUNDLED: ([count], embedder.card.max_length)} for count in pieces]
    parts = [
        document_health(document, of_document, min_floor_tokens=0, max_tokens=1000, pieces=part)
        for document, of_document, part in zip(documents, chunks, read, strict=True)
    ]

    assert pieces == list(expected("C14")["word_pieces"].values())
    assert count_tokens(texts[0]) == expected("C14")["cl100k_tokens"]["t0"]
    assert [len(each) for each in chunks] == [1, 1]
    assert summarize("s", parts).pct_oversized == {BUNDLED: expected("C14")["pct_oversized"]}
    np.testing.assert_array_equal(*embedder(texts))


# ---------------------------------------------------------------- parse and score together


def test_c19_ligatures_on_a_page_are_the_words_that_a_reader_types() -> None:
    page = parse_document(FILES / "ligatures.pdf").text

    assert all(contains(gold, page, fuzzy_threshold=1.0) for gold in given("C19")["gold"])
    assert all(scores(word, [page])[0] > 0 for word in ("workflow", "filings"))
