"""Markdown: the unchanged source, with its blocks by the rules of CommonMark and GFM.

Why: a line that begins with # is not always a heading. In a fence, in indented code or in an HTML block it is text,
and one false heading gives everything after it the wrong path. So a CommonMark reader finds the blocks, and the
characters stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chunklab_core.parse.decoding import decode, no_text
from chunklab_core.parse.outline import Block, with_paths
from chunklab_core.records.documents import Document, Element, ElementKind, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_KINDS: dict[str, ElementKind] = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
}  # everything else (paragraphs, rules, HTML blocks, link definitions) is a paragraph

# Front matter by its first line: the lines that end it, and what its first line of content looks like.
_FRONT_MATTER = {
    "---": (("---", "..."), re.compile(r"""\s*(?!\d+[.)]\s)(?:<<|["']?[\w$@.{])[^:\n]*:(\s|$)""")),
    "+++": (("+++",), re.compile(r"""\[|["']?[\w.-]+["']?\s*=""")),
}


@dataclass(frozen=True, slots=True)
class MarkdownParser:
    """Reads a Markdown file: CommonMark with the tables of GFM.

    Only blocks of the outermost level, and the tables inside them, are elements. A heading inside a list or a quote
    opens no path, because it belongs to that block and not to the document.
    """

    def __call__(self, doc_id: str, data: bytes) -> Document:
        """The document of one file's bytes."""
        source, warnings = decode(data)
        text = without_front_matter(source)
        return Document(doc_id, text, elements(text), (*warnings, *no_text(text)))


def without_front_matter(source: str) -> str:
    """The source without the YAML (between `---` lines) or TOML (`+++`) block at its very start, if it has one.

    The block must be empty, or its first line that is not a comment must hold a key. So a document that begins with
    a horizontal rule keeps its text.
    """
    lines = source.split("\n")
    if lines[0].rstrip() not in _FRONT_MATTER:
        return source
    ends, key = _FRONT_MATTER[lines[0].rstrip()]
    last = next((number for number, line in enumerate(lines) if number and line.rstrip() in ends), None)
    if last is None:
        return source
    content = (line for line in lines[1:last] if line.strip() and not line.lstrip().startswith("#"))
    if not key.match(next(content, "empty: =" if ends[0] == "---" else "empty =")):
        return source
    return "\n".join(lines[last + 1 :]).lstrip("\n")


def elements(text: str) -> tuple[Element, ...]:
    """The blocks of the outermost level and the tables inside, in order; together they hold all text."""
    return with_paths(_Source(text).blocks())


class _Source:
    """One text and its parsed blocks. Lines count from 0, ends are exclusive."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text) + 1]
        self.references: dict[str, Any] = {}

    @cached_property
    def reader(self) -> MarkdownIt:
        from markdown_it import MarkdownIt

        # Text inside blocks is read for headings alone: on everything it would cost more than all the rest.
        return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])

    def blocks(self) -> Iterator[Block]:
        """Blocks in order, including lines without a token (link definitions)."""
        tokens = self.reader.parse(self.text, self.references)
        done = 0
        for index, token in enumerate(tokens):
            if token.level or token.nesting < 0 or not token.map:
                continue
            first, last = max(token.map[0], done), token.map[1]
            kind = _KINDS.get(token.type, "paragraph")
            yield from self._block("paragraph", done, first)
            for start, end in _tables_inside(tokens, index):
                yield from self._block(kind, first, start)
                yield from self._block("table", start, end)
                first = end
            yield from self._block(kind, first, last, *self._heading(tokens, index))
            done = max(done, last)
        yield from self._block("paragraph", done, len(self.starts) - 1)

    def _block(self, kind: ElementKind, first: int, last: int, level: int = 0, title: str = "") -> Iterator[Block]:
        if first >= last:
            return
        start = self.starts[first]
        content = self.text[start : self.starts[last] - 1]
        if not content.strip():
            return
        blank = len(content) - len(content.lstrip())
        if kind == "code":  # the indent of its first line belongs to code
            blank = content.rfind("\n", 0, blank) + 1
        yield Block(kind, Span(start + blank, start + len(content.rstrip())), level, title)

    def _heading(self, tokens: Sequence[Token], index: int) -> tuple[int, str]:
        if tokens[index].type != "heading_open":
            return 0, ""
        inline: list[Token] = []
        self.reader.inline.parse(tokens[index + 1].content, self.reader, self.references, inline)
        return int(tokens[index].tag[1]), " ".join(_plain(inline).split())


def _tables_inside(tokens: Sequence[Token], index: int) -> Iterator[list[int]]:
    """Lines of the tables in the list or quote that the token at `index` opens."""
    while (index := index + 1) < len(tokens) and tokens[index].level:
        table_lines = tokens[index].map
        if tokens[index].type == "table_open" and table_lines:
            yield table_lines


def _plain(inline: Sequence[Token]) -> str:
    """A line as a reader sees it: without marks, links and pictures as words, entities as characters."""
    parts = []
    for token in inline:
        if token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image":
            parts.append(_plain(token.children or []))
        elif token.type in ("text", "text_special", "code_inline"):
            parts.append(token.content)
    return "".join(parts)
