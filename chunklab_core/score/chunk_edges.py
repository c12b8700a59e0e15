"""The core of a chunk, in which it reads as its document does, and the short text at its edges, in which it may not.

Why: the overlap of two ranges shows what a chunk holds only if both texts are normalized alike. A cut can split a
figure, or leave a hyphen without its next line or a table's pipe without its row, and a prefix adds text of its own.
All of this stays near the edge: it ends at the next white space between plain characters. A cut within a plain word
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_letters, digits

import regex

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Span
from chunklab_core.score.normalize import Passage, normalize_chunk, normalize_passage
from chunklab_core.text import figures_near, inside

_WHITE = " \t\n"
_FOLDED_TOGETHER = r"\p{C}\ufb00-\ufb06\uff00-\uffef"  # folded together with their neighbours
# Not before a gap: lines are joined at a hyphen, a figure includes a currency across a blank.
_LEFT = rf"[^\s{_FOLDED_TOGETHER}\p{{Sc}}\-\u2010\u2212\u066a-\u066c]"
# Not after a gap: a figure includes these across a blank, a mark joins the character before.
_RIGHT = rf"[^\s{_FOLDED_TOGETHER}\p{{Sc}}\p{{M}}%\u2030\u066a]"
_IS_LEFT, _IS_RIGHT = regex.compile(_LEFT), regex.compile(_RIGHT)
_GAP = regex.compile(rf"(?<={_LEFT})[{_WHITE}]++(?={_RIGHT})")
_LAST_GAP = regex.compile(rf"(?r)(?<={_LEFT})[{_WHITE}]++(?={_RIGHT})")
_NEXT = regex.compile(r"\s*+\S")
_LAST = regex.compile(r"(?r)\S\s*+")
# Letters and marks that are compared unchanged, whatever their neighbours: a word of these may be cut anywhere.
_SAME = r"[A-Za-z.,;:!?'\"()]"
_SAME_BEFORE = regex.compile(rf"(?r)(?:\A|[{_WHITE}]){_SAME}++")
_SAME_BEHIND = regex.compile(rf"{_SAME}++(?:[{_WHITE}]|\Z)")
_PLAIN = frozenset(ascii_letters + digits + ".,;:!?'\"()")  # allowed on either side of a gap
_LINE_BEFORE = regex.compile(r"(?r)^[ \t]*+", regex.MULTILINE)
_LINE_BEHIND = regex.compile(r"[ \t]*+$", regex.MULTILINE)

_MARGIN = 64  # characters at the far end of an edge's text, where a word may be cut
LONGEST_FOLD = 3  # most characters that one character is folded to


@dataclass(frozen=True, slots=True)
class Edge:
    """The normalized text at an edge of a chunk.

    Finds that the document alone does not show begin before `head` or end after `tail`.
    """

    text: str
    head: int
    tail: int

    def concerns(self, start: int, end: int) -> bool:
        """Whether a find in `[start, end)` of the text may be one that the document alone does not show."""
        return start < self.head or end > self.tail


def core_of(text: str, chunk: Chunk) -> Span:
    """The range of the document's text that reads the same in the chunk; may be empty.

    Args:
        text: the document's.
        chunk: one of its chunks.
    """
    start, end = chunk.span.start, chunk.span.end
    if not _begins_whole(text, chunk):
        gap = _GAP.search(text, start + 1, end)
        start = gap.end() if gap else end
    if not _ends_whole(text, end):
        gap = _LAST_GAP.search(text, chunk.span.start + 1, end)
        end = gap.start() if gap else chunk.span.start
    return Span(start, max(start, end))


def edges_of(text: str, chunk: Chunk, core: Span, reach: int) -> list[Edge]:
    """The texts that hold every find outside the core, even in part; empty where the core is the whole chunk.

    Args:
        text: the document's.
        chunk: one of its chunks.
        core: `core_of` that chunk.
        reach: the greatest length of a find.
    """
    edges = [*_head(text, chunk, core, reach), *_tail(text, chunk, core, reach)]
    return [_whole(text, chunk, core)] if None in edges else [edge for edge in edges if edge]


def has_whole_words(text: str, core: Span, start: int, end: int) -> bool:
    """Whether the core, which holds `[start, end)`, also holds the words at the edges of that range.

    A word that the chunk cuts is not whole: the core then ends within it.
    """
    at, behind = core.start, core.end
    begins = not _is_within(text, at) or bool(_GAP.search(text, at, start + 1))
    return begins and (not _is_within(text, behind) or bool(_GAP.search(text, end - 1, behind)))


def passage_of(text: str, chunk: Chunk) -> Passage:
    """The chunk's whole text, normalized."""
    return normalize_chunk(chunk, figures_near(text, chunk.span.start, chunk.span.end))


def _begins_whole(text: str, chunk: Chunk) -> bool:
    start = chunk.span.start
    if not chunk.prefix and _is_plain_gap(text, start):
        return True
    if _is_within(text, start) and not _is_same(text, start):
        return False
    first = _NEXT.match(text, start).end() - 1
    if text[first] == "|":
        return bool(_LINE_BEFORE.match(text, 0, first))
    last = _LAST.match(text, 0, start)
    before = [text[last.start()]] if last else []
    prefix = chunk.prefix.rstrip()
    return bool(_IS_RIGHT.match(text, first)) and all(
        _IS_LEFT.match(character) for character in [*before, *prefix[-1:]]
    )


def _ends_whole(text: str, end: int) -> bool:
    if _is_plain_gap(text, end):
        return True
    if _is_within(text, end) and not _is_same(text, end):
        return False
    last = _LAST.match(text, 0, end).start()
    if text[last] == "|":
        return bool(_LINE_BEHIND.match(text, last + 1))
    behind = _NEXT.match(text, end)
    return bool(_IS_LEFT.match(text, last)) and (not behind or bool(_IS_RIGHT.match(text, behind.end() - 1)))


def _is_within(text: str, at: int) -> bool:
    """Whether a cut at `at` has no white space on either side."""
    return 0 < at < len(text) and text[at - 1] not in _WHITE and text[at] not in _WHITE


def _is_plain_gap(text: str, at: int) -> bool:
    """Whether a cut at `at` is next to a single white space between two plain characters: the common case, fast."""
    if at < 2 or at + 2 > len(text):
        return False
    before, left, right, behind = text[at - 2], text[at - 1], text[at], text[at + 1]
    return (right in _WHITE and left in _PLAIN and behind in _PLAIN) or (
        left in _WHITE and before in _PLAIN and right in _PLAIN
    )


def _is_same(text: str, at: int) -> bool:
    """Whether a cut at `at` is within a word whose parts are both compared unchanged."""
    return bool(_SAME_BEFORE.match(text, 0, at) and _SAME_BEHIND.match(text, at))


def _head(text: str, chunk: Chunk, core: Span, reach: int) -> Iterator[Edge | None]:
    """The edge at which a chunk begins; None if it covers the whole chunk."""
    before = text[chunk.span.start : core.start]
    if not before and not chunk.prefix:
        return
    bound = _longest(f"{chunk.prefix}\n{before}")
    end = core.start + reach + 2 * _MARGIN + bound
    if end >= chunk.span.end:
        yield None
        return
    cut = inside(figures_near(text, chunk.span.start), chunk.span.start)
    lead = f"{chunk.prefix}\n" if chunk.prefix else ""
    cuts = [(len(lead), len(lead) + min(cut[1], end) - chunk.span.start)] if cut else []
    passage = normalize_passage(lead + text[chunk.span.start : end], cuts)
    enough = len(passage.text) >= bound + reach + _MARGIN
    yield Edge(passage.text, bound, len(passage.text)) if enough else None


def _tail(text: str, chunk: Chunk, core: Span, reach: int) -> Iterator[Edge | None]:
    """The edge at which a chunk ends; None if it covers the whole chunk."""
    behind = text[core.end : chunk.span.end]
    if not behind:
        return
    bound = _longest(behind)
    start = core.end - reach - 2 * _MARGIN - bound
    if start <= chunk.span.start:
        yield None
        return
    cut = inside(figures_near(text, chunk.span.end), chunk.span.end)
    cuts = [(max(cut[0], start) - start, chunk.span.end - start)] if cut else []
    passage = normalize_passage(text[start : chunk.span.end], cuts)
    enough = len(passage.text) >= bound + reach + _MARGIN
    yield Edge(passage.text, 0, len(passage.text) - bound) if enough else None


def _whole(text: str, chunk: Chunk, core: Span) -> Edge:
    passage = passage_of(text, chunk)
    before = text[chunk.span.start : core.start]
    head = _longest(f"{chunk.prefix}\n{before}") if before or chunk.prefix else 0
    return Edge(passage.text, head, len(passage.text) - _longest(text[core.end : chunk.span.end]))


def _longest(text: str) -> int:
    """The greatest length of a text after normalization."""
    return len(text) if text.isascii() else LONGEST_FOLD * len(text)
