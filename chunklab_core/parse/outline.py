"""Blocks to elements: which headings are open where.

Why: a path that keeps a closed heading, or misses an open one, is put before every chunk below it. So the one rule
(a heading of level n closes all of level n and deeper) is written here once, for every format that has headings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chunklab_core.records.documents import Element, ElementKind, Span


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a file: `level` is 1 to 6 and `title` set for a heading; 0 and empty for anything else."""

    kind: ElementKind
    span: Span
    level: int = 0
    title: str = ""


def with_paths(blocks: Iterable[Block]) -> tuple[Element, ...]:
    """The blocks in order, each with the titles of the headings above it; a heading's own title is last."""
    open_headings: list[tuple[int, str]] = []
    elements = []
    for block in blocks:
        if block.level:
            open_headings = [(level, title) for level, title in open_headings if level < block.level]
            open_headings.append((block.level, block.title))
        path = tuple(title for _, title in open_headings)
        elements.append(Element(block.kind, block.span, path, block.level))
    return tuple(elements)
