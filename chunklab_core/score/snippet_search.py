"""Searches many texts for a few hundred snippets in one pass, and returns the few windows that may hold one.

Why: almost no document holds almost any answer. A search for each answer reads every text once an answer; this search
reads a text once, however many answers there are, and leaves few places to compare exactly.

Source: Navarro, A guided tour to approximate string matching (2001), section 8: an edit changes at most one of the
blocks of a snippet, and moves the others little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunklab_core.score.align import candidate_windows, may_align

_LONGEST = 8  # characters of a block
_CHOICES = ((3, 4), (2, 4), (2, 1))  # how many blocks must be unchanged, and their least number of characters
_GROUP = {1: 100, 2: 1_000, 3: 8_000}  # blocks searched at once: shorter blocks are found more often
_TOGETHER = 1_000_000  # characters read at once
_BETWEEN = "\ufdd1"  # a noncharacter, which no typed text holds
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_TABLE_BITS = 18
_BEGIN_BITS = 32  # bits of a sighting's key for the position where its snippet would begin


@dataclass(frozen=True, slots=True)
class Window:
    """A range `[start, end)` of a text that may hold a snippet; `text` and `snippet` are positions in their lists."""

    text: int
    snippet: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Blocks of one length, of snippets that need the same number of them, in the order of their hashes.

    Attributes:
        size: characters of each block.
        agreeing: how many blocks of a snippet must follow each other in a text.
        hashes: shape (hashes,), rising, each once.
        of_hash: shape (blocks,): the position of each block's hash.
        snippets, offsets: shape (blocks,): the snippet of each block, and the block's position in it.
        table: shape (2 ** 18,): False where no block of this length has a hash with that slot.
    """

    size: int
    agreeing: int
    hashes: NDArray[np.uint64]
    of_hash: NDArray[np.int64]
    snippets: NDArray[np.int64]
    offsets: NDArray[np.int64]
    table: NDArray[np.bool_]

    def sightings(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The positions at which any of the blocks occurs, and the position of its hash."""
        seen = np.flatnonzero(self.table[_slots(hashes)])
        which = np.searchsorted(self.hashes, hashes[seen])
        which[which == len(self.hashes)] = 0
        is_block = self.hashes[which] == hashes[seen]
        return seen[is_block], which[is_block]

    def rarest(self, often: NDArray[np.int64], edits: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rarest blocks of each snippet, so many that `agreeing` of them must be unchanged; rising.

        Args:
            often: shape (hashes,): how often each was seen.
            edits: shape (snippets,): how many blocks of each may be changed.
        """
        order = np.lexsort((often[self.of_hash], self.snippets))
        owners = self.snippets[order]
        new = np.flatnonzero(np.diff(owners, prepend=-1))
        rank = np.arange(len(order)) - np.repeat(new, np.diff(new, append=len(order)))
        return np.sort(order[rank < edits[owners] + self.agreeing])


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text that is read at once; `first` is where it begins."""

    text: int
    first: int
    characters: str


class SnippetSearch:
    """Snippets prepared for a search in any number of texts.

    Args:
        snippets: the normalized text of each, with its allowed number of edits.
    """

    def __init__(self, snippets: Sequence[tuple[str, int]]) -> None:
        self._snippets = list(snippets)
        kinds = [_block_size(len(text), max_edits) for text, max_edits in snippets]
        self._without_blocks = [at for at, (size, _) in enumerate(kinds) if not size]
        self._lengths = np.array([len(text) for text, _ in snippets], dtype=np.int64)
        self._edits = np.array([max_edits for _, max_edits in snippets], dtype=np.int64)
        self._blocks = [
            blocks
            for size, agreeing in sorted(set(kinds) - {(0, 0)})
            for blocks in _blocks_of(
                [(at, snippets[at][0]) for at, own in enumerate(kinds) if own == (size, agreeing)], size, agreeing
            )
        ]
        self.reach = max((len(text) + max_edits for text, max_edits in snippets), default=0)
        """The greatest length of a place that reads like a snippet."""

    def windows(self, texts: Sequence[str]) -> list[Window]:
        """Windows that hold every place with few enough edits; sorted, disjoint for each text and snippet."""
        by_pieces = [
            (index, at, start, end)
            for at in self._without_blocks
            for index, text in enumerate(texts)
            for start, end in candidate_windows(self._snippets[at][0], text, self._snippets[at][1])
        ]
        found = [np.array(by_pieces, dtype=np.int64).reshape(-1, 4)]
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        for pieces in _batches(_pieces(texts, self.reach)) if self._blocks else ():
            found += self._by_blocks(pieces, lengths)
        windows = (Window(*row) for row in _merged(np.concatenate(found)).tolist())
        return [window for window in windows if self._may_align(window, texts)]

    def _may_align(self, window: Window, texts: Sequence[str]) -> bool:
        snippet, max_edits = self._snippets[window.snippet]
        return may_align(snippet, texts[window.text][window.start : window.end], max_edits)

    def _by_blocks(self, pieces: Sequence[_Piece], lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Windows of the snippets that have blocks; shape (windows, 4): text, snippet, start, end."""
        joined = _BETWEEN.join(piece.characters for piece in pieces)
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
        starts = np.cumsum([0, *(len(piece.characters) + 1 for piece in pieces[:-1])])
        texts, bases = (np.array([getattr(piece, name) for piece in pieces]) for name in ("text", "first"))
        waiting = self._blocks
        for size, hashes in enumerate(_hashes(codes), start=1):
            of_size, waiting = [b for b in waiting if b.size == size], [b for b in waiting if b.size > size]
            for blocks in of_size:
                snippet, begin = self._agreeing(blocks, hashes)
                snippet, piece, start, end = self._by_piece(snippet, begin, starts)
                base, text = bases[piece], texts[piece]
                start, end = np.maximum(base + start, 0), np.minimum(base + end, lengths[text])
                yield np.stack([text, snippet, start, end], axis=1)[start < end]
            if not waiting:
                return

    def _agreeing(self, blocks: _Blocks, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The snippets of which enough blocks follow each other, and the first begin that those blocks imply.

        A begin may be before the first character.
        """
        seen, which = blocks.sightings(hashes)
        kept = blocks.rarest(np.bincount(which, minlength=len(blocks.hashes)), self._edits)
        count_of = np.bincount(blocks.of_hash[kept], minlength=len(blocks.hashes))
        first_of = np.cumsum(count_of) - count_of
        count = count_of[which]
        ends = np.cumsum(count)
        row = np.repeat(first_of[which] - ends + count, count) + np.arange(ends[-1] if len(ends) else 0)
        shift = (blocks.snippets[kept] << _BEGIN_BITS) - blocks.offsets[kept] + self.reach
        keys = np.repeat(seen, count) + shift[row]
        keys.sort()
        later = blocks.agreeing - 1
        apart = keys[later:] - keys[: max(len(keys) - later, 0)]
        near = np.flatnonzero(apart <= self._edits.max())
        snippet = keys[near] >> _BEGIN_BITS
        agree = apart[near] <= self._edits[snippet]
        return snippet[agree], (keys[near[agree]] & ((1 << _BEGIN_BITS) - 1)) - self.reach

    def _by_piece(
        self, snippet: NDArray[np.int64], begin: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], ...]:
        """Snippet, piece and window in the piece, for each piece that a snippet with this begin reaches.

        Every edit is before or after any one block, so a place begins at most that many characters from its implied
        begin.
        """
        edits, length = self._edits[snippet], self._lengths[snippet]
        first = np.maximum(np.searchsorted(starts, begin, "right") - 1, 0)
        count = np.searchsorted(starts, begin + length - 1, "right") - first
        row = np.repeat(np.arange(len(snippet)), count)
        piece = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(row))
        start = (begin - edits)[row] - starts[piece]
        return snippet[row], piece, np.maximum(start, 0), start + (length + 2 * edits)[row]


def _block_size(length: int, max_edits: int) -> tuple[int, int]:
    """The size of the longest blocks of which enough stay unchanged to rule out chance, and how many; or (0, 0)."""
    if max_edits == 0:
        size = min(length, _LONGEST)
        return size, min(length // size, _CHOICES[0][0])
    sizes = (
        (size, agreeing)
        for agreeing, least in _CHOICES
        for size in range(_LONGEST, least - 1, -1)
        if length // size - max_edits >= agreeing
    )
    return next(sizes, (0, 0))


def _blocks_of(snippets: Sequence[tuple[int, str]], size: int, agreeing: int) -> Iterator[_Blocks]:
    """The blocks of snippets, in groups that are searched at once; the blocks of one snippet stay together."""
    group: list[tuple[int, str]] = []
    limit, n_blocks = _GROUP.get(size), 0
    for at, text in snippets:
        if limit and group and n_blocks + len(text) // size > limit:
            yield _group(group, size, agreeing)
            group, n_blocks = [], 0
        group.append((at, text))
        n_blocks += len(text) // size
    yield _group(group, size, agreeing)


def _group(snippets: Sequence[tuple[int, str]], size: int, agreeing: int) -> _Blocks:
    rows = [
        (text[at : at + size], snippet, at) for snippet, text in snippets for at in range(0, len(text) - size + 1, size)
    ]
    codes = np.frombuffer("".join(text for text, _, _ in rows).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    *_, hashes = _hashes_of_columns(codes.astype(np.uint64).reshape(-1, size).T)
    order = np.argsort(hashes, kind="stable")
    distinct, of_hash = np.unique(hashes[order], return_inverse=True)
    table = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
    table[_slots(hashes)] = True
    snippet_of, offset_of = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    return _Blocks(size, agreeing, distinct, of_hash, snippet_of[order], offset_of[order], table)


def _hashes(codes: NDArray[np.uint64]) -> Iterator[NDArray[np.uint64]]:
    """The hashes of all runs of 1 character, of 2 characters, and so on; equal runs have equal hashes."""
    return _hashes_of_columns([codes[shift:] for shift in range(min(_LONGEST, len(codes)))])


def _hashes_of_columns(columns: Iterable[NDArray[np.uint64]]) -> Iterator[NDArray[np.uint64]]:
    hashes: NDArray[np.uint64] | None = None
    for column in columns:
        hashes = column.copy() if hashes is None else hashes[: len(column)] * _BASE + column
        yield hashes


def _slots(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (hashes * _MIX) >> np.uint64(64 - _TABLE_BITS)


def _pieces(texts: Sequence[str], reach: int) -> Iterator[_Piece]:
    """The texts; long ones in parts whose overlap leaves every place whole in one of them."""
    overlap = 2 * reach
    for index, text in enumerate(texts):
        step = max(_TOGETHER, 2 * overlap)
        for first in range(0, max(len(text) - overlap, 1), step):
            yield _Piece(index, first, text[first : first + step + overlap])


def _batches(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    batch: list[_Piece] = []
    n_characters = 0
    for piece in pieces:
        if batch and n_characters + len(piece.characters) > _TOGETHER:
            yield batch
            batch, n_characters = [], 0
        batch.append(piece)
        n_characters += len(piece.characters)
    if batch:
        yield batch


def _merged(windows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The windows, with those that touch merged; shape (windows, 4), sorted."""
    windows = windows[np.lexsort(windows.T[::-1])]
    if not len(windows):
        return windows
    text, snippet, start, end = windows.T
    other = np.concatenate([[True], (np.diff(text) != 0) | (np.diff(snippet) != 0)])
    group = np.cumsum(other)
    reached = np.maximum.accumulate((group << _BEGIN_BITS) + end) - (group << _BEGIN_BITS)
    new = other | np.concatenate([[True], start[1:] > reached[:-1]])
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(windows)) - 1
    return np.stack([text[first], snippet[first], start[first], reached[last]], axis=1)
