from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import embed_by_first_letter, laid_out

from chunklab_core.chunk import BUILTINS, chunk_document, default_params, make_chunker
from chunklab_core.chunk.build import declared_maximum
from chunklab_core.records.chunks import Chunk, Chunker
from chunklab_core.records.documents import Document
from chunklab_core.text import figure_spans, grapheme_starts
from chunklab_core.tokens import count_tokens

TEXTS = {
    "empty": "",
    "blank": " \n\n ",
    "word": "one",
    "markdown": "# Fees\n\nA fee of 5 EUR.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "japanese": "日本語。\n\nテスト。",
    "special": "A record ends with <|endoftext|> and a gap starts with <|fim_prefix|>.",
    "emoji": "Ship it 🚀 for the crew 👩\u200d🚀 and the band 🎸🥁, flags 🇩🇪🇫🇷🇯🇵.",
    "marks": "o\u0301" * 40 + " ภาษาไทยไม่มีช่องว่าง हिन्दी में क्षत्रिय 한국어",
    "windows": "one\r\ntwo\r\n\r\nthree\r\n",
    "blanks": "a" + " \n" * 300 + "b" + "\n" * 300,
    "figures": "It costs 12,500.00 € or 99.5 % of -1,234,567 on 2024-05-06 at 07:30:15 for E4012. " * 4,
    "run": "x" * 900,
    "rows": "| name | size |\n|---|---|\n" + "".join(f"| bolt {n} | {n}.25 |\n" for n in range(40)),
    "headings": "# One\n\n## Two\n\n### Three\n\n",
}


SMALL: dict[str, dict[str, Any]] = {
    "fixed": {"chunk_size": 12, "overlap": 3},
    "recursive": {"chunk_size": 12, "overlap": 3},
    "semantic": {"min_tokens": 4, "max_tokens": 12, "breakpoint_percentile": 50},
    "semantic_no_floor": {"max_tokens": 12, "breakpoint_percentile": 50},
    "structure": {"max_tokens": 12, "min_tokens": 4},
    "whole_document": {},
}


BLOCKS = st.one_of(
    st.sampled_from(["# Fees", "## Refunds within 14 days", "## Fees", "### A very long heading of many words indeed"]),
    st.sampled_from(
        ["Refunds take 5 days. Call us! No cash?", "日本語の文。次の文。", "🇩🇪🇫🇷 12.5 % e\u0301", "y" * 90]
    ),
    st.sampled_from(["- one\n- two 1,000 €\n- three", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "```\nx = 1\n```"]),
    st.text(alphabet="ab 1.,€%\n漢e\u0301🚀-|", min_size=1, max_size=60),
)


MARKDOWN = st.lists(BLOCKS, max_size=8).map("\n\n".join)


def chunker_of(name: str, **params: Any) -> Chunker:
    return make_chunker(name, embed=embed_by_first_letter, **params)


def assert_lawful(document: Document, chunks: list[Chunk], limit: int | None) -> None:
    text = document.text
    spans = [chunk.span for chunk in chunks]
    assert all(chunk.body == text[chunk.span.start : chunk.span.end] for chunk in chunks)
    assert all(one.start < two.start and one.end < two.end for one, two in pairwise(spans))
    covered = {at for span in spans for at in range(span.start, span.end)}
    assert all(character.isspace() or at in covered for at, character in enumerate(text))
    edges = {*grapheme_starts(text), len(text)}
    assert all({span.start, span.end} <= edges for span in spans)
    assert [chunk.n_tokens for chunk in chunks] == [count_tokens(chunk.text) for chunk in chunks]
    assert [chunk.chunk_id for chunk in chunks] == [f"{document.doc_id}#{at:06}" for at in range(len(chunks))]
    if limit is not None:
        lone = [chunk for chunk in chunks if chunk.n_tokens > limit]
        assert all(len(grapheme_starts(chunk.body.strip())) == 1 and not chunk.prefix for chunk in lone)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("name", BUILTINS)
@pytest.mark.parametrize("heading_path", [False, True])
@pytest.mark.parametrize("size", ["small", "default"])
def test_chunks_are_slices_in_order_that_lose_no_word(name: str, text: str, heading_path: bool, size: str) -> None:
    chunker = chunker_of(name, heading_path=heading_path, **(SMALL[name] if size == "small" else {}))
    for document in (laid_out(text), Document("doc", text)):
        assert_lawful(document, chunk_document(document, chunker), declared_maximum(chunker))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(MARKDOWN, st.sampled_from(list(BUILTINS)), st.booleans(), st.integers(1, 40))
def test_any_markdown_is_cut_lawfully(text: str, name: str, heading_path: bool, size: int) -> None:
    sizes = {"chunk_size": size, "overlap": size // 3, "max_tokens": size, "min_tokens": size // 2}
    params = {key: value for key, value in sizes.items() if key in default_params(name)}
    chunker = chunker_of(name, heading_path=heading_path, **params)
    document = laid_out(text)
    assert_lawful(document, chunk_document(document, chunker), declared_maximum(chunker))


@pytest.mark.parametrize("name", BUILTINS)
def test_a_figure_that_fits_is_never_cut(name: str) -> None:
    text = TEXTS["figures"]
    short = [figure for figure in figure_spans(text) if figure[1] - figure[0] <= 40]
    assert len(short) == 24
    for chunk in chunk_document(laid_out(text), chunker_of(name, **SMALL[name])):
        for edge in (chunk.span.start, chunk.span.end):
            assert not any(start < edge < end for start, end in short)


def test_a_window_that_moves_by_one_token_does_not_begin_inside_a_figure() -> None:
    document = Document("prices.txt", "It costs 12,500.00 euro or 99.5 % on 2024-05-06.")
    chunks = chunk_document(document, make_chunker("fixed", chunk_size=12, overlap=11))
    edges = {edge for chunk in chunks for edge in (chunk.span.start, chunk.span.end)}
    assert not any(start < edge < end for start, end in figure_spans(document.text) for edge in edges)


@pytest.mark.parametrize("name", BUILTINS)
@pytest.mark.parametrize("text", ["", "  \n\n "])
def test_a_document_without_text_has_no_chunks(name: str, text: str) -> None:
    assert chunk_document(Document("doc", text), chunker_of(name)) == []


def test_equal_documents_and_parameters_give_equal_chunks() -> None:
    document = laid_out(TEXTS["rows"])
    for name in BUILTINS:
        assert chunk_document(document, chunker_of(name)) == chunk_document(document, chunker_of(name))
