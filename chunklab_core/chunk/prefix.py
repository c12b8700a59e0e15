"""Prefixes: the heading path and the table header before a body, outside its span.

Why: "within 14 days" answers nothing without "Refunds > Business customers"; a row means nothing without the names of
its columns. Both cost tokens, so both count against the declared maximum.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache

from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document, Span
from chunklab_core.tokens import count_tokens

Path = tuple[str, ...]


class Paths:
    """The heading paths of one document's spans."""

    __slots__ = ("_contents", "_elements", "_ends", "_starts")

    def __init__(self, document: Document) -> None:
        self._elements = document.elements
        self._starts = [element.span.start for element in document.elements]
        self._ends = [element.span.end for element in document.elements]
        self._contents = [at for at, element in enumerate(document.elements) if element.kind != "heading"]

    def of(self, span: Span) -> Path:
        """The path that all blocks touched by a span share; headings count only if it touches nothing else."""
        first, last = bisect_right(self._ends, span.start), bisect_left(self._starts, span.end)
        touched = self._elements[first:last]
        contents = [element.path for element in touched if element.kind != "heading"]
        return common(contents or [element.path for element in touched])

    def from_here(self, position: int) -> tuple[Path, Path]:
        """The longest paths of a chunk beginning at `position`: with content, and with headings alone."""
        first = bisect_right(self._ends, position)
        content = bisect_left(self._contents, first)
        return (
            self._elements[self._contents[content]].path if content < len(self._contents) else (),
            self._elements[first].path if first < len(self._elements) else (),
        )

    def budget(self, position: int, limit: int) -> int:
        """Tokens left for the body of a chunk that begins at `position`, after its path, within `limit`.

        A path may use half of the limit; its outermost parts are dropped first.
        """
        return limit - max(cost(render(shorten(path, limit // 2))) for path in self.from_here(position))


def common(paths: Iterable[Path]) -> Path:
    """The leading parts that all paths share; () without paths."""
    shared: Path | None = None
    for path in paths:
        if shared is None:
            shared = path
        while path[: len(shared)] != shared:
            shared = shared[:-1]
        if not shared:
            return ()
    return shared or ()


def render(path: Path, header: str = "") -> str:
    """The prefix: the path on one line, its parts joined by " > ", then the header lines."""
    titles = (" ".join(part.split()) for part in path)
    return "\n".join(line for line in (" > ".join(title for title in titles if title), header) if line)


@lru_cache(maxsize=1024)
def cost(prefix: str) -> int:
    """Tokens that a prefix adds to a body that begins with a letter or a mark, its line end included."""
    return count_tokens(f"{prefix}\n") if prefix else 0


def shorten(path: Path, limit: int, header: str = "") -> Path:
    """The path without as many of its outermost parts as the prefix needs to fit in `limit` tokens."""
    for dropped in range(len(path)):
        if cost(render(path[dropped:], header)) <= limit:
            return path[dropped:]
    return ()


def path_shortened(document: Document, chunk: Chunk, paths: Paths | None = None) -> bool:
    """Whether a chunk has less than its full heading path because there was no room."""
    line = render((paths or Paths(document)).of(chunk.span))
    return bool(line) and chunk.prefix != line and not chunk.prefix.startswith(f"{line}\n")
