"""Chunks of one document: the chunker decides where to cut, this module checks the cuts and builds the chunks.

Why: ids, prefixes and token counts are made in one place, so no chunker can get one wrong.
"""

from __future__ import annotations

import traceback
from pathlib import Path as FilePath

from chunklab_core.chunk.prefix import Path, Paths, cost, render, shorten
from chunklab_core.errors import ChunklabError, ContractError
from chunklab_core.records.chunks import Chunk, Chunker, Cut
from chunklab_core.records.documents import Document, Span
from chunklab_core.tokens import count_tokens, tokenize


def chunk_document(document: Document, chunker: Chunker) -> list[Chunk]:
    """The chunks of one document, in reading order; none where it has no text.

    Raises:
        ContractError: a cut is blank, outside the document, out of order or inside another; a built-in chunker
            left text out; or a user's chunker raised an error.
    """
    if not document.text.strip():
        return []
    cuts = _cuts(document, chunker)
    _check(cuts, document, chunker)
    build = _Builder(document, chunker)
    return [build.chunk(index, cut) for index, cut in enumerate(cuts)]


def declared_maximum(chunker: Chunker) -> int | None:
    """The most tokens that the chunker promises for one chunk, prefix included; None where it promises none."""
    for key in ("max_tokens", "chunk_size"):
        value = getattr(chunker, key, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def uses_heading_path(chunker: Chunker) -> bool:
    """Whether the chunker wants the heading path in the prefix."""
    return bool(getattr(chunker, "heading_path", False))


class _Builder:
    """Makes the chunks of one document from checked cuts."""

    def __init__(self, document: Document, chunker: Chunker) -> None:
        self._document = document
        self._tokens = tokenize(document.text)
        self._paths = Paths(document) if uses_heading_path(chunker) else None
        self._limit = declared_maximum(chunker)

    def chunk(self, index: int, cut: Cut) -> Chunk:
        document, span = self._document, cut.span
        body = document.text[span.start : span.end]
        body_tokens = self._tokens.count(span.start, span.end)
        header = "\n".join(document.text[line.start : line.end] for line in cut.header)
        path = self._paths.of(span) if self._paths else ()
        prefix = render(self._affordable(path, header, body_tokens), header)
        n_tokens = count_tokens(f"{prefix}\n{body}") if body[0].isspace() and prefix else cost(prefix) + body_tokens
        return Chunk(f"{document.doc_id}#{index:06}", document.doc_id, span, body, prefix, n_tokens)

    def _affordable(self, path: Path, header: str, body_tokens: int) -> Path:
        """The path without its outermost parts if prefix and body would exceed the declared maximum."""
        return path if self._limit is None else shorten(path, self._limit - body_tokens, header)


def _cuts(document: Document, chunker: Chunker) -> list[Cut]:
    """The cuts of one document, as the chunker decides them; plain spans become cuts."""
    name = getattr(chunker, "__name__", type(chunker).__name__)
    try:
        found = list(chunker(document))
    except ChunklabError:
        raise
    except Exception as error:
        if _is_builtin(chunker):
            raise
        line = traceback.extract_tb(error.__traceback__)[-1]
        raise ContractError(
            f"{name} failed on {document.doc_id!r}: {type(error).__name__}: {error} "
            f"({FilePath(line.filename).name}, line {line.lineno}). A chunker must return spans for every document."
        ) from error
    for cut in found:
        if not isinstance(cut, Span | Cut):
            raise ContractError(
                f"{name} returned {cut!r} for {document.doc_id!r}; a chunker must return objects of Span or Cut."
            )
    return [cut if isinstance(cut, Cut) else Cut(cut) for cut in found]


def _check(cuts: list[Cut], document: Document, chunker: Chunker) -> None:
    text, is_builtin = document.text, _is_builtin(chunker)
    previous = Span(-1, 0)
    for cut in cuts:
        span = cut.span
        if not (0 <= span.start < span.end <= len(text) and text[span.start : span.end].strip()):
            problem = f"is blank or outside its {len(text)} characters"
            raise _broken(chunker, span, document, problem, "hold text inside the document")
        if span.start <= previous.start or span.end <= previous.end:
            problem = f"does not move on from {previous.start}:{previous.end}"
            raise _broken(chunker, span, document, problem, "begin and end after the one before")
        if any(not 0 <= line.start < line.end <= len(text) for line in cut.header):
            raise _broken(chunker, span, document, "has a header outside its document", "repeat lines of the document")
        if is_builtin and text[previous.end : span.start].strip():
            raise _broken(chunker, span, document, "leaves out text before it", "cover all text together")
        previous = span
    if is_builtin and text[previous.end :].strip():
        raise _broken(chunker, previous, document, "leaves out text after it", "cover all text together")


def _broken(chunker: Chunker, span: Span, document: Document, problem: str, law: str) -> ContractError:
    return ContractError(
        f"{type(chunker).__name__} returned span {span.start}:{span.end} for {document.doc_id!r}, which {problem}. "
        f"Spans must {law}."
    )


def _is_builtin(chunker: Chunker) -> bool:
    """Whether the chunker's class belongs to this room."""
    return type(chunker).__module__.startswith(f"{__package__}.")
