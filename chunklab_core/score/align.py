"""The place of a passage that reads most like a snippet, with all figures equal.

Why: plain edit distance reads "30 days" as "14 days" with two slips. Here a figure is one piece that matches only an
equal figure, so slips are forgiven but other answers are not.

Source: Sellers, The theory and computation of evolutionary distances (1980), for the free ends in the passage;
Navarro, A guided tour to approximate string matching (2001), section 8, for the search by unchanged pieces.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NEVER = 1 << 40


@dataclass(frozen=True, slots=True)
class Units:
    """A text as its indivisible pieces: single characters, and whole figures.

    Attributes:
        texts: the pieces, in order.
        starts: the position of each piece, and the end of the text at last; one longer than `texts`.
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
    """The fewest edits that turn a part of the passage into the snippet, with that part; None above `max_edits`.

    An edit replaces, adds or removes one character. A figure of the snippet must match an equal figure; any other
    figure of the passage costs as many edits as it has characters. The first of equal places counts.

    Returns:
        Edits, and the range `[start, end)` of the part in characters of the passage's text.
    """
    wanted = _wanted(snippet)
    recent: deque[Sequence[_State]] = deque(maxlen=len(snippet.texts) + max_edits + 1)  # no alignment is longer
    fewest, end, table = max_edits + 1, 0, []
    for at, column in enumerate(_columns(wanted, passage)):
        recent.append(column)
        edits = _at_end(column[-1])
        if edits < fewest:
            fewest, end, table = edits, at, list(recent)
    if not table:
        return None
    first = end - len(table) + 1
    start = first + _start_of(snippet, wanted, _cut(passage, first, end), table)
    return fewest, passage.starts[start], passage.starts[end]


def candidate_windows(snippet: str, passage: str, max_edits: int) -> list[tuple[int, int]]:
    """Ranges of the passage that hold every place with at most `max_edits` edits, merged and sorted.

    The snippet is cut into `max_edits + 2` pieces. An edit changes at most one piece, so the passage holds two pieces
    unchanged, and the edits between them shift one against the other by at most `max_edits`.
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


def may_align(snippet: str, window: str, max_edits: int) -> bool:
    """False where too few of the snippet's characters are in the window in their order; True proves nothing."""
    from rapidfuzz.distance import LCSseq

    enough = len(snippet) - max_edits  # characters that no edit touches form a common subsequence
    return bool(LCSseq.similarity(snippet, window, score_cutoff=enough) >= enough)


def _occurrences(piece: str, passage: str) -> Iterator[int]:
    at = passage.find(piece)
    while at >= 0:
        yield at
        at = passage.find(piece, at + 1)


def _agreeing(sightings: list[tuple[int, int]], slack: int) -> Iterator[tuple[int, int]]:
    """Each sighting (implied start, piece) with the nearest earlier one of another piece, if it is near enough."""
    same = other = (-_NEVER, -1)  # the last sighting, and the last one of a piece other than that
    for start, piece in sightings:
        if piece != same[1]:
            other = same
        same = (start, piece)
        if start - other[0] <= slack:
            yield other[0], start


def _cut(units: Units, first: int, last: int) -> Units:
    return Units(units.texts[first:last], units.starts[first : last + 1], units.is_figure[first:last])


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the snippet between two figures; empty where they touch.

    Attributes:
        length: its characters.
        full: a bit for each of them, the first one lowest.
        masks: the positions of each character, as bits.
    """

    length: int
    full: int
    masks: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The snippet as its parts and the figures between them; there is one figure fewer than parts."""

    parts: tuple[_Part, ...]
    figures: tuple[str, ...]


_State = tuple[int, int, int] | None
"""The edits for every beginning of a part at one place of the passage: those before its first character, and for each
character a bit where they grow by one and a bit where they shrink by one. None where no alignment gets that far."""


def _wanted(snippet: Units) -> _Wanted:
    stretches: list[list[str]] = [[]]
    figures = []
    for text, is_figure in snippet.pieces():
        if is_figure:
            figures.append(text)
            stretches.append([])
        else:
            stretches[-1].append(text)
    return _Wanted(tuple(_part(stretch) for stretch in stretches), tuple(figures))


def _part(characters: Sequence[str]) -> _Part:
    masks: dict[str, int] = {}
    for at, character in enumerate(characters):
        masks[character] = masks.get(character, 0) | 1 << at
    return _Part(len(characters), (1 << len(characters)) - 1, masks)


def _columns(wanted: _Wanted, passage: Units) -> Iterator[Sequence[_State]]:
    """After each piece of the passage (and before the first), the fewest edits for every beginning of the snippet.

    Source: Myers, A fast bit-vector algorithm for approximate string matching (1999), section 3, in the form of
    Hyyroe, A bit-vector algorithm for computing Levenshtein and Damerau edit distances (2003), section 4.
    """
    states: list[_State] = [(0, wanted.parts[0].full, 0), *(None for _ in wanted.figures)]
    yield states
    for text, is_figure in passage.pieces():
        if is_figure:
            states = _past_figure(wanted, states, text)
        else:
            states = [
                state and _past_character(part, state, text, 1 if at else 0)
                for at, (part, state) in enumerate(zip(wanted.parts, states, strict=True))
            ]
        yield states


def _past_character(part: _Part, state: tuple[int, int, int], character: str, growth: int) -> _State:
    """The state after one more character, where the text before the part costs `growth` more edits."""
    base, grows, shrinks = state
    same = part.masks.get(character, 0)
    reached = (((same & grows) + grows) ^ grows) | same
    more = ((shrinks | ~(reached | grows)) << 1) | growth  # than before the character, one row further on
    fewer = (grows & reached) << 1
    kept = same | shrinks
    return base + growth, (fewer | ~(kept | more)) & part.full, more & kept & part.full


def _past_figure(wanted: _Wanted, states: Sequence[_State], figure: str) -> list[_State]:
    """The states after a figure: it is skipped, or it matches an equal one of the snippet."""
    behind: list[_State] = []
    met = 0  # a place may begin here
    for at, (part, state) in enumerate(zip(wanted.parts, states, strict=True)):
        if state:
            behind.append(_passed_over(part, state, len(figure), min(met, state[0] + len(figure))))
        else:
            behind.append((met, part.full, 0) if met < _NEVER else None)
        met = _at_end(state) if wanted.figures[at : at + 1] == (figure,) else _NEVER
    return behind


def _passed_over(part: _Part, state: tuple[int, int, int], cost: int, base: int) -> _State:
    """Every beginning at `cost` more edits, or removed whole after `base`, whichever is less.

    The edits of removing, less those of the state, never shrink along the part: removing is better up to some
    character and not after it.
    """
    before, grows, shrinks = state
    lead, slack, flat = before + cost - base, 0, part.full & ~grows
    while flat:
        bit = flat & -flat
        slack += 2 if shrinks & bit else 1
        if slack > lead:
            dropped = bit - 1
            return base, grows | dropped, (shrinks & ~(dropped | bit)) | (bit if slack == lead + 2 else 0)
        flat ^= bit
    return base, part.full, 0


def _at_end(state: _State) -> int:
    """The edits for a whole part."""
    return state[0] + state[1].bit_count() - state[2].bit_count() if state else _NEVER


def _start_of(snippet: Units, wanted: _Wanted, passage: Units, table: Sequence[Sequence[_State]]) -> int:
    """The begin of the best alignment that ends with the passage's last piece; `table` holds its columns."""
    rows = [(index, (1 << length) - 1) for index, part in enumerate(wanted.parts) for length in range(part.length + 1)]
    theirs, ours = list(passage.pieces()), list(snippet.pieces())

    def edits(at: int, row: int) -> int:
        index, mask = rows[row]
        state = table[at][index]
        return state[0] + (state[1] & mask).bit_count() - (state[2] & mask).bit_count() if state else _NEVER

    at, row = len(theirs), len(ours)
    here = edits(at, row)
    while row:
        if at and here == (met := edits(at - 1, row - 1)) + _replacement(ours[row - 1], theirs[at - 1]):
            at, row, here = at - 1, row - 1, met
        elif at and here == (longer := edits(at - 1, row)) + len(theirs[at - 1][0]):
            at, here = at - 1, longer
        else:
            row, here = row - 1, edits(at, row - 1)
    return at


def _replacement(ours: tuple[str, bool], theirs: tuple[str, bool]) -> int:
    if ours == theirs:
        return 0
    return _NEVER if ours[1] or theirs[1] else 1
