"""Cutting to a budget: the coarsest break that fits, found close to where the budget ends.

Why: the chunkers that keep blocks whole differ in what they call a block, but not in what they do when a block does
not fit. They read only the text around each cut, so time grows in step with the document's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from chunklab_core.chunk.boundaries import Boundaries
from chunklab_core.chunk.sentences import LOOK_AHEAD
from chunklab_core.tokens import tokenize

Level = Callable[[str, int, int], Iterator[int]]
"""`level(text, lo, hi)`: positions in `(lo, hi]` at which a piece of that level begins, in order."""

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n\s*")
_ITEM = re.compile(r"\n\s*(?=(?:[-*+\u2022\u2023\u25e6]|\w{1,3}[.)])\s)")
_WORD = re.compile(r"\s+|(?<=[\u3001\uff0c\uff1b\uff1a\u3002\uff01\uff1f])(?=\S)")
_BLANKS = re.compile(r"\s*")

_REACH = 256  # characters before the end of the budget that are searched first
_SLACK = 2  # tokens by which a slice can be cheaper than the document's tokens in the same range
_STRADDLE = 16  # characters read before a window, for a break that begins there


def blank_lines(text: str, lo: int, hi: int) -> Iterator[int]:
    """Beginnings of paragraphs: text after an empty line."""
    return _ends(_BLANK_LINE, text, lo, hi)


def lines(text: str, lo: int, hi: int) -> Iterator[int]:
    """Beginnings of lines."""
    return _ends(_LINE, text, lo, hi)


def list_items(text: str, lo: int, hi: int) -> Iterator[int]:
    """Beginnings of the items of a list."""
    return _ends(_ITEM, text, lo, hi)


def words(text: str, lo: int, hi: int) -> Iterator[int]:
    """Beginnings of words; in scripts without blanks, the text after a comma or a full stop."""
    return _ends(_WORD, text, lo, hi)


def _ends(pattern: re.Pattern[str], text: str, lo: int, hi: int) -> Iterator[int]:
    for match in pattern.finditer(text, lo, hi + LOOK_AHEAD):
        if lo < match.end() <= hi:
            yield match.end()


class Ruler:
    """One text, ready to be measured in tokens and cut at safe places.

    Attributes:
        text: the text.
        start: position of its first character that is not white space.
        stop: position after its last such character; at most `start` in a blank text.
    """

    __slots__ = ("bounds", "start", "stop", "text", "tokens")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.bounds = Boundaries(text)
        self.start = self.skip_blank(0)
        self.stop = self.trim(0, len(text))

    def skip_blank(self, at: int) -> int:
        """The position of the first character at or after `at` that is not white space."""
        match = _BLANKS.match(self.text, at)
        return max(at, self.bounds.start_of_character(match.end())) if match else at

    def trim(self, start: int, end: int) -> int:
        """`end` without the white space before it."""
        return min(end, self.bounds.end_of_character(start + len(self.text[start:end].rstrip())))

    def cost(self, start: int, end: int) -> int:
        """Tokens of `[start, end)` without the white space at its end."""
        return self.tokens.count(start, self.trim(start, end))

    def fits(self, start: int, end: int, budget: int) -> bool:
        """Whether `[start, end)` costs at most `budget`; much larger spans are not counted exactly."""
        roughly = self.tokens.tokens_before(end) - self.tokens.tokens_before(start)
        return roughly <= budget + 64 and self.cost(start, end) <= budget

    def reach(self, start: int, end: int, budget: int) -> int:
        """A position that no piece from `start` costing at most `budget` exceeds."""
        index = self.tokens.tokens_before(start) + budget + _SLACK
        if index >= self.tokens.n_tokens:
            return end
        return min(end, self.skip_blank(int(self.tokens.offsets[index])))

    def fit(self, start: int, end: int, budget: int) -> int:
        """The last safe cut up to `end` whose piece from `start` costs at most `budget`.

        A single character that costs more than the budget is a piece of its own.
        """
        while (end := self.bounds.back(end, start)) > start:
            excess = self.tokens.count(start, end) - budget
            if excess <= 0:
                return end
            end = int(self.tokens.offsets[max(0, self.tokens.tokens_before(end) - excess)])
        return self.bounds.end_of_character(start + 1)

    def last_break(self, level: Level, start: int, lo: int, hi: int, budget: int) -> int | None:
        """The last break of a level in `(lo, hi]` at which the piece from `start` still fits, or None."""
        reach = _REACH
        while hi > lo:
            window = max(lo, hi - reach)
            found = [at for at in level(self.text, max(lo, window - _STRADDLE), hi) if at > window]
            for at in reversed(found):
                if self.fits(start, at, budget) and self.bounds.is_safe(at):
                    return at
            hi, reach = window, reach * 4
        return None

    def piece_fits(self, level: Level, at: int, end: int, budget: int) -> bool:
        """Whether the piece of a level that begins at `at` costs at most `budget`."""
        reach = self.reach(at, end, budget)
        following = next(level(self.text, at, reach), end if reach >= end else None)
        return following is not None and self.fits(at, following, budget)


def cut_point(ruler: Ruler, start: int, end: int, budget: int, levels: Sequence[Level], lo: int | None = None) -> int:
    """Where the piece from `start` ends, when the text up to `end` does not fit in `budget`.

    Pieces of the coarsest level are packed while they fit. A piece that fits a budget of its own stays whole for the
    next chunk; a larger piece is split into pieces of the next level, and so on down to characters.

    Args:
        ruler: the text.
        start: where the chunk begins.
        end: the end of the text to pack.
        budget: tokens that the chunk may cost.
        levels: coarsest first.
        lo: a break; only breaks after it are used. `start` by default.
    """
    hi = ruler.reach(start, end, budget)
    at = start if lo is None else lo
    for level in levels:
        at = ruler.last_break(level, start, at, hi, budget) or at
        if at > start and ruler.piece_fits(level, at, end, budget):
            return at
    return ruler.fit(start, hi, budget)
