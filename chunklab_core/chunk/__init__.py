"""Stage 2, chunk: Document -> list[Chunk]. The table of built-in chunkers; a chunker is one file and one line here."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, cast

from chunklab_core.chunk.build import chunk_document
from chunklab_core.errors import ChunklabError, ConfigError, did_you_mean
from chunklab_core.plugins import is_plugin, load_plugin
from chunklab_core.records.chunks import Chunker, EmbedTexts

__all__ = ["BUILTINS", "chunk_document", "default_params", "make_chunker", "takes_embedder"]

BUILTINS = {
    "fixed": "chunklab_core.chunk.fixed:FixedChunker",
    "recursive": "chunklab_core.chunk.recursive:RecursiveChunker",
    "semantic": "chunklab_core.chunk.semantic:SemanticChunker",
    "semantic_no_floor": "chunklab_core.chunk.semantic:SemanticNoFloorChunker",
    "structure": "chunklab_core.chunk.structure:StructureChunker",
    "whole_document": "chunklab_core.chunk.whole_document:WholeDocumentChunker",
}


def make_chunker(name: str, *, embed: EmbedTexts | None = None, base: Path | None = None, **params: Any) -> Chunker:
    """The chunker of one strategy: a built-in by name, or a user's own by `file.py:Class` or `package.module:Class`.

    Args:
        name: see `BUILTINS`.
        embed: for chunkers that embed sentences; the bundled model is loaded on first use where it is None.
        base: the folder in which a plug-in's relative file is looked up.
        params: see `default_params`.

    Raises:
        ConfigError: an unknown name or parameter, or a value that cannot work; before any document is read.
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
        problem = f"{error}" if isinstance(error, TypeError) else f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{name} cannot be made from its parameters: {problem}. Known: {', '.join(listed)}."
        ) from error


def default_params(name: str, base: Path | None = None) -> dict[str, object]:
    """The parameters that a strategy takes, with their defaults; None where a plug-in's parameter has none."""
    found = _parameters(_method(name, base))
    return {
        key: None if parameter.default is parameter.empty else parameter.default
        for key, parameter in found.items()
        if key != "embed" and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }


def takes_embedder(name: str, base: Path | None = None) -> bool:
    """Whether a strategy needs an embedder: its class has a parameter `embed`."""
    return "embed" in _parameters(_method(name, base))


def _method(name: str, base: Path | None) -> Any:
    """The class behind a name. Raises ConfigError for a name that is neither built in nor a plug-in."""
    if not isinstance(name, str) or not (name in BUILTINS or is_plugin(name)):
        guess = did_you_mean(str(name), list(BUILTINS))
        raise ConfigError(
            f"Unknown chunking strategy {name!r}{guess} Known: {', '.join(BUILTINS)}, or a class of your own "
            "as file.py:Class or package.module:Class."
        )
    method = load_plugin(BUILTINS.get(name, name), base)
    if not callable(method):
        raise ConfigError(f"{name!r} is not a class; write a class whose objects are called with a document.")
    return method


def _parameters(method: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a chunker's class; empty for a plain function, which takes only the document."""
    return dict(inspect.signature(method).parameters) if inspect.isclass(method) else {}
