"""Text as gold and passage are compared, with the way back to the text as it stands.

Why: an answer copied out of a document differs from its chunk in line breaks, ligatures, table pipes and
case, never in its figures. Both sides go through one function, so no rule can hold for one side alone, and
each passage remembers where its characters came from, so a find can be counted in the retrieved text.
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

from chunklab_core.records import Chunk
from chunklab_core.score.grams import gram_table
from chunklab_core.text import figure_spans, fold, grapheme_starts, inside

# A noncharacter stands for what is left of a figure that was cut: no text that anyone typed equals it.
_CUT = "\ufdd0"
_CUT_RUN = regex.compile(f"{_CUT}+")

_SOFT_BREAK = regex.compile("\u00ad(?=[^\\S\n]*\n)")
_OTHER_DIGIT = regex.compile(r"[\p{Nd}--[0-9]]", regex.V1)
_SIGNS = (("\u2212", "-"), ("\u066a", "%"), ("\u066b", "."), ("\u066c", ","))
_OUTER_PIPE = regex.compile(r"^[^\S\n]*+\K\||(?<![\\|])\|(?=[^\S\n]*+$)", regex.MULTILINE)
_GAP = regex.compile(
    r"(?P<hyphen>(?<=[\p{L}\p{M}])[-\u2010][^\S\n]*+\n[^\S\n]*+(?=\p{L}))|\A\s++|\s++\Z|\s{2,}+|[^\S ]"
)
_WORD = regex.compile(r"\S+|\s+")


@dataclass(frozen=True, slots=True)
class _Kept:
    """Which pieces of a text were kept: piece i begins at `new[i]` in the new text and at `old[i]` in the old one."""

    new: list[int]
    old: list[int]

    def origin(self, at: int) -> int:
        piece = bisect_right(self.new, at) - 1
        return self.old[piece] + at - self.new[piece]


@dataclass(frozen=True)
class Passage:
    """A text in the form in which it is compared.

    Attributes:
        raw: the text as it was given.
        text: the text as it is compared; blanks inside a figure ("5 %") are left out.
        figures: ranges `[start, end)` of all figures in `text`, sorted, disjoint, each indivisible.
        cuts: ranges of `raw` that hold the rest of a figure cut at a chunk's edge; such a rest equals no figure.
    """

    raw: str
    text: str
    figures: list[tuple[int, int]]
    cuts: tuple[tuple[int, int], ...]
    _kept: tuple[_Kept, _Kept]

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The range of `raw` from which the non-empty range `[start, end)` of `text` was made."""
        first, last = self._folded(start), self._folded(end - 1)
        if self.raw.isascii():  # folding ASCII keeps every character in its place
            return first, last + 1
        return self._raw_ranges[first][0], self._raw_ranges[last][1]

    def _folded(self, at: int) -> int:
        collapsed, compacted = self._kept
        return collapsed.origin(compacted.origin(at))

    @cached_property
    def grams(self) -> NDArray[np.bool_]:
        """`gram_table` of the text, made when the first snippet asks for it."""
        return gram_table(self.text)

    @cached_property
    def _raw_ranges(self) -> Sequence[tuple[int, int]]:
        """For each character of the folded text, the range of `raw` it was made from."""
        masked = _SOFT_BREAK.sub("-", _mask(self.raw, self.cuts))
        return [origin for word in _WORD.finditer(masked) for origin in _fold_origins(word.group(), word.start())]


def normalize_passage(text: str, cuts: Sequence[tuple[int, int]] = ()) -> Passage:
    """The text as gold and passages are compared. See DESIGN, "Gold matching".

    Args:
        text: any text; an empty one gives a passage in which nothing is found.
        cuts: ranges of `text` that hold the rest of a figure whose other part lies outside of the text.
    """
    rows = _OUTER_PIPE.sub("\n", _fold(_SOFT_BREAK.sub("-", _mask(text, cuts))))
    lines, collapsed = _replace(rows, ((*gap.span(), _in_place_of(gap)) for gap in _GAP.finditer(rows)))
    spans = sorted([*figure_spans(lines), *(run.span() for run in _CUT_RUN.finditer(lines))])
    blanks = [at for start, end in spans for at in range(start, end) if lines[at] == " "]
    compact, compacted = _replace(lines, ((at, at + 1, "") for at in blanks))
    figures = [(start - bisect_right(blanks, start), end - bisect_right(blanks, end)) for start, end in spans]
    return Passage(text, compact.replace("\n", " "), figures, tuple(cuts), (collapsed, compacted))


def normalize_chunk(chunk: Chunk, figures: list[tuple[int, int]]) -> Passage:
    """The chunk's text, prefix included, as it is compared.

    Args:
        chunk: the chunk as it is returned.
        figures: `figure_spans` of its whole document; a figure that reaches over the chunk's edge is not found in it.
    """
    shift = len(chunk.text) - len(chunk.body) - chunk.span.start
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
    """Folded, with decimal digits of every script as 0 to 9 and one sign each for minus, percent and separators."""
    plain = _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match.group())), fold(text))
    for sign, plain_sign in _SIGNS:
        plain = plain.replace(sign, plain_sign)
    return plain


def _in_place_of(gap: regex.Match[str]) -> str:
    """What stands for white space: nothing, a blank, or a border of rows or paragraphs that no figure crosses."""
    if gap["hyphen"] or gap.start() == 0 or gap.end() == len(gap.string):
        return ""
    return "\n" if gap.group().count("\n") > 1 else " "


def _replace(text: str, gaps: Iterable[tuple[int, int, str]]) -> tuple[str, _Kept]:
    """The text with each gap replaced, and where each kept piece came from."""
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
