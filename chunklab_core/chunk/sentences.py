"""Sentences: where one ends and the next begins, in any script, without a model.

Why our own: chunkers and the health table need a splitter that works without the name of a language and without a
download. Rows of a table, items of a list and headings are sentences of their own, because no full stop ends them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WIDE = "\u3002\uff01\uff1f\uff61"  # ends a sentence without a blank behind it
_NARROW = ".!?\u2026\u203c\u2047\u061f\u06d4\u0964\u0965\u1362\u0589\u104b\u17d4"
_CLOSERS = "\"'\u201d\u2019\u00bb)\\]}\u300d\u300f\uff09\u300b\u3011*_"
_END = re.compile(rf"[\n{_NARROW}{_WIDE}](?:(?<=\n)\s*|(?<!\n)[{_NARROW}{_WIDE}]*[{_CLOSERS}]*\s*)")
_OWN_LINE = re.compile(r"(?:[-*+\u2022\u2023\u25e6]|\d{1,3}[.)])\s|[|#>]|```|~~~")
_LINE_ALONE = re.compile(r"[^\S\n]*(?:\||#{1,6}\s|```|~~~)|.*\|[^\S\n]*$")
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201c\u2018]+$")
LOOK_AHEAD = 8  # characters after a window that decide whether its end is a break
_LOOK_BACK = 24  # characters searched for the word before a full stop

# Never the end of a sentence, whatever follows.
_TITLE = re.compile(
    r"mrs?|ms|dra?|prof|rev|hon|gen|col|capt|lt|sgt|st|mme|mlle|sra?|sig|e\.g|i\.e|cf|vs|viz|approx|ca"
    r"|z\.b|d\.h|u\.a|bzw|vgl|sog|inkl|zzgl|p\.ej",
    re.IGNORECASE,
)
# Not the end of a sentence where a number follows.
_NUMBERED = re.compile(r"nos?|nr|figs?|eq|sect?|art|abs|vol|pp?|ch|para|tab|s|n", re.IGNORECASE)


def sentence_breaks(text: str, lo: int, hi: int) -> Iterator[int]:
    """Positions in `(lo, hi]` at which a sentence begins, after the white space before it, in order."""
    for match in _END.finditer(text, lo, hi + LOOK_AHEAD):
        at = match.end()
        if lo < at <= hi and at < len(text) and _is_break(text, match.start(), at):
            yield at


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """All sentences `[start, end)` of a text, without the white space around them."""
    stop = len(text.rstrip())
    start = len(text) - len(text.lstrip())
    if start >= stop:
        return []
    starts = [start, *sentence_breaks(text, start, stop)]
    ends = [*starts[1:], stop]
    return [(first, first + len(text[first:last].rstrip())) for first, last in zip(starts, ends, strict=True)]


def begins_sentence(text: str, at: int) -> bool:
    """Whether a sentence begins at `at`; the ends of the text count as beginnings."""
    while at < len(text) and text[at].isspace():
        at += 1
    before = at
    while before > 0 and text[before - 1].isspace():
        before -= 1
    if at >= len(text) or before == 0:
        return True
    return at in sentence_breaks(text, max(0, before - _LOOK_BACK), at)


def _is_break(text: str, start: int, at: int) -> bool:
    """Whether the end mark or line end at `start` closes a sentence; the next text begins at `at`."""
    mark = text[start:at]
    if mark.count("\n") > 1:
        return True
    if mark[0] == "\n":
        return bool(_OWN_LINE.match(text, at)) or bool(_LINE_ALONE.match(_line_before(text, start)))
    if any(wide in mark for wide in _WIDE):
        return True
    if not mark[-1].isspace():
        return False
    if "\n" in mark and (_OWN_LINE.match(text, at) or _LINE_ALONE.match(_line_before(text, start))):
        return True
    return not text[at].islower() and not (mark.rstrip() == "." and _is_abbreviation(text, start, at))


def _line_before(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : at]


def _begins_line(text: str, at: int) -> bool:
    """Whether the line holds only blanks before `at`."""
    while at > 0 and text[at - 1].isspace() and text[at - 1] != "\n":
        at -= 1
    return at == 0 or text[at - 1] == "\n"


def _is_abbreviation(text: str, start: int, at: int) -> bool:
    """Whether the full stop at `start` belongs to its word: a title, an initial, or the number of a list item."""
    found = _LAST_WORD.search(text[max(0, start - _LOOK_BACK) : start])
    if not found:
        return False
    word = found.group()
    if word.isdigit() and len(word) <= 3:
        return _begins_line(text, start - len(word))
    if len(word) == 1 and word.isupper():
        return True
    return bool(_TITLE.fullmatch(word)) or (bool(_NUMBERED.fullmatch(word)) and text[at].isnumeric())
