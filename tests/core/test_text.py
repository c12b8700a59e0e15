import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core import text as shelf
from chunklab_core.text import figure_spans, figures_near, fold, grapheme_starts, inside


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("within 14 days", ["14"]),
        ("costs $5, or 5 % more", ["$5", "5 %"]),
        ("1,000.50 on 2026-03-01 at 10:30, 5/6.", ["1,000.50", "2026-03-01", "10:30", "5/6"]),
        ("E4012 and v1.2.3 of max_open_8", ["E4012", "v1.2.3", "max_open_8"]),
        ("RULE-B217 and COVID-19", ["B217", "19"]),  # a hyphen after a letter joins nothing
        ("-5 (−3) a-5 +2", ["-5", "−3", "5", "+2"]),  # a sign stands after a blank or a bracket
        ("10² is not 102", ["10²", "102"]),
        ("5€ 14 and 7 € 8 or € 9", ["5€", "14", "7", "€ 8", "€ 9"]),
        ("14天内提交 第3回", ["14", "3"]),  # scripts without blanks end a figure
        ("٣٤ and 5", ["٣٤", "5"]),
        ("no figure at all", []),
        ("", []),
        ("ends with 7", ["7"]),
        ("3\n%\n4", ["3", "4"]),  # only a blank joins
        ("12.", ["12"]),
    ],
)
def test_figures_are_whole(text: str, figures: list[str]) -> None:
    assert [text[start:end] for start, end in figure_spans(text)] == figures


PARTS = [
    "1",
    "23",
    "٣",
    "²",
    "a",
    "E",
    "é",
    "_",
    ".",
    ",",
    ":",
    "/",
    "-",
    "+",
    "−",
    " ",
    "\u00a0",
    "\n",
    "$",
    "€",
    "%",
    "(",
    "日",
    "ab ",
]


@settings(derandomize=True, max_examples=600)
@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_looking_near_numbers_finds_what_looking_everywhere_finds(text: str) -> None:
    assert figure_spans(text) == [match.span() for match in shelf._FIGURE.finditer(text)]


@settings(derandomize=True, max_examples=200)
@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.integers(0, 20))
def test_figures_near_a_place_are_those_that_a_cut_there_would_split(text: str, at: int) -> None:
    assert inside(figures_near(text, at), at) == inside(figure_spans(text), at)


@pytest.mark.parametrize(
    ("typed", "same"),
    [
        ("ﬁnal oﬃce", "final office"),
        ("ＡＢＣ１２", "abc12"),
        ("Straße", "strasse"),
        ("co\u00adop\u200b", "coop"),
        ("e\u0301", "é"),
        ("\ufeffWord", "word"),
    ],
)
def test_the_same_text_folds_to_the_same(typed: str, same: str) -> None:
    assert fold(typed) == fold(same) == same


def test_folding_never_makes_another_number() -> None:
    assert fold("10²") != fold("102")
    assert unicodedata.normalize("NFKC", "10²") == "102"


def test_graphemes_begin_where_a_reader_sees_a_character() -> None:
    assert grapheme_starts("ae\u0301👩\u200d🚀b") == [0, 1, 3, 6]


@pytest.mark.parametrize(("at", "span"), [(0, None), (1, (0, 3)), (3, None), (4, None), (6, (5, 7)), (9, None)])
def test_a_cut_splits_a_span_only_inside_it(at: int, span: tuple[int, int] | None) -> None:
    assert inside([(0, 3), (5, 7)], at) == span
