"""Gold located once and matched by overlap: the same as the plain search says of every chunk, on any text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.chunk import chunk_document, make_chunker
from chunklab_core.inputs.questions import load_questions
from chunklab_core.parse import parse_document
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Span
from chunklab_core.records.questions import Gold
from chunklab_core.score.chunk_edges import passage_of
from chunklab_core.score.gold import find, make_snippet
from chunklab_core.score.locate import locate
from chunklab_core.score.match import ChunkMatch, match_chunks
from chunklab_core.score.wordings import wordings_of

SETS = Path(__file__).parents[4] / "shared" / "benchmarks"


# What decides at a chunk's edge: figures that reach across a blank, joined lines, table pipes, text that folds.
PARTS = [
    *(
        "the fee",
        "is",
        "5",
        "12,500",
        "%",
        "€",
        "$",
        "days",
        "co-\nop",
        "well-known",
        "a",
        "ﬁnal",
        "straße",
        "E4012",
        "v1.2.3",
    ),
    *(
        "|",
        "| a | 5 |\n",
        "|---|---|\n",
        "\n",
        "\n\n",
        "- item",
        "% of",
        "\u00ad\n",
        "un\u200bopened",
        "5 %",
        "-5",
        "日本語。",
    ),
    *(
        "テスト",
        "ｱﾞ",
        "\u3000",
        "e\u0301",
        "\u0301",
        "1/2",
        "3.",
        "#",
        "xxx",
        "\u00a0",
        "(",
        "foo.",
        "Bar:",
        "\t",
        "−",
        "+",
    ),
    *("١٥", "٣٫٥", "٪", "３００", "％", "\\|", "||", "\u2010\n"),
]


PREFIXES = ["", "", "Fees > The fee", "co-", "| a | b |\n|---|---|", "5", "$", "un\u00ad", "ﬁnal", "x-y - "]


WORDS = ["the", "clerk", "stamps", "every", "white", "form", "before", "noon", "and", "files", "12", "pink", "ones"]


def is_snippet(text: str) -> bool:
    try:
        make_snippet(text)
    except ValueError:
        return False
    return True


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Short texts of awkward parts, or long ones with awkward parts among plain words."""
    parts = draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=12, unique=True))
    pool = st.sampled_from(parts if draw(st.booleans()) else [*parts[:3], *WORDS])
    size = draw(st.sampled_from([15, 120]))
    glued = st.tuples(pool, st.sampled_from([" ", " ", "", "\n"])).map("".join)
    return unicodedata.normalize("NFC", "".join(draw(st.lists(glued, min_size=1, max_size=size))))


@st.composite
def chunks_of(draw: st.DrawFn, text: str) -> list[Chunk]:
    """Chunks of any size, with gaps or overlap, some with a prefix."""
    size = draw(st.sampled_from([3, 10, 40, 400]))
    spans, start = [], 0
    for _ in range(12):
        end = min(len(text), start + draw(st.integers(1, size)))
        if text[start:end].strip() and (not spans or (start > spans[-1].start and end > spans[-1].end)):
            spans.append(Span(start, end))
        start = max(start + 1, end + draw(st.integers(-size // 2, 2)))
        if start >= len(text):
            break
    prefixes = st.sampled_from(PREFIXES)
    return [Chunk(f"d#{s.start}", "d", s, text[s.start : s.end], draw(prefixes), 1) for s in spans]


@st.composite
def snippets_of(draw: st.DrawFn, sources: Sequence[str]) -> list[str]:
    """Stretches of the texts, some of them with slips."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        source = draw(st.sampled_from(sources))
        start = draw(st.integers(0, len(source) - 1))
        letters = list(source[start : start + draw(st.sampled_from([2, 8, 15, 30, 60]))])
        for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
            at = draw(st.integers(0, len(letters)))
            letters[at : at + draw(st.integers(0, 1))] = draw(st.sampled_from(["", "x", " ", "5", "-"]))
        found.append("".join(letters))
    return [snippet for snippet in found if is_snippet(snippet)]


def chunk(text: str, start: int, end: int, prefix: str = "") -> Chunk:
    return Chunk(f"d#{start}", "d", Span(start, end), text[start:end], prefix, 1)


def slowly(document: Document, chunks: Sequence[Chunk], snippets: Sequence[str], threshold: float) -> list[ChunkMatch]:
    """Every chunk searched for every snippet: the definition."""
    passages = [passage_of(document.text, chunk) for chunk in chunks]
    searched = [
        (at, wording, find(make_snippet(snippet), passage, threshold))
        for at, passage in enumerate(passages)
        for wording, snippet in enumerate(snippets)
    ]
    return [ChunkMatch(at, wording, match) for at, wording, match in searched if match]


def quickly(document: Document, chunks: Sequence[Chunk], snippets: Sequence[str], threshold: float) -> list[ChunkMatch]:
    wordings = wordings_of([Gold("q", tuple((snippet,) for snippet in snippets))], threshold)
    return match_chunks([(document, chunks)], locate([document.text], wordings), wordings)[0]


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.data(), texts(), st.sampled_from([0.9, 0.9, 0.9, 0.8, 1.0, 0.5]))
def test_overlap_says_of_every_chunk_what_the_search_says(data: st.DataObject, text: str, threshold: float) -> None:
    if not text.strip():
        return
    chunks = data.draw(chunks_of(text))
    sources = [text, text, *(chunk.text for chunk in chunks)]
    snippets = list(dict.fromkeys(data.draw(snippets_of(sources))))
    document = Document("d", text)

    assert quickly(document, chunks, snippets, threshold) == slowly(document, chunks, snippets, threshold)


@settings(max_examples=30, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([*PARTS, *WORDS]), min_size=2, max_size=6), st.sampled_from(["", " "]), st.data())
def test_wherever_a_text_is_cut_what_stands_at_the_cut_is_judged_by_the_chunks(
    parts: list[str], glue: str, data: st.DataObject
) -> None:
    middle, prefix = unicodedata.normalize("NFC", glue.join(parts)), data.draw(st.sampled_from(PREFIXES))
    text = f"The clerk stamps white forms. {middle} Then he files the pink ones."
    for cut in range(31, 31 + len(middle)):
        if text[cut:].strip():
            size = data.draw(st.integers(2, 14))
            chunks = [chunk(text, 0, cut), chunk(text, cut, len(text), prefix)]
            near = [
                text[cut - size : cut],
                text[cut : cut + size],
                text[cut - 2 : cut + size],
                prefix[-3:] + text[cut:][:9],
            ]
            slips = [f"{each[:4]}x{each[4 + size % 2 :]}" for each in near[:2]]
            snippets = [each for each in dict.fromkeys([*near, *slips]) if is_snippet(each)]
            document = Document("d", text)

            assert quickly(document, chunks, snippets, 0.8) == slowly(document, chunks, snippets, 0.8)


@pytest.mark.parametrize(
    ("text", "cut", "snippet", "holds"),
    [
        ("It costs 5\n% of it, or less.", 10, "it costs 5", [True, False]),  # the sign lies behind the edge
        ("Pay 5\n€ to the clerk.", 5, "pay 5", [True, False]),
        ("In US$\n40 boxes are sold.", 6, "40 boxes are", [False, True]),
        ("Fees of 12,500 crowns.", 11, "fees of 12", [False, False]),  # a figure is cut
        ("Press E-\nF12 to go on.", 8, "f12 to go", [False, True]),  # one figure only where the lines are joined
        ("Stop the work-\nflow runs.", 15, "flow runs", [False, True]),
        ("Stop the work-\nflow runs.", 14, "stop the work-", [True, False]),
        ("x | a | b\n", 2, "a | b", [False, True]),  # a pipe that is the first of the chunk, not of the row
        ("un\u00ad\nopened boxes", 3, "un", [True, False]),
        ("Oil the hinge of the gate today.", 9, "oil the h", [True, False]),  # within a word
        ("The clerk stamps the white form. Then he goes.", 28, "The clerk stamps the white form.", [True, False]),
    ],
)
def test_a_cut_in_an_awkward_place_is_judged_by_the_text_of_the_chunk(
    text: str, cut: int, snippet: str, holds: list[bool]
) -> None:
    document = Document("d", text + " Nothing more is said here." * 30)
    chunks = [chunk(document.text, 0, cut), chunk(document.text, cut, len(document.text))]

    found = quickly(document, chunks, [snippet], 0.86)

    assert found == slowly(document, chunks, [snippet], 0.86)
    assert [at in {held.chunk for held in found} for at in range(2)] == holds


@pytest.mark.parametrize(
    ("name", "params"),
    [("fixed", {"chunk_size": 40, "overlap": 12}), ("structure", {"max_tokens": 60}), ("recursive", {})],
)
@pytest.mark.parametrize(("corpus", "n_questions"), [("chunklab_example", 30), ("qasper", 10), ("jsquad", 15)])
def test_overlap_says_of_real_documents_what_the_search_says(
    corpus: str, n_questions: int, name: str, params: dict[str, int]
) -> None:
    if not SETS.is_dir():
        pytest.skip("the shared benchmark sets are not here")
    files = sorted(path for path in (SETS / corpus / "docs").rglob("*") if path.suffix == ".md")
    asked = load_questions(SETS / corpus / "questions.yaml")[:n_questions]
    snippets = list(dict.fromkeys(wording for question in asked for slot in question.slots for wording in slot))
    document = parse_document(files[0])
    document = Document("d", document.text[:6_000], ())
    chunks = chunk_document(document, make_chunker(name, **params))
    slips = [snippet.replace("e", "", 1) for snippet in snippets]
    cut = [document.text[at : at + 45] for at in range(0, len(document.text) - 45, 300)]
    wanted = [each for each in dict.fromkeys([*snippets, *slips, *cut]) if is_snippet(each)]

    found = quickly(document, chunks, wanted, 0.9)

    assert found == slowly(document, chunks, wanted, 0.9)
    assert found
