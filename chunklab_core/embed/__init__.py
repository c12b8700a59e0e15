"""Stage 3, embed: texts -> vectors, each text once, whichever strategy or run needs it.

The key of a vector is the model's digest and the exact string that reaches the model. So a changed chunker embeds
only new texts, and an interrupted run loses no more than its last batch.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.protocol import ResultStore
from chunklab_core.embed.claims import Claims, claims_of

_SAVED_TOGETHER = 64  # texts; an interrupted run loses at most these
_READ_TOGETHER = 10_000  # vectors
_LAYOUT = 2  # of a stored value; values of another layout are on another shelf
_PAUSE_SECONDS = 0.05  # between two looks at the texts that other processes embed
_PAUSES = 1_200  # looks without progress, a minute: the other process hangs, and its texts are embedded here

Progress = Callable[[int, int], None]
"""Receives how many texts are done, and how many there are."""


class Card(Protocol):
    """A model as its vectors know it. See `chunklab_core.models.card.ModelCard`."""

    @property
    def digest(self) -> str:
        """Differs between models whose vectors differ."""

    @property
    def max_length(self) -> int | None:
        """Pieces that the model reads; None where unknown."""


class TextEmbedder(Protocol):
    """Texts in, vectors out. See `chunklab_core.models.embedder.Embedder`."""

    lock: threading.RLock

    @property
    def card(self) -> Card:
        """The model."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dim), float32."""

    def count_pieces(self, texts: Sequence[str]) -> list[int]:
        """The number of pieces of each text; 0 where unknown."""

    def window_ends(self, texts: Sequence[str]) -> list[int]:
        """The character up to which the model reads each text."""


def text_keys(texts: Sequence[str]) -> list[bytes]:
    """The key of each text's vector within a model's shelf: SHA-256 of the exact string sent to the model."""
    return [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]


def shelf_of(model_digest: str) -> str:
    """The shelf that holds a model's vectors."""
    return f"embed/{model_digest}-{_LAYOUT}"


def embed_texts(
    texts: Sequence[str], embedder: TextEmbedder, store: ResultStore, progress: Progress | None = None
) -> int:
    """Makes sure that the store has a vector for every text.

    Returns:
        How many texts had none before.
    """
    by_key = dict(zip(text_keys(texts), texts, strict=True))
    shelf = shelf_of(embedder.card.digest)
    with embedder.lock:  # when two strategies share texts, the second finds the vectors of the first
        missing = store.missing_items(shelf, list(by_key))
        if not missing:
            return 0
        lengths = dict(zip(missing, embedder.count_pieces([by_key[key] for key in missing]), strict=True))
        missing.sort(key=lambda key: (lengths[key], key))  # texts of equal length make the fullest batches
        with claims_of(store.claims_file(shelf)) as claims:
            _Work(by_key, lengths, embedder, store).embed_unclaimed(missing, claims, progress or _silent)
    return len(missing)


def load_vectors(keys: Sequence[bytes], model_digest: str, store: ResultStore) -> NDArray[np.float32]:
    """The stored vectors of texts, by key: shape (keys, dim), float32, as the model returned them.

    Raises:
        MissingError: a vector is missing; `embed_texts` makes it.
    """
    parts = [np.stack([_unpack(value)[2] for value in values]) for values in _stored(keys, model_digest, store)]
    return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)


def load_lengths(
    keys: Sequence[bytes], model_digest: str, store: ResultStore
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The lengths of texts, by key, for the model that embedded them.

    Returns:
        Pieces, shape (keys,), int32: how many pieces of the model's own tokenizer each text has; 0 where unknown.
        Window ends, shape (keys,), int32: the character of the text as sent, its prompt included, up to which the
        model reads it; the text's length where the model reads everything, or where that is unknown.

    Raises:
        MissingError: a vector is missing; `embed_texts` makes it.
    """
    lengths = [_unpack(value)[:2] for values in _stored(keys, model_digest, store) for value in values]
    pieces, window_ends = np.array(lengths, dtype=np.int32).reshape(-1, 2).T
    return pieces, window_ends


def _stored(keys: Sequence[bytes], model_digest: str, store: ResultStore) -> Iterator[list[bytes]]:
    """The stored values of keys, part by part, so that memory never holds more than one part twice."""
    for start in range(0, len(keys), _READ_TOGETHER):
        part = keys[start : start + _READ_TOGETHER]
        values = store.get_all_items(shelf_of(model_digest), part)
        yield [values[key] for key in part]


@dataclass(frozen=True, slots=True)
class _Work:
    """The texts of one call, by key, with their lengths in pieces."""

    texts: Mapping[bytes, str]
    lengths: Mapping[bytes, int]
    embedder: TextEmbedder
    store: ResultStore

    def embed_unclaimed(self, missing: Sequence[bytes], claims: Claims, progress: Progress) -> None:
        """Embeds batch after batch; texts that another process claims come last, once it stored them or has ended."""
        waiting, pauses = list(missing), 0
        while waiting:
            left: list[bytes] = []
            for start in range(0, len(waiting), _SAVED_TOGETHER):
                progress(len(missing) - len(waiting) + start - len(left), len(missing))
                batch = waiting[start : start + _SAVED_TOGETHER]
                claimed = batch if pauses > _PAUSES else claims.take(batch)
                self.embed_batch(claimed)
                claims.release(claimed)
                taken = set(claimed)
                left += [key for key in batch if key not in taken]
            pauses = pauses + 1 if len(left) == len(waiting) else 0
            if pauses:
                time.sleep(_PAUSE_SECONDS)
            waiting = left
        progress(len(missing), len(missing))

    def embed_batch(self, batch: Sequence[bytes]) -> None:
        """Embeds and stores one batch, without the texts that another process has stored since the run began."""
        card = self.embedder.card
        missing = self.store.missing_items(shelf_of(card.digest), batch)
        if not missing:
            return
        vectors = self.embedder([self.texts[key] for key in missing])
        too_long = [key for key in missing if card.max_length is not None and self.lengths[key] > card.max_length]
        ends = dict(zip(too_long, self.embedder.window_ends([self.texts[key] for key in too_long]), strict=True))
        packed = {
            key: _pack(self.lengths[key], ends.get(key, len(self.texts[key])), vector)
            for key, vector in zip(missing, vectors, strict=True)
        }
        self.store.put_items(shelf_of(card.digest), packed)


def _silent(done: int, total: int) -> None:
    """Shows no progress."""


def _pack(pieces: int, window_end: int, vector: NDArray[np.float32]) -> bytes:
    return pieces.to_bytes(4, "little") + window_end.to_bytes(4, "little") + vector.astype("<f4").tobytes()


def _unpack(value: bytes) -> tuple[int, int, NDArray[np.float32]]:
    pieces, window_end = (int.from_bytes(value[start : start + 4], "little") for start in (0, 4))
    return pieces, window_end, np.frombuffer(value, dtype="<f4", offset=8)
