"""Fixed windows: equal numbers of tokens, each window moved on by the same step.

Why: it ignores the text, so it shows what size and overlap alone can do. A chunker that reads headings or sentences
has to beat it to be worth its cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from chunklab_core.chunk.cutting import Ruler
from chunklab_core.chunk.parameters import check_overlap
from chunklab_core.chunk.prefix import Paths
from chunklab_core.records.documents import Document, Span


@dataclass(frozen=True, slots=True)
class FixedChunker:
    """Windows of `chunk_size` tokens that move by `chunk_size - overlap`; the last one ends at the last token.

    An edge that would fall inside a character or a figure is moved back. Windows are shortened for that,
    or where a slice costs more than the tokens it was cut from, and never lengthened.
    """

    name: ClassVar[str] = "fixed"

    chunk_size: int = 512
    overlap: int = 64
    heading_path: bool = False

    def __post_init__(self) -> None:
        check_overlap(self)

    def __call__(self, document: Document) -> list[Span]:
        """The windows that hold text, in order."""
        windows = self._windows(document, Ruler(document.text))
        return [window for window in windows if not document.text[window.start : window.end].isspace()]

    def _windows(self, document: Document, ruler: Ruler) -> Iterator[Span]:
        offsets, length = ruler.tokens.offsets, len(document.text)
        paths = Paths(document) if self.heading_path else None
        start, end, target = -1, 0, 0  # target: the token with which the next window begins, edges unmoved
        while end < length:
            first = min(ruler.bounds.back(int(offsets[min(target, ruler.tokens.n_tokens)]), start), end)
            budget = paths.budget(first, self.chunk_size) if paths else self.chunk_size
            target += max(1, budget - self.overlap)
            if first <= start or (first < end and not ruler.bounds.is_safe(first)):  # inside the figure at `start`
                continue
            last = ruler.fit(first, int(offsets[min(target + self._kept(budget), ruler.tokens.n_tokens)]), budget)
            if last > end:
                start, end = first, last
                yield Span(start, end)

    def _kept(self, budget: int) -> int:
        """Tokens that a window of `budget` tokens shares with the next one."""
        return min(self.overlap, budget - 1)
