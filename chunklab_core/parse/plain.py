"""Plain text: paragraphs between blank lines, and no headings.

Why: a text file marks no headings, and a guessed heading (a short line, a line in capitals) is wrong often enough to
put a false path before whole sections. A blank line is the one mark that every author uses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chunklab_core.parse.decoding import decode, no_text
from chunklab_core.records.documents import Document, Element, Span

_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class TextParser:
    """Reads a text file; the document's text is the decoded file."""

    def __call__(self, doc_id: str, data: bytes) -> Document:
        """The document of one file's bytes."""
        text, warnings = decode(data)
        return Document(doc_id, text, paragraphs(text), (*warnings, *no_text(text)))


def paragraphs(text: str) -> tuple[Element, ...]:
    """One element for each run of lines between blank lines, without the white space around it."""
    spans: list[Span] = []
    previous_end = -1
    for line in _LINE.finditer(text):
        content = line.group()
        if not content.strip():
            continue
        start = line.start() + len(content) - len(content.lstrip())
        end = line.start() + len(content.rstrip())
        if spans and previous_end + 1 == line.start():
            spans[-1] = Span(spans[-1].start, end)
        else:
            spans.append(Span(start, end))
        previous_end = line.end()
    return tuple(Element("paragraph", span) for span in spans)
