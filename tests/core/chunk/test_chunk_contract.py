from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import embed_by_first_letter, laid_out

from chunklab_core.chunk import BUILTINS, chunk_document, default_params, make_chunker
from chunklab_core.chunk.build import declared_maximum
from chunklab_core.errors import ConfigError, ContractError
from chunklab_core.records.chunks import Chunk, Chunker, Cut
from chunklab_core.records.documents import Document, Span
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


# ------------------------------------------------------------------------------------------------ configuration


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("fixd", {}, "There is no chunking strategy 'fixd'; did you mean 'fixed'? Known: fixed, recursive,"),
        (
            "fixed",
            {"chunksize": 3},
            "fixed has no parameter 'chunksize'; did you mean 'chunk_size'? Known: chunk_size,",
        ),
        ("whole_document", {"max_tokens": 3}, "whole_document has no parameter 'max_tokens'. Known: heading_path."),
        ("fixed", {"chunk_size": 64, "overlap": 64}, "fixed.overlap is 64 and fixed.chunk_size is 64"),
        ("recursive", {"chunk_size": 64, "overlap": 64}, "recursive.overlap is 64 and recursive.chunk_size is 64"),
        ("fixed", {"chunk_size": 0}, "fixed.chunk_size is 0; it must be a whole number of at least 1"),
        ("fixed", {"chunk_size": True}, "fixed.chunk_size is True"),
        ("fixed", {"chunk_size": "512"}, "fixed.chunk_size is '512'"),
        ("fixed", {"chunk_size": 512.0}, "fixed.chunk_size is 512.0"),
        ("recursive", {"overlap": -1}, "recursive.overlap is -1; it must be a whole number of at least 0"),
        ("structure", {"max_tokens": float("nan")}, "structure.max_tokens is nan"),
        ("structure", {"min_tokens": 900}, "structure.min_tokens is 900 and structure.max_tokens is 800"),
        ("structure", {"heading_path": "yes"}, "structure.heading_path is 'yes'; it must be true or false"),
        ("semantic", {"min_tokens": 1001}, "semantic.min_tokens is 1001 and semantic.max_tokens is 1000"),
        ("semantic", {"breakpoint_percentile": float("nan")}, "semantic.breakpoint_percentile is nan"),
        ("semantic", {"breakpoint_percentile": 101}, "it must be a number from 0 to 100"),
        ("semantic_no_floor", {"breakpoint_percentile": None}, "semantic_no_floor.breakpoint_percentile is None"),
        ("semantic", {"model": 3}, "semantic.model is 3; it must be the name of a model"),
    ],
)
def test_what_cannot_work_is_refused_with_the_name_of_the_key(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_chunker(name, **params)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_defaults_are_those_of_the_design() -> None:
    semantic = {
        "breakpoint_percentile": 95.0,
        "min_tokens": 200,
        "max_tokens": 1000,
        "heading_path": False,
        "model": None,
    }
    assert {name: default_params(name) for name in BUILTINS} == {
        "fixed": {"chunk_size": 512, "overlap": 64, "heading_path": False},
        "recursive": {"chunk_size": 512, "overlap": 64, "heading_path": False},
        "semantic": semantic,
        "semantic_no_floor": {**semantic, "min_tokens": 0},
        "structure": {"max_tokens": 800, "min_tokens": 0, "heading_path": True},
        "whole_document": {"heading_path": False},
    }


# ------------------------------------------------------------------------------------------------ plug-ins

PLUGIN = """
from dataclasses import dataclass
from chunklab_core.records import Span

@dataclass(frozen=True)
class ByHalf:
    at: int = 4
    def __call__(self, document):
        return [Span(0, self.at), Span(self.at, len(document.text))]

def first_word(document):
    return [Span(0, document.text.index(" "))]
"""


def test_a_class_of_the_users_own_cuts_by_its_file_name(tmp_path) -> None:
    (tmp_path / "halves.py").write_text(PLUGIN)
    chunker = make_chunker("halves.py:ByHalf", base=tmp_path, at=3)
    assert [chunk.body for chunk in chunk_document(Document("d", "abcdef"), chunker)] == ["abc", "def"]
    assert default_params("halves.py:ByHalf", base=tmp_path) == {"at": 4}
    with pytest.raises(ConfigError, match=r"has no parameter 'size'\. Known: at\."):
        make_chunker("halves.py:ByHalf", base=tmp_path, size=3)


def test_a_users_own_chunker_that_lacks_a_parameter_is_refused(tmp_path) -> None:
    (tmp_path / "needs.py").write_text("class Needs:\n    def __init__(self, size):\n        self.size = size\n")
    with pytest.raises(ConfigError, match=r"needs\.py:Needs cannot be made from its parameters: .*'size'"):
        make_chunker("needs.py:Needs", base=tmp_path)


def test_a_users_own_chunker_may_leave_text_out(tmp_path) -> None:
    (tmp_path / "halves.py").write_text(PLUGIN)
    chunks = chunk_document(Document("d", "one two"), make_chunker("halves.py:first_word", base=tmp_path))
    assert [chunk.body for chunk in chunks] == ["one"]


@pytest.mark.parametrize(
    ("cuts", "problem"),
    [
        ([Span(0, 9)], "is blank or outside its 8 characters"),
        ([Span(3, 3)], "is blank or outside"),
        ([Span(3, 5)], "is blank or outside"),
        ([Span(-1, 2)], "is blank or outside"),
        ([Span(5, 8), Span(0, 3)], "does not move on from 5:8"),
        ([Span(0, 8), Span(1, 3)], "does not move on from 0:8"),
        ([Span(0, 3), Span(0, 8)], "does not move on from 0:3"),
        ([Cut(Span(0, 3), (Span(7, 12),))], "has a header outside its document"),
    ],
)
def test_cuts_that_break_the_laws_are_refused(cuts: list[Span | Cut], problem: str) -> None:
    with pytest.raises(ContractError) as caught:
        chunk_document(Document("d", "one  two"), lambda document: cuts)
    assert problem in str(caught.value)
    assert "'d'" in str(caught.value)


def test_a_declared_maximum_and_a_path_are_honoured_for_plugins_too() -> None:
    class Whole:
        max_tokens = 6
        heading_path = True

        def __call__(self, document: Document) -> list[Span]:
            return [Span(0, len(document.text))]

    document = laid_out("Pay now.")
    paths = [("One", "Two"), ("One", "Two", "A longer title than fits")]
    shown = []
    for path in paths:
        element = type(document.elements[0])("paragraph", Span(0, 8), path)
        shown.append(chunk_document(Document("d", document.text, (element,)), Whole())[0].prefix)
    assert shown == ["Two", ""]  # "One > Two" and its line end would be 4 tokens beside the body's 3
