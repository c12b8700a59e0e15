"""Folding, figures and graphemes: the rules by which two texts read the same, for every room.

Matching, searching and cutting must agree on these three. Otherwise a chunk is cut where a match is not allowed, or a
match exists that no search can find.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator

import regex

# Zero-width characters, byte order mark, bidi marks, soft hyphen, word joiner and invisible operators.
INVISIBLE = regex.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

# Latin ligatures and presentation forms (U+FB00 to U+FB06), and the full-width and half-width block.
_PRESENTATION = regex.compile("[\ufb00-\ufb06\uff01-\uffee\u3000]+")

# Scripts written without blanks between words: a figure does not include the letters beside it.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

_LETTER = rf"[\p{{L}}\p{{M}}_--[{UNSPACED}]]"
_GLUED = rf"[\p{{L}}\p{{M}}\p{{N}}_--[{UNSPACED}]]"
_PIECE = rf"(?<!{_GLUED}) (?:{_LETTER}*+ \p{{N}}++)++ {_LETTER}*+"
_BLANK = r"[\x20\xa0\u202f]"
_PERCENT = "%\u2030\u066a"
_FIGURE = regex.compile(
    rf"""
    (?: (?<![^\s(\[{{]) [+\-\u2212\u00b1] (?=[\p{{Sc}}\p{{N}}]) )?+    # a sign after a blank or a bracket
    (?: (?<!\p{{N}}) \p{{Sc}} {_BLANK}? (?={_LETTER}*+\p{{N}}) )?       # a currency before, across one blank
    {_PIECE}
    (?: (?<=\p{{N}}) [.,:/\-\u066b\u066c] (?=\p{{N}}) {_PIECE} )*+    # joined between digits
    (?: {_BLANK}? [{_PERCENT}] | \p{{Sc}} (?!\p{{N}}) | {_BLANK} \p{{Sc}} (?!{_BLANK}?\p{{N}}) )?
    """,
    regex.VERBOSE | regex.VERSION1,
)
_NUMBER = regex.compile(r"\p{N}++")
_WHITE = regex.compile(r"\s")
_WHITE_BEFORE = regex.compile(r"(?r)\s")
_BLANKS = " \u00a0\u202f"
_NEAR = 256  # characters on either side
# Flags are paired here, because \X alone reads the whole run of flags again at each one.
_GRAPHEME = regex.compile(r"\p{RI}{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+|\X")


def fold(text: str) -> str:
    """Text for comparison: NFC, presentation and full-width forms as plain letters, nothing invisible, case folded.

    Never NFKC: that would read 10\u00b2 as 102.
    """
    plain = _PRESENTATION.sub(lambda match: unicodedata.normalize("NFKC", match.group()), INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", plain.casefold())


def figure_spans(text: str) -> list[tuple[int, int]]:
    """Ranges `[start, end)` of all figures, in order: numbers with their signs and units, and whole identifiers.

    A figure is a maximal run of digits with `. , : / -` or an Arabic separator between digits; a sign after a blank or
    bracket, a currency or percent sign across one blank, and letters glued to the digits (E4012, v1.2.3) belong to it.
    """
    return [match.span() for start, end in _zones(text) for match in _FIGURE.finditer(text, start, end)]


def _zones(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of a text that contain all figures: its numbers with their surroundings up to the next white space.

    A search for figures takes 25 times as long as a search for numbers.
    """
    done = 0
    while number := _NUMBER.search(text, done):
        white = _WHITE_BEFORE.search(text, done, number.start())
        start = white.end() if white else done
        if start - 2 >= done and text[start - 1] in _BLANKS and _is_currency(text[start - 2]):
            start -= 2
        end = _end_of_run(text, number.end())
        while end + 1 < len(text) and text[end] in _BLANKS and (_closes(text[end + 1]) or _is_currency(text[end - 1])):
            end = _end_of_run(text, end + 1)
        yield start, end
        done = end


def _end_of_run(text: str, at: int) -> int:
    white = _WHITE.search(text, at)
    return white.start() if white else len(text)


def _is_currency(character: str) -> bool:
    return unicodedata.category(character) == "Sc"


def _closes(character: str) -> bool:
    """Whether a figure may end with this character after a blank."""
    return character in _PERCENT or _is_currency(character)


def figures_near(text: str, *places: int) -> list[tuple[int, int]]:
    """The figures around some positions of a text, without reading the rest; a very long figure may be shortened."""
    found: set[tuple[int, int]] = set()
    for at in places:
        start = max(0, at - _NEAR)
        found |= {(start + first, start + last) for first, last in figure_spans(text[start : at + _NEAR])}
    return sorted(found)


def grapheme_starts(text: str) -> list[int]:
    """Positions at which a character, as a reader sees it, begins, rising; a cut at any of them splits no character."""
    return [match.start() for match in _GRAPHEME.finditer(text)]


def inside(spans: list[tuple[int, int]], at: int) -> tuple[int, int] | None:
    """The span of a sorted, disjoint list that a cut at `at` would split, or None."""
    index = bisect_left(spans, (at, -1)) - 1
    if index >= 0 and spans[index][0] < at < spans[index][1]:
        return spans[index]
    return None
