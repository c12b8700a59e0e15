"""Gold located once and matched by overlap: the same as the plain search says of every chunk, on any text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.chunk import chunk_document, make_chunker
from chunklab_core.inputs.questions import load_questions
from chunklab_core.parse import parse_document
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Span
from chunklab_core.records.questions import Question
from chunklab_core.score.chunk_edges import core_of, edges_of, passage_of
from chunklab_core.score.gold import find, find_gold, make_snippet
from chunklab_core.score.in_tokens import InTokens
from chunklab_core.score.locate import locate
from chunklab_core.score.match import ChunkMatch, match_chunks
from chunklab_core.score.places import GoldChunks, SlotPlace, gold_chunks, slot_places, slots_without
from chunklab_core.score.stored import (
    pack_gold_chunks,
    pack_located,
    pack_places,
    unpack_gold_chunks,
    unpack_located,
    unpack_places,
)
from chunklab_core.score.wordings import wordings_of

NO_TOKENS = InTokens(np.zeros((0, 3)), np.zeros((0, 6)), np.zeros((0, 3), dtype=np.int64))
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


def rows_of(found: GoldChunks, question: int, slot: int) -> list[int]:
    """The rows of all chunks that hold a slot."""
    return [row for at, row, of, *_ in found.table.tolist() if (at, of) == (question, slot)]


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
    wordings = wordings_of([Question("q", "?", tuple((snippet,) for snippet in snippets))], threshold)
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


@pytest.mark.parametrize(
    ("text", "start", "end", "prefix", "core"),
    [
        ("Oil the hinge. Shut the gate.", 0, 14, "", "Oil the hinge."),
        ("Oil the hinge. Shut the gate.", 14, 29, "", " Shut the gate."),
        ("Oil the hinge. Shut the gate.", 2, 18, "", "l the hinge. Shu"),  # both words read alike in parts
        ("Öil the hinge. Shut the gäte.", 1, 27, "", "the hinge. Shut the"),  # letters that may fold to several
        ("Bay E40 of the gate-way ends", 6, 18, "", "of the"),  # of a figure and a joined word, parts read otherwise
        ("It costs 5 % more", 0, 10, "", "It costs"),  # the sign behind the edge belongs to the figure
        ("It costs 5 % more", 11, 17, "", "more"),
        ("the work-\nflow runs on", 10, 22, "", "runs on"),  # a line is joined at the edge
        ("the work-\nflow runs on", 0, 10, "", "the"),
        ("| a | b |\n| c | d |\n", 10, 20, "", "| c | d |\n"),  # a whole row
        ("| a | b |\n| c | d |\n", 0, 5, "", "| a"),  # the pipe in the middle is the last of the chunk, not of the row
        ("Oil the hinge.", 0, 14, "Gate > Care", "Oil the hinge."),
        ("Oil the hinge.", 0, 14, "Gate-", "the hinge."),
        ("one", 1, 3, "", "ne"),
        ("one2", 1, 4, "", ""),
    ],
)
def test_a_chunk_reads_as_its_document_between_plain_gaps(
    text: str, start: int, end: int, prefix: str, core: str
) -> None:
    span = core_of(text, chunk(text, start, end, prefix))

    assert text[span.start : span.end] == core


def test_a_chunk_without_a_prefix_that_begins_and_ends_between_words_has_no_edge_to_search() -> None:
    text = "Oil the hinge. Shüt the gate. " * 40
    whole, cut = chunk(text, 15, 600), chunk(text, 17, 600)

    assert edges_of(text, whole, core_of(text, whole), 20) == []
    (edge,) = edges_of(text, cut, core_of(text, cut), 20)
    assert edge.text.startswith("üt the gate. oil")
    assert len(edge.text) < 300
    assert edge.concerns(0, 10)  # begins in the word that was cut
    assert not edge.concerns(12, 20)  # a letter is counted as the three to which it may fold


def test_every_place_of_a_wording_is_located_and_the_nearest_where_there_is_no_copy() -> None:
    texts = [
        "Oil the hinge in May.\nOil   the hinge in June.",
        "Nothing of that here, at all.",
        "First oil teh hinge well, then go.",
    ]
    wordings = wordings_of([Question("q", "?", (("oil the hinge", "oil the hinge well"),))], 0.88)
    found = locate(texts, wordings)

    assert [(o.wording, texts[0][o.start : o.end], o.edits) for o in found[0].occurrences] == [
        (0, "Oil the hinge", 0),
        (0, "Oil   the hinge", 0),
    ]
    assert found[1].occurrences == ()
    assert [(o.wording, texts[2][o.start : o.end], o.edits) for o in found[2].occurrences] == [
        (1, "oil teh hinge well", 2)  # 2 of 18 characters are allowed, of 13 only 1
    ]


QUESTIONS = [
    Question("hinge", "?", (("Oil the hinge.",), ("Shut the gate.", "Close the gate."))),
    Question("gate", "?", (("Shut the gate.",),), documents=("yard.md",)),
    Question("lost", "?", (("Paint the fence.",),)),
]
CORPUS = [
    ("barn.md", "Oil the hinge. Close the gate."),
    ("yard.md", "Shut the gate. Sweep."),
    ("a.md", "Shut the gate."),
]


def located_corpus() -> tuple[list[tuple[int, str, object]], object]:
    wordings = wordings_of(QUESTIONS, 1.0)
    found = locate([text for _, text in CORPUS], wordings)
    return [(at, CORPUS[at][0], each) for at, each in enumerate(found)], wordings


def test_places_are_told_by_slot_and_only_where_gold_counts() -> None:
    located, wordings = located_corpus()
    places = slot_places(located, wordings)  # type: ignore[arg-type]

    assert places == {
        (0, 0): (SlotPlace(0, 0, 0, 14, 0),),
        (0, 1): (SlotPlace(1, 0, 15, 30, 0), SlotPlace(0, 1, 0, 14, 0), SlotPlace(0, 2, 0, 14, 0)),
        (1, 0): (SlotPlace(0, 1, 0, 14, 0),),
    }
    assert slots_without(places, QUESTIONS) == [(2, 0)]


def corpus_holders() -> GoldChunks:
    located, wordings = located_corpus()
    cut = [[(0, 14), (14, 30)], [(0, 14), (5, 21)], [(0, 8), (8, 14)]]
    documents = [
        (Document(name, text), [chunk(text, *span) for span in spans])
        for (name, text), spans in zip(CORPUS, cut, strict=True)
    ]
    found = match_chunks(documents, [each for _, _, each in located], wordings)  # type: ignore[arg-type,misc]
    return gold_chunks([(CORPUS[at][0], 2 * at, each) for at, each in enumerate(found)], wordings)  # type: ignore[arg-type]


def test_holders_are_the_rows_of_chunks_and_serve_any_ranking() -> None:
    found = corpus_holders()

    assert rows_of(found, 0, 1) == [1, 2]  # in a.md the cut parts the answer
    assert rows_of(found, 1, 0) == [2]
    assert rows_of(found, 2, 0) == []
    assert found.slots() == {(0, 0), (0, 1), (1, 0)}
    finds = found.finds(0, 2, [5, 1, 2, 0])
    assert finds.found.tolist() == [[False, False], [False, True], [False, True], [True, False]]
    assert found.finds(2, 1, [0]).found.tolist() == [[False]]


def test_finds_are_those_of_find_gold_with_the_words_that_differ() -> None:
    text = "Oil teh hinge of the gate. Oil the hinge of the gate."
    question = Question("q", "?", (("Oil the hinge of the gate.", "the gate"),))
    pieces = [chunk(text, 0, 26), chunk(text, 5, 50), chunk(text, 26, 53)]
    wordings = wordings_of([question], 0.9)
    found = gold_chunks(
        [("d", 0, match_chunks([(Document("d", text), pieces)], locate([text], wordings), wordings)[0])], wordings
    )

    finds, slow = found.finds(0, 1, [2, 0, 1]), find_gold(question, pieces, [passage_of(text, p) for p in pieces])

    assert finds.places == slow.take([2, 0, 1]).places
    assert found.words == {0: ("the", "teh")}
    assert unpack_gold_chunks(pack_gold_chunks(found, NO_TOKENS))[0].finds(0, 1, [0]).places == slow.take([0]).places


def test_what_was_located_comes_back_as_it_was_kept() -> None:
    located = [each for _, _, each in located_corpus()[0]]

    assert [unpack_located(pack_located(each)) for each in located] == located  # type: ignore[arg-type]
    kept = unpack_places(pack_places(located))  # type: ignore[arg-type]
    assert [(at, each.occurrences) for at, each in kept] == [(at, each.occurrences) for at, each in enumerate(located)]  # type: ignore[attr-defined]


def test_a_corpus_without_gold_has_no_holders() -> None:
    empty, _ = unpack_gold_chunks(pack_gold_chunks(gold_chunks([], wordings_of(QUESTIONS, 0.9)), NO_TOKENS))

    assert empty.slots() == set()
    assert rows_of(empty, 0, 0) == []
    assert empty.finds(0, 2, [3, 4]).found.tolist() == np.zeros((2, 2)).tolist()
