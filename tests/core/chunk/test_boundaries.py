import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.chunk.boundaries import _JOINING, MAX_FIGURE, Boundaries
from chunklab_core.text import figure_spans, grapheme_starts, inside

PARTS = [
    *(
        "12",
        "3",
        "€",
        "$",
        " ",
        "\u00a0",
        ".",
        ",",
        "-",
        "−",
        "+",
        "%",
        "٪",
        "/",
        ":",
        "(",
        ")",
        "_",
        "0.5",
        "1,000,000",
        "E4012",
    ),
    *(
        "a",
        "word",
        "漢",
        "字",
        "年",
        "é",
        "e\u0301",
        "\n",
        "\r\n",
        "🚀",
        "👩\u200d🚀",
        "🇩🇪",
        "🇫",
        "क्ष",
        "\u0600",
        "١٢",
        "ᄒ",
        "ᅡ",
        "ᆫ",
    ),
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)
CLUSTER = regex.compile(r"\X")
JOINER = regex.compile(
    r"[\r\p{GCB=Prepend}\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=L}\p{GCB=V}\p{GCB=T}\p{Regional_Indicator}]"
)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(TEXTS)
def test_a_place_is_safe_where_it_splits_neither_a_character_nor_a_short_figure(text: str) -> None:
    bounds = Boundaries(text)
    edges = {*(match.start() for match in CLUSTER.finditer(text)), len(text)}
    figures = [span for span in figure_spans(text) if span[1] - span[0] <= MAX_FIGURE]
    places = range(len(text) + 1)
    assert [bounds.is_safe(at) for at in places] == [at in edges and not inside(figures, at) for at in places]
    assert [bounds.start_of_character(at) == at == bounds.end_of_character(at) for at in places] == [
        at in edges for at in places
    ]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(TEXTS)
def test_characters_are_those_of_the_standard_with_flags_in_pairs(text: str) -> None:
    assert grapheme_starts(text) == [match.start() for match in CLUSTER.finditer(text)]


def test_no_character_that_joins_its_neighbour_is_overlooked() -> None:
    everything = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert [character for character in JOINER.findall(everything) if not _JOINING.match(character)] == []


def test_a_cut_is_moved_back_out_of_a_figure_that_fits_and_through_one_that_does_not() -> None:
    text = "a 12,500 b"
    bounds = Boundaries(text)
    assert [bounds.back(at, 0) for at in (2, 3, 5, 7, 8)] == [2, 2, 2, 2, 8]
    assert bounds.back(5, 2) == 5  # what begins at 2 is the figure itself: it is larger than the budget


def test_a_character_larger_than_the_budget_is_told_by_its_end() -> None:
    bounds = Boundaries("👩\u200d🚀!")
    assert bounds.back(2, 0) == 0
    assert bounds.end_of_character(1) == 3
