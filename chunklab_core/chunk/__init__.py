"""Stage 2, chunk: Document -> list[Chunk].

A chunker decides where to cut; this room checks its cuts and builds ids, prefixes and token counts from them.
"""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path as FilePath
from typing import Any, cast

from chunklab_core.chunk.prefix import Path, Paths, cost, render, shorten
from chunklab_core.errors import ChunklabError, ConfigError, ContractError, did_you_mean
from chunklab_core.plugins import is_plugin, load_plugin
from chunklab_core.records.chunks import Chunk, Chunker, Cut, EmbedTexts
from chunklab_core.records.documents import Document, Span
from chunklab_core.tokens import TokenizedText, count_tokens, tokenize

BUILTINS = {
    "fixed": "chunklab_core.chunk.fixed:FixedChunker",
    "recursive": "chunklab_core.chunk.recursive:RecursiveChunker",
    "semantic": "chunklab_core.chunk.semantic:SemanticChunker",
    "semantic_no_floor": "chunklab_core.chunk.semantic:SemanticNoFloorChunker",
    "structure": "chunklab_core.chunk.structure:StructureChunker",
    "whole_document": "chunklab_core.chunk.whole_document:WholeDocumentChunker",
}


def make_chunker(name: str, *, embed: EmbedTexts | None = None, base: FilePath | None = None, **params: Any) -> Chunker:
    """The chunker of one strategy: a built-in by name, or a user's own by `file.py:Class` or `package.module:Class`.

    Args:
        name: see `BUILTINS`.
        embed: for chunkers that embed sentences; the bundled model is loaded on first use where it is None.
        base: the folder in which a plug-in's relative file is looked up.
        params: see `default_params`.

    Raises:
        ConfigError: an unknown name or parameter, or a value that cannot work. No document is read before.
    """
    method = _method(name, base)
    known = _parameters(method)
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    listed = sorted(set(known) - {"embed"})
    for key in params:
        if key not in listed and not takes_any:
            guess = did_you_mean(key, listed)
            raise ConfigError(f"{name} has no parameter {key!r}{guess} Known: {', '.join(listed) or 'none'}.")
    if not inspect.isclass(method):
        return cast(Chunker, method)
    try:
        return cast(Chunker, method(**params, **({"embed": embed} if "embed" in known and embed is not None else {})))
    except ChunklabError:
        raise
    except Exception as error:
        said = f"{error}" if isinstance(error, TypeError) else f"{type(error).__name__}: {error}"
        raise ConfigError(f"{name} cannot be made from its parameters: {said}. Known: {', '.join(listed)}.") from error


def default_params(name: str, base: FilePath | None = None) -> dict[str, object]:
    """The parameters that a strategy takes, with their defaults; None where a plug-in's parameter has none."""
    found = _parameters(_method(name, base))
    return {
        key: None if parameter.default is parameter.empty else parameter.default
        for key, parameter in found.items()
        if key != "embed" and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }


def takes_embedder(name: str, base: FilePath | None = None) -> bool:
    """Whether a strategy asks for an embedder, as a parameter `embed`."""
    return "embed" in _parameters(_method(name, base))


def chunk_document(document: Document, chunker: Chunker) -> list[Chunk]:
    """One document cut into chunks, in reading order; none where it has no text.

    Raises:
        ContractError: a cut that is blank, outside the document, out of order or inside another; from a
            built-in, one that leaves text out; from a user's chunker, anything that it raises.
    """
    if not document.text.strip():
        return []
    cuts = _cuts(document, chunker)
    _check(cuts, document, chunker)
    build = _Builder(document, chunker)
    return [build.chunk(index, cut) for index, cut in enumerate(cuts)]


def declared_maximum(chunker: Chunker) -> int | None:
    """The most tokens a chunk may cost by the chunker's own word, prefix included; None where it gives none."""
    for key in ("max_tokens", "chunk_size"):
        value = getattr(chunker, key, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def bears_path(chunker: Chunker) -> bool:
    """Whether the chunker asks for the heading path in the prefix."""
    return bool(getattr(chunker, "heading_path", False))


class _Builder:
    """Makes the chunks of one document from checked cuts."""

    def __init__(self, document: Document, chunker: Chunker) -> None:
        self._document = document
        self._tokens: TokenizedText = tokenize(document.text)
        self._paths = Paths(document) if bears_path(chunker) else None
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
        """The path, its outermost parts dropped where prefix and body would exceed the declared maximum."""
        return path if self._limit is None else shorten(path, self._limit - body_tokens, header)


def _method(name: str, base: FilePath | None) -> Any:
    """The class behind a name. Raises ConfigError for a name that is neither built in nor a plug-in."""
    if not isinstance(name, str) or not (name in BUILTINS or is_plugin(name)):
        guess = did_you_mean(str(name), list(BUILTINS))
        raise ConfigError(
            f"There is no chunking strategy {name!r}{guess} Known: {', '.join(BUILTINS)}, or a class of your own "
            "as file.py:Class or package.module:Class."
        )
    method = load_plugin(BUILTINS.get(name, name), base)
    if not callable(method):
        raise ConfigError(f"{name!r} is no class; a chunker is a class whose objects are called with a document.")
    return method


def _parameters(method: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a chunker's class; none for a plain function, which takes only the document."""
    return dict(inspect.signature(method).parameters) if inspect.isclass(method) else {}


def _cuts(document: Document, chunker: Chunker) -> list[Cut]:
    """What the chunker decides about one document, plain spans as cuts."""
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
            f"({FilePath(line.filename).name}, line {line.lineno}). A chunker must return the spans of every document."
        ) from error
    for cut in found:
        if not isinstance(cut, Span | Cut):
            raise ContractError(
                f"{name} returned {cut!r} for {document.doc_id!r}; a chunker must return objects of Span or Cut."
            )
    return [cut if isinstance(cut, Cut) else Cut(cut) for cut in found]


def _check(cuts: list[Cut], document: Document, chunker: Chunker) -> None:
    text, name = document.text, type(chunker).__name__
    before = Span(-1, 0)
    for cut in cuts:
        span = cut.span
        if not (0 <= span.start < span.end <= len(text) and text[span.start : span.end].strip()):
            raise _broken(
                name, span, document, f"is blank or outside its {len(text)} characters", "lie inside, not blank"
            )
        if span.start <= before.start or span.end <= before.end:
            problem = f"does not move on from {before.start}:{before.end}"
            raise _broken(name, span, document, problem, "begin and end behind the one before")
        if any(not 0 <= line.start < line.end <= len(text) for line in cut.header):
            raise _broken(name, span, document, "has a header outside its document", "repeat lines of the document")
        if _is_builtin(chunker) and text[before.end : span.start].strip():
            raise _broken(name, span, document, "leaves out text before it", "cover all text together")
        before = span
    if _is_builtin(chunker) and text[before.end :].strip():
        raise _broken(name, before, document, "leaves out text behind it", "cover all text together")


def _broken(name: str, span: Span, document: Document, problem: str, law: str) -> ContractError:
    return ContractError(
        f"{name} returned span {span.start}:{span.end} for {document.doc_id!r}, which {problem}. Spans must {law}."
    )


def _is_builtin(chunker: Chunker) -> bool:
    return f"{type(chunker).__module__}:{type(chunker).__qualname__}" in BUILTINS.values()
