"""Embedders: texts in, vectors out. The embed room and the semantic chunkers share one for each model.

Nothing heavy is imported until a vector is missing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chunklab_core.errors import ConfigError, ContractError, first_line
from chunklab_core.models import sentence_transformer
from chunklab_core.models.card import BUNDLED, ModelCard, check_unchanged, model_card
from chunklab_core.plugins import is_plugin, load_plugin

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Vectors of texts: shape (texts, dim)."""

_OPENING = threading.Lock()  # `lru_cache` alone makes two embedders when two threads call it at once


def bundled_embedder() -> Embedder:
    """The bundled model, ready to be called with texts."""
    return open_embedder(replace(model_card(BUNDLED), query_prompt="", passage_prompt=""))


def open_embedder(card: ModelCard) -> Embedder:
    """The embedder of a model; a process has one for each model, because loading takes seconds."""
    with _OPENING:
        return _embedder_of(card)


@lru_cache(maxsize=4)
def _embedder_of(card: ModelCard) -> Embedder:
    return Embedder(card)


class Embedder:
    """Texts in, vectors out. The first text loads the model; one thread at a time uses it."""

    def __init__(self, card: ModelCard) -> None:
        self.card = card
        self.lock = threading.RLock()
        self._encode: Encode | None = None
        self._count: Callable[[Sequence[str]], list[int]] | None = None
        self._find_ends: Callable[[Sequence[str]], list[int]] | None = None

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dim), float32; a text has the same row whatever other texts the call holds."""
        with self.lock:
            if self._encode is None:
                encode = self._load()
                check_unchanged(self.card)
                self._encode = encode
            vectors = np.asarray(self._encode(texts), dtype=np.float32)
        _check_vectors(vectors, texts, self.card.name)
        return vectors

    def count_pieces(self, texts: Sequence[str]) -> list[int]:
        """The number of pieces of each text in the model's own tokenizer, special pieces included; 0 where unknown."""
        if self.card.max_length is None:
            return [0] * len(texts)
        with self.lock:
            if self._count is None:
                self._count = sentence_transformer.piece_counter(Path(self.card.folder))
            return self._count(texts)

    def window_ends(self, texts: Sequence[str]) -> list[int]:
        """The character of each text at which the first piece begins that the model does not read; else its length.

        So the text from there on shapes no vector. A model of unknown length is taken to read everything. A call costs
        as much as counting: pass only texts of more pieces than `max_length`.
        """
        if self.card.max_length is None or not texts:
            return [len(text) for text in texts]
        with self.lock:
            if self._find_ends is None:
                find_ends = sentence_transformer.window_finder(Path(self.card.folder), self.card.max_length)
                check_unchanged(self.card)
                self._find_ends = find_ends
            return self._find_ends(texts)

    def _load(self) -> Encode:
        card = self.card
        if is_plugin(card.name):
            return _load_plugin(card)
        return sentence_transformer.SentenceTransformerEncoder(
            Path(card.folder), name=card.name, max_length=card.max_length, count_pieces=self.count_pieces
        )


def _load_plugin(card: ModelCard) -> Encode:
    make = load_plugin(card.name, Path(card.folder))
    try:
        encode: Encode = make()
    except Exception as error:
        raise ConfigError(
            f"Embedding model {card.name} cannot be loaded: {type(error).__name__}: {first_line(error)}"
        ) from error
    return encode


def _check_vectors(vectors: NDArray[np.float32], texts: Sequence[str], name: str) -> None:
    """Raises ContractError unless there is one finite row a text."""
    if vectors.ndim == 2 and not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise ContractError(
            f"Embedding model {name} returned NaN or infinity for the text that begins with "
            f"{texts[row][:40]!r}. Return finite numbers."
        )
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise ContractError(
            f"Embedding model {name} returned an array of shape {vectors.shape} for {len(texts)} texts. "
            "Return one row a text."
        )
