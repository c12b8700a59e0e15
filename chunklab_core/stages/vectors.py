"""What the embed stage made, read back: vectors, lengths in the model's own tokens, and the window that it reads."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.formats import text_of_array, unpack_arrays
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.embed import load_vectors


@dataclass(frozen=True, slots=True)
class Embedded:
    """The texts of one embed node, as one model sees them.

    Attributes:
        digest: of the model.
        max_length: how many of its own tokens the model reads; None where unknown.
        pieces: shape (texts,), int32: the length of each text in those tokens.
        window_ends: shape (texts,), int32: the character of each text up to which the model reads it.
    """

    digest: str
    max_length: int | None
    pieces: NDArray[np.int32]
    window_ends: NDArray[np.int32]


def read_embedded(store: ResultStore, embedded: Ref) -> Embedded:
    """What an embed node kept of its texts, the vectors apart."""
    arrays = unpack_arrays(store.read(embedded))
    model = json.loads(text_of_array(arrays["model"]))
    return Embedded(model["digest"], model["max_length"], arrays["pieces"], arrays["window_ends"])


def read_vectors(store: ResultStore, embedded: Ref) -> NDArray[np.float32]:
    """The vectors of an embed node: shape (texts, dim), float32, as the model gave them."""
    return load_vectors(store.items_of(embedded), read_embedded(store, embedded).digest, store)
