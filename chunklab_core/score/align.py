"""The place of a passage that reads most like a snippet, where figures do not bend.

Why: plain edit distance reads "30 days" as "14 days" with two slips. Here a figure is one piece: it is met by an
equal figure or not at all, so a slip of the pen is forgiven and another answer is not.

Source: Sellers, The theory and computation of evolutionary distances (1980), for the free ends in the passage;
Navarro, A guided tour to approximate string matching (2001), section 8, for the search by untouched pieces.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_NEVER = 1 << 40


@dataclass(frozen=True, slots=True)
class Units:
    """A text as its indivisible pieces: single characters, and whole figures.

    Attributes:
        texts: the pieces, in order.
        starts: where each piece begins, and at last where the text ends; one longer than `texts`.
        is_figure: for each piece, whether it is a figure.
    """

    texts: tuple[str, ...]
    starts: tuple[int, ...]
    is_figure: tuple[bool, ...]

    def pieces(self) -> Iterator[tuple[str, bool]]:
        """Each piece with whether it is a figure."""
        return zip(self.texts, self.is_figure, strict=True)


def units_of(text: str, figures: Sequence[tuple[int, int]], start: int, end: int) -> Units:
    """The pieces of `text[start:end]`; neither edge may cut a figure."""
    spans, at = [], start
    for figure_start, figure_end in figures[bisect_left(figures, (start,)) : bisect_left(figures, (end,))]:
        spans += [(character, character + 1, False) for character in range(at, figure_start)]
        spans.append((figure_start, figure_end, True))
        at = figure_end
    spans += [(character, character + 1, False) for character in range(at, end)]
    return Units(
        tuple(text[a:b] for a, b, _ in spans), (*(a for a, _, _ in spans), end), tuple(figure for _, _, figure in spans)
    )


def best_place(snippet: Units, passage: Units, max_edits: int) -> tuple[int, int, int] | None:
    """Fewest edits that turn a stretch of the passage into the snippet, with that stretch; None above `max_edits`.

    An edit replaces, adds or drops one character. A figure of the snippet must be met by an equal figure; a figure
    of the passage that stands in between costs as many edits as it has characters. Of equals the first place counts.

    Returns:
        Edits, and the range `[start, end)` of the stretch in characters of the passage's text.
    """
    edits = np.array([column[-1] for column in _columns(snippet, passage)])
    end = int(edits.argmin())
    if edits[end] > max_edits:
        return None
    first = max(0, end - len(snippet.texts) - max_edits)
    start = first + _start_of(snippet, _cut(passage, first, end))
    return int(edits[end]), passage.starts[start], passage.starts[end]


def candidate_windows(snippet: str, passage: str, max_edits: int) -> list[tuple[int, int]]:
    """Ranges of the passage that hold every place with at most `max_edits` edits, merged and sorted.

    The snippet is cut into `max_edits + 2` pieces. An edit touches one piece at most, so two pieces stand in the
    passage unchanged, and the edits between them move one against the other by `max_edits` at most.
    """
    n_pieces = max_edits + 2
    if len(snippet) < n_pieces:
        return [(0, len(passage))]
    bounds = [len(snippet) * i // n_pieces for i in range(n_pieces + 1)]
    sightings = sorted(
        (at - bounds[i], i) for i in range(n_pieces) for at in _occurrences(snippet[bounds[i] : bounds[i + 1]], passage)
    )
    windows: list[tuple[int, int]] = []
    for earlier, later in _agreeing(sightings, max_edits):
        start, end = max(0, earlier - max_edits), min(len(passage), later + len(snippet) + max_edits)
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows


def may_align(wanted: str, window: str, max_edits: int) -> bool:
    """Whether enough of the characters stand there in their order: those that no edit touches form a subsequence."""
    from rapidfuzz.distance import LCSseq

    enough = len(wanted) - max_edits
    return bool(LCSseq.similarity(wanted, window, score_cutoff=enough) >= enough)


def _occurrences(piece: str, passage: str) -> Iterator[int]:
    at = passage.find(piece)
    while at >= 0:
        yield at
        at = passage.find(piece, at + 1)


def _agreeing(sightings: list[tuple[int, int]], slack: int) -> Iterator[tuple[int, int]]:
    """For each sighting (implied start, piece), the nearest earlier one of another piece, where it is near enough."""
    same = other = (-_NEVER, -1)  # the last sighting, and the last one of a piece other than that
    for start, piece in sightings:
        if piece != same[1]:
            other = same
        same = (start, piece)
        if start - other[0] <= slack:
            yield other[0], start


def _cut(units: Units, first: int, last: int) -> Units:
    return Units(units.texts[first:last], units.starts[first : last + 1], units.is_figure[first:last])


def _columns(snippet: Units, passage: Units) -> Iterator[NDArray[np.int64]]:
    """After each piece of the passage (and before the first), the fewest edits for every beginning of the snippet."""
    names = {piece: number for number, piece in enumerate(dict.fromkeys(snippet.pieces()))}
    numbers = np.array([names[piece] for piece in snippet.pieces()])
    figures = np.array(snippet.is_figure)
    dropped = np.concatenate([[0], np.cumsum(np.where(figures, _NEVER, 1))])
    replace = {True: np.full(len(numbers), _NEVER), False: np.where(figures, _NEVER, 1)}
    column = dropped
    yield column
    for piece in passage.pieces():
        text, is_figure = piece
        costs = replace[is_figure]
        if piece in names:
            costs = np.where(numbers == names[piece], 0, costs)
        reached = np.minimum(column[:-1] + costs, column[1:] + len(text))
        column = np.minimum.accumulate(np.concatenate([[0], reached]) - dropped) + dropped
        yield column


def _start_of(snippet: Units, passage: Units) -> int:
    """Where the best alignment begins that ends with the passage's last piece."""
    table = np.stack(list(_columns(snippet, passage)))
    theirs, ours = list(passage.pieces()), list(snippet.pieces())
    at, row = len(theirs), len(ours)
    while row:
        here = table[at, row]
        if at and here == table[at - 1, row - 1] + _replacement(ours[row - 1], theirs[at - 1]):
            at, row = at - 1, row - 1
        elif at and here == table[at - 1, row] + len(theirs[at - 1][0]):
            at -= 1
        else:
            row -= 1
    return at


def _replacement(ours: tuple[str, bool], theirs: tuple[str, bool]) -> int:
    if ours == theirs:
        return 0
    return _NEVER if ours[1] or theirs[1] else 1
