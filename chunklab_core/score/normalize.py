"""Normalized text, in which gold and passage are compared, with the way back to the original text.

Why: an answer copied from a document differs from its chunk in line breaks, ligatures, table pipes and case, never
in its figures. One function normalizes both sides, so no rule can apply to one side alone, and each passage keeps the
origin of its characters, so a find can be counted in the retrieved text.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray

from chunklab_core.records.chunks import Chunk
from chunklab_core.score.ngrams import gram_table
from chunklab_core.text import figure_spans, fold, grapheme_starts, inside

# A noncharacter replaces the rest of a figure that was cut: no typed text equals it.
_CUT = "\ufdd0"
_CUT_RUN = regex.compile(f"{_CUT}+")

_SOFT_BREAK = regex.compile("\u00ad(?=[^\\S\n]*\n)")
_OTHER_DIGIT = regex.compile(r"[\p{Nd}--[0-9]]", regex.V1)
_SIGNS = (("\u2212", "-"), ("\u066a", "%"), ("\u066b", "."), ("\u066c", ","))
# Each pattern begins with the rarest character it needs, so that it skips most of a text quickly.
_OUTER_PIPE = regex.compile(r"\|(?:(?<=^[^\S\n]*+\|)|(?<![\\|]\|)(?=[^\S\n]*+$))", regex.MULTILINE)
_HYPHEN = r"(?:[-\u2010](?<=[\p{L}\p{M}].)[^\S\n]*+\n[^\S\n]*+(?=\p{L}))"
_GAP = regex.compile(rf"{_HYPHEN}|\A\s++|\s++\Z|\s{{2,}}+|[^\S ]")
_HYPHENS = "-\u2010"
_LINE_HYPHEN = regex.compile(r"[-\u2010][^\S\n]*+\n")
_WHITE_GAP = regex.compile(r"[^\S ]\s*+| \s++|\A | \Z")
_BEYOND_ASCII = regex.compile(r"[^\x00-\x7f\s]")
_WHITE = regex.compile(r"\s")
_WHITE_BEFORE = regex.compile(r"(?r)\s")


@dataclass(frozen=True, slots=True)
class _Kept:
    """The unchanged pieces of a text: piece i begins at `new[i]` in the new text and at `old[i]` in the old one."""

    new: list[int]
    old: list[int]

    def origin(self, at: int) -> int:
        piece = bisect_right(self.new, at) - 1
        return self.old[piece] + at - self.new[piece]


@dataclass(frozen=True)
class Passage:
    """A text in the form in which it is compared.

    Attributes:
        raw: the original text.
        text: the normalized text; blanks inside a figure ("5 %") are removed.
        figures: ranges `[start, end)` of all figures in `text`, sorted, disjoint, each indivisible.
        cuts: ranges of `raw` with the rest of a figure cut at a chunk's edge; such a rest equals no figure.
    """

    raw: str
    text: str
    figures: list[tuple[int, int]]
    cuts: tuple[tuple[int, int], ...]
    _kept: tuple[_Kept, _Kept]

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The range of `raw` that became the non-empty range `[start, end)` of `text`."""
        first, last = self._folded(start), self._folded(end - 1)
        return self._origin(first)[0], self._origin(last)[1]

    def with_whole_figures(self, start: int, end: int) -> tuple[int, int]:
        """The range `[start, end)` of `text`, widened by the figures that its edges cut."""
        first, last = inside(self.figures, start), inside(self.figures, end)
        return first[0] if first else start, last[1] if last else end

    def _folded(self, at: int) -> int:
        collapsed, compacted = self._kept
        return collapsed.origin(compacted.origin(at))

    @cached_property
    def grams(self) -> NDArray[np.bool_]:
        """`gram_table` of the text, computed on first use."""
        return gram_table(self.text)

    def _origin(self, at: int) -> tuple[int, int]:
        """The range of `raw` that became a character of the folded text."""
        ends, words = self._long_words
        index = bisect_right(ends, at)
        if index < len(words):
            folded, start, word = words[index]
            if at >= folded:
                return _fold_origins(word, start)[at - folded]
            return at - folded + start, at - folded + start + 1
        behind = words[-1][1] + len(words[-1][2]) - ends[-1] if words else 0
        return at + behind, at + behind + 1

    @cached_property
    def _long_words(self) -> tuple[list[int], list[tuple[int, int, str]]]:
        """The words with letters beyond ASCII: their ends in the folded text; and their begin there, begin, and text.

        Only these words may change their length when they are folded.
        """
        ends: list[int] = []
        words: list[tuple[int, int, str]] = []
        masked = _SOFT_BREAK.sub("-", _mask(self.raw, self.cuts))
        done = ahead = 0  # position in the original text less position in the folded one
        while odd := _BEYOND_ASCII.search(masked, done):
            white, end = _WHITE_BEFORE.search(masked, done, odd.start()), _WHITE.search(masked, odd.start())
            start, done = white.end() if white else done, end.start() if end else len(masked)
            word = masked[start:done]
            words.append((start - ahead, start, word))
            ends.append(start - ahead + len(_fold(word)))
            ahead = done - ends[-1]
        return ends, words


def normalize_passage(text: str, cuts: Sequence[tuple[int, int]] = ()) -> Passage:
    """The text in the form in which gold and passages are compared. See DESIGN, "Gold matching".

    Args:
        text: any text; an empty passage holds no snippet.
        cuts: ranges of `text` with the rest of a figure whose other part is outside the text.
    """
    rows = _OUTER_PIPE.sub("\n", _fold(_SOFT_BREAK.sub("-", _mask(text, cuts))))
    gaps = (_GAP if _LINE_HYPHEN.search(rows) else _WHITE_GAP).finditer(rows)
    lines, collapsed = _replace(rows, ((*gap.span(), _in_place_of(gap)) for gap in gaps))
    spans = sorted([*figure_spans(lines), *(run.span() for run in _CUT_RUN.finditer(lines))])
    blanks = [at for start, end in spans for at in range(start, end) if lines[at] == " "]
    compact, compacted = _replace(lines, ((at, at + 1, "") for at in blanks))
    figures = [(start - bisect_right(blanks, start), end - bisect_right(blanks, end)) for start, end in spans]
    return Passage(text, compact.replace("\n", " "), figures, tuple(cuts), (collapsed, compacted))


def normalize_chunk(chunk: Chunk, figures: list[tuple[int, int]]) -> Passage:
    """The chunk's text, prefix included, in the form in which it is compared.

    Args:
        chunk: the chunk as it is returned.
        figures: `figure_spans` of its whole document; the chunk does not hold a figure that crosses its edge.
    """
    shift = chunk.shift
    before, after = inside(figures, chunk.span.start), inside(figures, chunk.span.end)
    cuts = set()
    if before:
        cuts.add((chunk.span.start + shift, min(before[1], chunk.span.end) + shift))
    if after:
        cuts.add((max(after[0], chunk.span.start) + shift, chunk.span.end + shift))
    return normalize_passage(chunk.text, sorted(cuts))


def _mask(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    for start, end in cuts:
        text = text[:start] + _CUT * (end - start) + text[end:]
    return text


def _fold(text: str) -> str:
    """Folded text with digits of every script as 0 to 9, and one sign each for minus, percent and separators."""
    if text.isascii():
        return text.lower()
    plain = _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match.group())), fold(text))
    for sign, plain_sign in _SIGNS:
        plain = plain.replace(sign, plain_sign)
    return plain


def _in_place_of(gap: regex.Match[str]) -> str:
    """The replacement for white space: nothing, a blank, or a line end between rows or paragraphs."""
    if gap.group()[:1] in _HYPHENS or gap.start() == 0 or gap.end() == len(gap.string):
        return ""
    return "\n" if gap.group().count("\n") > 1 else " "


def _replace(text: str, gaps: Iterable[tuple[int, int, str]]) -> tuple[str, _Kept]:
    """The text with each gap replaced, and the origins of its unchanged pieces."""
    pieces, kept, length, done = [], _Kept([0], [0]), 0, 0
    for start, end, instead in gaps:
        pieces += [text[done:start], instead]
        length += start - done + len(instead)
        kept.new.append(length)
        kept.old.append(end)
        done = end
    pieces.append(text[done:])
    return "".join(pieces), kept


def _fold_origins(word: str, start: int) -> list[tuple[int, int]]:
    folded = len(_fold(word))
    if folded == len(word):
        return [(at, at + 1) for at in range(start, start + len(word))]
    bounds = [*grapheme_starts(word), len(word)]
    origins = [(start + a, start + b) for a, b in pairwise(bounds) for _ in range(len(_fold(word[a:b])))]
    return origins if len(origins) == folded else [(start, start + len(word))] * folded
