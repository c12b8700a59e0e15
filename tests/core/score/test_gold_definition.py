"""The fast search against the definition written down plainly: one table over all characters, no short cut."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.score.gold import contains, find, make_snippet
from chunklab_core.score.normalize import normalize_passage
from chunklab_core.text import figure_spans

INFINITE = 10**9
FEW = settings(max_examples=400, derandomize=True, deadline=None)


def pieces_of(text: str) -> list[tuple[str, bool]]:
    """Figures whole, all else by the character."""
    pieces, at = [], 0
    for start, end in figure_spans(text):
        pieces += [(letter, False) for letter in text[at:start]] + [(text[start:end], True)]
        at = end
    return pieces + [(letter, False) for letter in text[at:]]


def fewest_edits(snippet: str, passage: str) -> int:
    """Edits between the snippet and the nearest stretch of the passage, every figure of the snippet in its place."""
    ours = pieces_of(snippet)
    row = [0]
    for _, is_figure in ours:
        row.append(row[-1] + (INFINITE if is_figure else 1))
    best = row[-1]
    for theirs in pieces_of(passage):
        above, row = row, [0]
        for at, piece in enumerate(ours):
            plain = not piece[1] and not theirs[1]
            replaced = above[at] + (0 if piece == theirs else 1 if plain else INFINITE)
            row.append(min(replaced, above[at + 1] + len(theirs[0]), row[at] + (INFINITE if piece[1] else 1)))
        best = min(best, row[-1])
    return best


def has_copy(snippet: str, passage: str) -> bool:
    """Whether the very characters stand there, with no figure reaching over either edge."""
    figures = figure_spans(passage)
    return any(
        passage.startswith(snippet, at)
        and not any(start < edge < end for start, end in figures for edge in (at, at + len(snippet)))
        for at in range(len(passage))
    )


def is_found(snippet: str, passage: str, threshold: float) -> bool:
    snippet, passage = " ".join(snippet.split()), " ".join(passage.split())
    edits = fewest_edits(snippet, passage)
    return has_copy(snippet, passage) or 1 - edits / len(snippet) >= threshold - 1e-12


@st.composite
def snippet_and_passage(draw: st.DrawFn) -> tuple[str, str]:
    """A snippet of few letters and figures, and a passage that holds it with some slips."""
    words = st.lists(st.sampled_from(["ab", "ba", "abba", "b", "12", "2", "1.2", "a1", "-1"]), min_size=1, max_size=12)
    snippet = " ".join(draw(words))
    letters = list(snippet)
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(letters)))
        letters[at : at + draw(st.integers(0, 1))] = draw(st.sampled_from(["", "a", "b", "c", "1", "2", " "]))
    around = st.lists(st.sampled_from(["ab", "b", "12", "1", "abba ab", "."]), max_size=8).map(" ".join)
    glue = st.sampled_from([" ", "", "a", "1"])
    return snippet, draw(around) + draw(glue) + "".join(letters) + draw(glue) + draw(around)


@FEW
@given(snippet_and_passage(), st.sampled_from([0.6, 0.75, 0.8, 0.9, 0.95]))
def test_found_is_what_the_definition_says(pair: tuple[str, str], threshold: float) -> None:
    assert contains(*pair, threshold) == is_found(*pair, threshold)


@FEW
@given(st.text("ab 1", min_size=1, max_size=25), st.text("ab 12", max_size=60), st.sampled_from([0.0, 0.3, 0.7, 0.9]))
def test_found_is_what_the_definition_says_of_any_two_texts(snippet: str, passage: str, threshold: float) -> None:
    if snippet.strip():
        assert contains(snippet, passage, threshold) == is_found(snippet, passage, threshold)


@FEW
@given(snippet_and_passage())
def test_the_place_given_holds_the_snippet_to_within_its_edits(pair: tuple[str, str]) -> None:
    match = find(make_snippet(pair[0]), normalize_passage(pair[1]), 0.6)
    if match and match.edits:
        stretch = re.sub(r"\s+", " ", pair[1][match.start : match.end])
        assert fewest_edits(" ".join(pair[0].split()), stretch) <= match.edits


@FEW
@given(st.text("aB -1.%€|\n\u00adß\ufb01é\u0301", min_size=1, max_size=40), st.data())
def test_a_copy_that_cuts_no_figure_is_found(text: str, data: st.DataObject) -> None:
    edges = sorted({0, len(text), *(at for at, letter in enumerate(text) if letter in " \n")})
    start = data.draw(st.sampled_from(edges))
    end = data.draw(st.sampled_from([edge for edge in edges if edge >= start]))
    cut = any(a < edge < b for a, b in figure_spans(text.replace("\n", " ")) for edge in (start, end))
    if normalize_passage(text[start:end]).text and not cut:
        assert contains(text[start:end], text, 1.0)
