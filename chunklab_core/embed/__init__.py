"""Stage 3, embed: texts -> vectors, each text once, whatever strategy or run asked for it.

A vector is kept under the model's digest and the exact string that reaches the model. So changing a chunker embeds
only texts never seen, and a run that is stopped loses the batch in flight and no more.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.protocol import ResultStore
from chunklab_core.embed.claims import Claims, claims_of
from chunklab_core.models.embedder import Embedder

_SAVED_TOGETHER = 64  # texts; what an interrupted run can lose
_READ_TOGETHER = 10_000  # vectors
_LAYOUT = 2  # of a stored value; values of another layout lie on another shelf
_PAUSE_SECONDS = 0.05  # between two looks at what other processes embed
_PAUSES = 1_200  # looks without anything done, a minute: the other stands still, and its texts are embedded here

Report = Callable[[int, int], None]
"""Told how many texts are done, of how many."""


def text_keys(texts: Sequence[str]) -> list[bytes]:
    """The key of each text's vector within a model's shelf: SHA-256 of the exact string sent to the model."""
    return [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]


def shelf_of(model_digest: str) -> str:
    """The shelf on which a model's vectors are kept."""
    return f"embed/{model_digest}-{_LAYOUT}"


def embed_texts(texts: Sequence[str], embedder: Embedder, store: ResultStore, progress: Report | None = None) -> int:
    """Makes sure that every text has its vector in the store.

    Returns:
        How many texts had none when they were asked for.
    """
    by_key = dict(zip(text_keys(texts), texts, strict=True))
    shelf = shelf_of(embedder.card.digest)
    with embedder.lock:  # of two strategies with texts in common, the second finds the first one's
        missing = store.missing_items(shelf, list(by_key))
        if not missing:
            return 0
        lengths = dict(zip(missing, embedder.count_pieces([by_key[key] for key in missing]), strict=True))
        missing.sort(key=lambda key: (lengths[key], key))  # texts of one length make the fullest batches
        with claims_of(store.claims_file(shelf)) as claims:
            _embed_unclaimed(missing, by_key, lengths, embedder, store, claims, progress)
    return len(missing)


def _embed_unclaimed(
    missing: Sequence[bytes],
    texts: dict[bytes, str],
    lengths: dict[bytes, int],
    embedder: Embedder,
    store: ResultStore,
    claims: Claims,
    progress: Report | None,
) -> None:
    """Embeds batch after batch; what another process has claimed comes last, when that one has kept it or has ended."""
    waiting, pauses = list(missing), 0
    while waiting:
        left: list[bytes] = []
        for at in range(0, len(waiting), _SAVED_TOGETHER):
            if progress:
                progress(len(missing) - len(waiting) + at - len(left), len(missing))
            batch = waiting[at : at + _SAVED_TOGETHER]
            mine = batch if pauses > _PAUSES else claims.take(batch)
            _embed_batch(mine, texts, lengths, embedder, store)
            claims.release(mine)
            taken = set(mine)
            left += [key for key in batch if key not in taken]
        pauses = pauses + 1 if len(left) == len(waiting) else 0
        if pauses:
            time.sleep(_PAUSE_SECONDS)
        waiting = left
    if progress:
        progress(len(missing), len(missing))


def load_vectors(keys: Sequence[bytes], model_digest: str, store: ResultStore) -> NDArray[np.float32]:
    """The stored vectors of texts, by key: shape (keys, dim), float32, as the model gave them.

    Raises:
        MissingError: a vector is missing; `embed_texts` makes it.
    """
    parts = [np.stack([_unpack(found[key])[2] for key in part]) for part, found in _stored(keys, model_digest, store)]
    return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)


def load_pieces(keys: Sequence[bytes], model_digest: str, store: ResultStore) -> NDArray[np.int32]:
    """How many pieces of the model's own tokenizer each text has: shape (keys,), int32; 0 where unknown."""
    counts = [_unpack(found[key])[0] for part, found in _stored(keys, model_digest, store) for key in part]
    return np.array(counts, dtype=np.int32)


def load_window_ends(keys: Sequence[bytes], model_digest: str, store: ResultStore) -> NDArray[np.int32]:
    """The place up to which the model reads each text: shape (keys,), int32, in characters of the text as it was sent.

    A prompt before the text is part of it. The text's length where the model reads all, or where that is unknown.
    """
    ends = [_unpack(found[key])[1] for part, found in _stored(keys, model_digest, store) for key in part]
    return np.array(ends, dtype=np.int32)


def _stored(
    keys: Sequence[bytes], model_digest: str, store: ResultStore
) -> Iterator[tuple[Sequence[bytes], dict[bytes, bytes]]]:
    """The stored values of keys, part by part, so that no more than a part is held twice."""
    for at in range(0, len(keys), _READ_TOGETHER):
        part = keys[at : at + _READ_TOGETHER]
        yield part, store.get_all_items(shelf_of(model_digest), part)


def _embed_batch(
    batch: Sequence[bytes], texts: dict[bytes, str], lengths: dict[bytes, int], embedder: Embedder, store: ResultStore
) -> None:
    """Embeds and keeps one batch, less what another process has kept since the run began."""
    shelf = shelf_of(embedder.card.digest)
    wanted = store.missing_items(shelf, batch) if batch else []
    if not wanted:
        return
    vectors = embedder([texts[key] for key in wanted])
    limit = embedder.card.max_length
    cut = [key for key in wanted if limit is not None and lengths[key] > limit]
    ends = dict(zip(cut, embedder.window_ends([texts[key] for key in cut]), strict=True))
    packed = {
        key: _pack(lengths[key], ends.get(key, len(texts[key])), vector)
        for key, vector in zip(wanted, vectors, strict=True)
    }
    store.put_items(shelf, packed)


def _pack(pieces: int, window_end: int, vector: NDArray[np.float32]) -> bytes:
    return pieces.to_bytes(4, "little") + window_end.to_bytes(4, "little") + vector.astype("<f4").tobytes()


def _unpack(value: bytes) -> tuple[int, int, NDArray[np.float32]]:
    pieces, window_end = (int.from_bytes(value[at : at + 4], "little") for at in (0, 4))
    return pieces, window_end, np.frombuffer(value, dtype="<f4", offset=8)
