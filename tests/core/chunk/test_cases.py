"""Small inputs with right values, one for each kind of fault that people have reported of chunkers."""

import time
from itertools import pairwise

import numpy as np
import pytest
from cases import FILES
from worlds import embed_by_first_letter, health_of, laid_out

from chunklab_core.chunk import chunk_document, make_chunker
from chunklab_core.chunk.prefix import path_shortened
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Span
from chunklab_core.tokens import TokenizedText, count_tokens

STRATEGIES = ["fixed", "recursive", "structure", "semantic"]


def cut(document: Document, name: str, **params: object) -> list[Chunk]:
    return chunk_document(document, make_chunker(name, embed=embed_by_first_letter, **params))


# ---- chunk-spans: a repeated sentence never gets the place of an earlier copy

PUMPS = Document("pumps.txt", "The pump is idle. " * 60 + "The pump is on.")


def test_fixed_windows_cover_the_tokens_that_size_and_overlap_say() -> None:
    chunks = cut(PUMPS, "fixed", chunk_size=20, overlap=5)
    offsets = TokenizedText(PUMPS.text).offsets
    assert len(chunks) == 1 + -(-(305 - 20) // 15)
    windows = [Span(int(offsets[15 * at]), int(offsets[min(15 * at + 20, 305)])) for at in range(20)]
    assert [chunk.span for chunk in chunks] == windows


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("fixed", {"chunk_size": 20, "overlap": 5}),
        ("recursive", {"chunk_size": 20, "overlap": 5}),
        ("structure", {"max_tokens": 20}),
        ("semantic", {"min_tokens": 0, "max_tokens": 20}),
    ],
)
def test_a_repeated_sentence_keeps_its_own_place(name: str, params: dict[str, int]) -> None:
    chunks = cut(PUMPS, name, **params)
    assert all(chunk.body == PUMPS.text[chunk.span.start : chunk.span.end] for chunk in chunks)
    assert all(one.span.start < two.span.start for one, two in pairwise(chunks))
    assert all(one.span.end < two.span.end for one, two in pairwise(chunks))
    assert "The pump is on." in chunks[-1].body
    assert max(chunk.n_tokens for chunk in chunks) <= 20


# ---- chunk-size


def test_an_overlap_one_below_the_size_moves_by_one_token() -> None:
    assert len(cut(Document("go.txt", "go" + " go" * 99), "fixed", chunk_size=64, overlap=63)) == 37


def test_a_heading_path_longer_than_the_budget_is_shortened_and_said() -> None:
    lines = [
        f"{'#' * n} harbour {n} crane {n} safety {n} inspection {n} schedule {n} for {n} the {n} night {n} shift {n}"
        for n in range(1, 7)
    ]
    assert count_tokens("\n\n".join(lines)) == 173
    points = [f"Point {n} says check bolt {n} twice." for n in range(1, 41)]
    document = laid_out("\n\n".join([*lines, " ".join(points)]))
    chunks = cut(document, "structure", max_tokens=64)
    assert all(chunk.n_tokens <= 64 for chunk in chunks)
    assert all(any(point in chunk.body for chunk in chunks) for point in points)
    shortened = [path_shortened(document, chunk) for chunk in chunks]
    assert all(is_short for is_short, chunk in zip(shortened, chunks, strict=True) if "Point" in chunk.body)
    assert all(chunk.prefix for chunk in chunks if "Point" in chunk.body)  # the innermost heading still fits
    said = health_of(document, chunks, min_floor_tokens=0, max_tokens=64, heading_path=True)
    assert (said.path_shortened, said.pct_oversized) == (sum(shortened), {"none": 0.0})


# ---- token-text


@pytest.mark.parametrize(("name", "overlap"), [("fixed", 0), ("fixed", 2), ("recursive", 0), ("recursive", 2)])
def test_special_tokens_are_words_and_no_character_is_cut(name: str, overlap: int) -> None:
    text = (
        "A record ends with <|endoftext|> and a gap starts with <|fim_prefix|>. "
        "Ship it 🚀 for the crew 👩\u200d🚀 and the band 🎸🥁."
    )
    chunks = cut(Document("record.txt", text), name, chunk_size=5, overlap=overlap)
    assert not any("\ufffd" in chunk.body for chunk in chunks)
    assert {chunk.body for chunk in chunks if chunk.n_tokens > 5} == {"👩\u200d🚀"}  # alone, for it needs 8
    covered = {at for chunk in chunks for at in range(chunk.span.start, chunk.span.end)}
    assert all(character.isspace() or at in covered for at, character in enumerate(text))


# ---- long-run

LONG_RUN = Document("run.txt", "Start of the file.\n\n" + "a" * 200_000 + "\n\nThe seal is broken.")


@pytest.mark.parametrize(
    ("name", "limit"), [("fixed", 512), ("recursive", 512), ("structure", 800), ("semantic", 1000)]
)
def test_a_run_without_blanks_is_cut_like_other_text(name: str, limit: int) -> None:
    chunks = cut(LONG_RUN, name)
    assert max(chunk.n_tokens for chunk in chunks) <= limit
    assert any("The seal is broken." in chunk.body for chunk in chunks)
    assert not health_of(LONG_RUN, chunks, min_floor_tokens=0, max_tokens=limit).lost_characters
    if name == "fixed":
        assert len(chunks) == 1 + -(-(25_011 - 512) // 448)


@pytest.mark.parametrize("unit", ["汉", "，", "12. ", "a. ", "1,", "\n- a"])
@pytest.mark.parametrize("name", ["fixed", "recursive", "structure", "semantic"])
def test_the_time_grows_with_the_length_of_a_run_and_not_with_its_square(name: str, unit: str) -> None:
    def seconds(length: int) -> float:
        document = Document("run.txt", "Start.\n\n" + unit * (length // len(unit)) + "\n\nEnd.")
        began = time.process_time()
        cut(document, name)
        return time.process_time() - began

    seconds(1_000)
    assert seconds(120_000) < 12 * seconds(20_000) + 0.3  # 6 where it is linear, 36 where it is quadratic


# ---- table


@pytest.fixture
def torque() -> Document:
    path = FILES / "torque.md"
    if not path.is_file():
        pytest.skip("needs ../shared/cases beside the repository")
    return laid_out(path.read_text(encoding="utf-8"), "torque.md")


def test_parts_of_a_table_hold_whole_rows_and_the_names_of_its_columns(torque: Document) -> None:
    chunks = cut(torque, "structure", max_tokens=200)
    assert len(chunks) > 3
    rows = [line for line in torque.text.splitlines() if line.startswith("| M3")]
    assert len(rows) == 60
    assert sum(chunk.body.splitlines().count("| M3-37 | 2.29 |") for chunk in chunks) == 1
    for chunk in chunks:
        assert all(line in rows for line in chunk.body.splitlines() if "M3" in line)
        assert "| bolt | torque Nm |" in chunk.text
        assert chunk.n_tokens <= 200
    assert chunks[1].prefix == "Bolts\n| bolt | torque Nm |\n|---|---|"


@pytest.mark.parametrize(
    ("name", "params", "intact"),
    [
        ("structure", {"max_tokens": 200}, 0.0),
        ("fixed", {"chunk_size": 100, "overlap": 0}, 0.0),
        ("fixed", {"chunk_size": 400, "overlap": 50}, 0.0),
        ("whole_document", {}, 1.0),
        ("structure", {"max_tokens": 800}, 1.0),
    ],
)
def test_a_table_is_intact_where_one_chunk_holds_it(torque: Document, name: str, params: dict, intact: float) -> None:
    chunks = cut(torque, name, **params)
    assert health_of(torque, chunks, min_floor_tokens=200, max_tokens=None).tables_intact == intact


# ---- semantic


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("min_tokens", [0, 200])
@pytest.mark.parametrize(
    ("text", "n_chunks"), [("One sentence only, without a stop", 1), ("Only one. ", 1), ("", 0), ("  \n\n ", 0)]
)
def test_a_document_of_one_sentence_or_none_needs_no_percentile(text: str, n_chunks: int, min_tokens: int) -> None:
    assert len(cut(Document("d", text), "semantic", min_tokens=min_tokens)) == n_chunks


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 1.0])
def test_equal_and_broken_vectors_make_no_break_and_no_warning(value: float) -> None:
    chunker = make_chunker(
        "semantic_no_floor", embed=lambda texts: np.full((len(texts), 4), value, np.float32), max_tokens=20
    )
    chunks = chunk_document(PUMPS, chunker)
    assert max(chunk.n_tokens for chunk in chunks) <= 20
    assert len(chunks) < 30  # sentences are packed, for no distance stands out
