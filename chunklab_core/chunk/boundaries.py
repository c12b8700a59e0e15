"""Where a text may be cut: between characters as a reader sees them, and never inside a figure.

Why: half an emoji is not readable, and "12,5" of "12,500" is a wrong answer that looks right.
"""

from __future__ import annotations

import re

import regex

from chunklab_core.text import UNSPACED, figure_spans, grapheme_starts, inside

MAX_FIGURE = 40  # characters; a longer run is cut between characters

# All characters outside the blocks in which no character joins its neighbour; lines without one are not searched.
_JOINING = re.compile(
    "[^\x00-\x0c\x0e-\u02ff\u0370-\u0482\u048a-\u0590\u2010-\u2027\u2030-\u205f\u2070-\u20cf\u2100-\u2cee\u2e00-\u3029"
    "\u3030-\u3098\u309b-\ua66e\uac00-\ud7a3\ue000-\ufaff\uff00-\uff9d"
    "\U0001f300-\U0001f3fa\U0001f400-\U0001faff\U00020000-\U0003ffff]"
)
_SYMBOL = r"%\u2030\u066a\p{Sc}"
_BLANK = r"[\x20\xa0\u202f]"
# Runs of characters that `figure_spans` could join into one figure; every such character is included.
_PART = rf"[\p{{L}}\p{{M}}\p{{N}}_+\-\u2212\u00b1.,:/\u066b\u066c{_SYMBOL}--[{UNSPACED}]]"
_RUN = rf"(?:{_PART}|{_BLANK}(?=[{_SYMBOL}]|\Z)|(?<=\p{{Sc}}){_BLANK})*"
_RUN_FROM = regex.compile(_RUN, regex.VERSION1)
_RUN_UP_TO = regex.compile(rf"(?r){_RUN}", regex.VERSION1)
_NUMBER = regex.compile(r"\p{N}")


class Boundaries:
    """The safe cuts of one text."""

    __slots__ = ("_clusters", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._clusters = _clusters(text)  # ascending [start, end) of characters made of several code points

    def back(self, at: int, floor: int) -> int:
        """The last safe cut at or before `at`.

        A figure that begins at `floor` and ends after `at` does not fit, and is cut between characters. The result
        may be `floor` or less: then a single character reaches from there beyond `at`.
        """
        cut = self.start_of_character(at)
        while (figure := self._figure_around(cut)) and figure[0] > floor:
            cut = self.start_of_character(figure[0])
        return cut if cut > floor else self.start_of_character(at)

    def is_safe(self, at: int) -> bool:
        """Whether a cut here splits neither a character nor a figure."""
        return not inside(self._clusters, at) and not self._figure_around(at)

    def start_of_character(self, at: int) -> int:
        """`at`, or where the character begins that a cut there would split."""
        cluster = inside(self._clusters, at)
        return cluster[0] if cluster else at

    def end_of_character(self, at: int) -> int:
        """`at`, or where the character ends that a cut there would split."""
        cluster = inside(self._clusters, at)
        return cluster[1] if cluster else at

    def _figure_around(self, at: int) -> tuple[int, int] | None:
        """The figure of at most `MAX_FIGURE` characters that a cut at `at` would split.

        Only the run around the cut is read, with one more character on either side for the rules that depend on a
        neighbour.
        """
        text = self._text
        after = _RUN_FROM.match(text, at, at + MAX_FIGURE + 1)
        if after.end() == at:
            return None
        left = _RUN_UP_TO.match(text, max(0, at - MAX_FIGURE - 1), at).start()
        if left == at or not _NUMBER.search(text, left, after.end()):
            return None
        left = max(0, left - 1)
        figure = inside(figure_spans(text[left : after.end() + 1]), at - left)
        return (left + figure[0], left + figure[1]) if figure and figure[1] - figure[0] <= MAX_FIGURE else None


def _clusters(text: str) -> list[tuple[int, int]]:
    """All characters of more than one code point, in order. A line end always separates characters."""
    found: list[tuple[int, int]] = []
    at = 0
    while match := _JOINING.search(text, at):
        start = text.rfind("\n", 0, match.start()) + 1
        at = text.find("\n", match.start()) + 1 or len(text)
        starts = [start + place for place in grapheme_starts(text[start:at])]
        ends = [*starts[1:], at]
        found.extend((first, last) for first, last in zip(starts, ends, strict=True) if last - first > 1)
    return found
