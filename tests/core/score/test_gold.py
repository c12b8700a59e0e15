"""What counts as found: copies and slips, never another figure, never a fragment."""

from __future__ import annotations

import pytest

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Span
from chunklab_core.records.questions import Gold
from chunklab_core.score.gold import contains, find, find_gold, make_snippet
from chunklab_core.score.normalize import normalize_chunk, normalize_passage
from chunklab_core.text import figure_spans

LONG = "The clerk stamps the white form and files the pink form in the front office before the week is over."


def chunk_of(text: str, start: int, end: int, prefix: str = "", doc_id: str = "doc") -> Chunk:
    return Chunk(f"{doc_id}#{start}", doc_id, Span(start, end), text[start:end], prefix, 1)


@pytest.mark.parametrize(
    ("snippet", "passage"),
    [
        ("art", "a cartoon"),  # containment of characters, as the reference defines it
        ("Parcels leave at noon.", "PARCELS   leave\n\tat\xa0noon."),
        ("office final", "oﬃce ﬁnal"),
        ("ABC 42", "ＡＢＣ ４２"),
        ("unopened box", "un\u200bopened\ufeff b\u00adox"),
        ("the workflow runs", "the work-\nflow runs"),
        ("the workflow runs", "the work\u00ad\n  flow runs"),
        ("a well-\nknown fact", "a wellknown fact"),
        ("STRASSE", "straße"),
        ("Cafe\u0301", "café"),
        ("| M3-37 | 2.29 |", "| M3-37 | 2.29"),
        ("M3-37 | 2.29", "| M3-37 | 2.29 |\n| M3-38 | 2.31 |"),
        ("| a | b |\n| c | d |", "| a | b |\n| c | d"),
        ("15 days", "١٥ days"),
        ("a rise of 5 %", "a rise of 5%."),
        ("at ٣٫٥ km of ١٬٠٠٠", "at 3.5 km of 1,000"),
        ("at -5 degrees", "at −5 degrees"),
        ("| fee | 5 |", "| fee | 5 |\n| % of it | 6 |"),  # the next row's sign is not this row's figure
        ("the work-", "the work-\nflow"),  # a copy that ends where the passage is joined
        (LONG, "x " * 3000 + LONG + " y" * 3000),
        ("ABAB", "AABBABABB"),
    ],
)
def test_the_same_text_is_found_at_any_threshold(snippet: str, passage: str) -> None:
    assert contains(snippet, passage, fuzzy_threshold=1.0)


@pytest.mark.parametrize(
    ("snippet", "passage"),
    [
        ("Parcels reach the shop within 12 days.", "Parcels reach the shop within 21 days."),
        ("5 days", "in 15 days"),
        ("5 days", "in -5 days"),
        ("costs 5", "costs 5 % more"),
        ("at ٥ km", "at ٣٫٥ km"),
        ("costs 5", "costs 5 € more"),
        ("in 2019", "in 2019/20"),
        ("10²", "102"),
        ("102", "10²"),
        ("E4012", "E4013"),
        ("E4012", "E40125"),
        ("v1.2", "v1.2.3"),
        ("a fee of 1,000 crowns", "a fee of 1000 crowns"),
        ("Adults pay 7 crowns; children pay 4 crowns.", "Adults pay 4 crowns; children pay 7 crowns."),
        ("The pump runs 3 times a day and rests at night.", "The pump runs times a day and rests at night."),
        (LONG, "the white form"),
        (LONG, LONG[:80]),
        ("anything", ""),
    ],
)
def test_another_figure_or_a_fragment_is_not_the_answer(snippet: str, passage: str) -> None:
    assert not contains(snippet, passage)


def test_every_occurrence_is_looked_at_not_only_the_first() -> None:
    assert contains("5 days", "15 days, 25 days, and then 5 days")


@pytest.mark.parametrize(("edits", "found"), [(1, True), (2, True), (3, False)])
def test_a_tenth_of_the_characters_may_differ_and_no_more(edits: int, found: bool) -> None:
    snippet = "abcdefghijklmnopqrst"  # 20 characters
    slipped = "".join("*" if at in range(3, 3 + 2 * edits, 2) else letter for at, letter in enumerate(snippet))

    assert contains(snippet, f"before {slipped} after") is found


def test_seven_edits_in_seventy_characters_are_a_tenth() -> None:
    snippet = "abcdefghij" * 7

    assert contains(snippet, snippet.replace("e", "*"), 0.90)
    assert not contains(snippet, snippet.replace("e", "*"), 0.91)


def test_a_row_cut_short_counts_only_when_it_is_nearly_the_whole() -> None:
    assert contains("A long row of twenty x", "A long row of twenty")  # 2 of 22 characters are missing
    assert not contains("A long row of twenty xyz", "A long row of twenty")  # 4 of 24


def test_a_slip_is_found_with_its_place_and_the_words_that_differ() -> None:
    passage = "Note: teh clerk is not in before 9:30, ever."
    match = find(make_snippet("The clerk is not in before 9:30"), normalize_passage(passage))

    assert match is not None
    assert (match.edits, passage[match.start : match.end]) == (2, "teh clerk is not in before 9:30")
    assert (match.expected, match.found) == ("the", "teh")


def test_a_word_that_turns_the_sense_is_found_and_shown() -> None:
    match = find(
        make_snippet("The gate on the north side of the yard is open on Sundays."),
        normalize_passage("The gate on the north side of the yard is not open on Sundays."),
    )

    assert match is not None
    assert (match.edits, match.expected, match.found) == (4, "", "not")


def test_the_place_of_a_find_is_given_in_the_text_as_it_stands() -> None:
    passage = "Maß \u200bund Zahl:  die ﬁnale\n Straße ist 5 % steil."
    match = find(make_snippet("die finale strasse ist 5% steil"), normalize_passage(passage))

    assert match is not None
    assert passage[match.start : match.end] == "die ﬁnale\n Straße ist 5 % steil"


@pytest.mark.parametrize("snippet", ["", "  \n", "|", "\u200b\ufeff"])
def test_a_snippet_with_nothing_in_it_is_refused(snippet: str) -> None:
    with pytest.raises(ValueError, match="no text to search for"):
        contains(snippet, "text")


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan")])
def test_a_threshold_that_is_no_fraction_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="fuzzy_threshold is"):
        contains("a", "a", threshold)


@pytest.mark.parametrize(
    ("start", "end", "gold", "found"),
    [
        (0, 17, "The fee is 12", False),  # the chunk ends inside 12,500
        (0, 20, "The fee is 12,500", True),
        (14, 40, "500 crowns", False),  # and here it begins inside
        (11, 40, "12,500 crowns", True),
        (13, 40, "500 crowns", False),
        (18, 40, "crowns", True),
    ],
)
def test_a_figure_cut_at_the_edge_of_a_chunk_is_not_a_smaller_figure(
    start: int, end: int, gold: str, found: bool
) -> None:
    text = "The fee is 12,500 crowns a year, or more."
    passage = normalize_chunk(chunk_of(text, start, end, prefix="Fees > Yearly"), figure_spans(text))

    assert (find(make_snippet(gold), passage) is not None) is found


def test_gold_is_judged_by_slot_in_any_wording_prefix_included_and_only_in_its_documents() -> None:
    text = "Oil the hinge. Shut the gate."
    question = Gold("q", (("grease the hinge", "Oil the hinge."), ("Gate care",), ("no such",)), ("yard.md",))
    chunks = [
        chunk_of(text, 0, 14, doc_id="other.md"),
        chunk_of(text, 0, 14, doc_id="yard.md"),
        chunk_of(text, 15, 29, prefix="Gate care", doc_id="yard.md"),
    ]
    finds = find_gold(question, chunks, [normalize_chunk(chunk, []) for chunk in chunks])

    assert finds.found.tolist() == [[False, False, False], [True, False, False], [False, True, False]]
    assert [(place.row, place.slot, place.wording) for place in finds.places] == [(1, 0, 1), (2, 1, 0)]
    assert finds.take([2, 1]).found.tolist() == [[False, True, False], [True, False, False]]
    assert [(place.row, place.slot) for place in finds.take([2, 1]).places] == [(0, 1), (1, 0)]
