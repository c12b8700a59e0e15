"""Stage embed: a vector for every chunk of a strategy, or for every question. Only new texts reach the model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from numpy.typing import NDArray

from chunklab_core.cache.formats import array_of_text, pack_arrays, unpack_json
from chunklab_core.cache.protocol import Items, Ref, ResultStore, stage_of
from chunklab_core.embed import embed_texts, load_lengths, shelf_of, text_keys
from chunklab_core.models.card import ModelCard
from chunklab_core.models.embedder import open_embedder
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.stage import Made, Progress, Stage

_TEXTS_TOGETHER = 4_096  # embedded between two reads: enough to fill batches of equal length


def embed(
    store: ResultStore,
    progress: Progress,
    *,
    texts: Ref,
    model: Mapping[str, Any],
    prompt: str,
    model_place: Mapping[str, Any],
) -> Made:
    """The lengths and windows of all texts under one model; the vectors are items."""
    embedder = open_embedder(ModelCard(**model, **model_place))
    keys: list[bytes] = []
    for batch in _batches(texts_of(store, texts), _TEXTS_TOGETHER):
        sent = [prompt + text for text in batch]
        embed_texts(sent, embedder, store, progress)
        keys += text_keys(sent)
    pieces, window_ends = load_lengths(keys, embedder.card.digest, store)
    arrays: dict[str, NDArray[Any]] = {
        "pieces": pieces,
        "window_ends": window_ends - len(prompt),  # in characters of the text itself
        "model": array_of_text(json.dumps(model)),
    }
    return pack_arrays(arrays), Items(shelf_of(embedder.card.digest), tuple(keys))


def texts_of(store: ResultStore, texts: Ref) -> Iterator[str]:
    """The texts behind a reference: queries, or the chunks of a strategy."""
    return iter(unpack_json(store.read(texts))) if stage_of(texts) == "queries" else ChunkTable(store, texts).texts()


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(texts)
    while batch := list(islice(iterator, size)):
        yield batch


STAGE = Stage(
    embed,
    "A vector for every chunk of a strategy, or for every question.",
    inputs=("texts",),
    unkeyed=("model_place",),
    room=("chunklab_core.embed",),
    items="texts",
)
