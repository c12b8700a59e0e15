"""Stage chunk: every document cut by one strategy. A document that the strategy cut before is reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.formats import array_of_text, pack_arrays
from chunklab_core.cache.protocol import Items, Ref, ResultStore, in_step
from chunklab_core.chunk import BUILTINS, make_chunker
from chunklab_core.chunk.build import chunk_document
from chunklab_core.chunk.stored import pack_chunks, unpack_spans
from chunklab_core.embed import embed_texts, load_vectors, text_keys
from chunklab_core.models.card import ModelCard
from chunklab_core.models.embedder import open_embedder
from chunklab_core.plugins import check_unchanged, is_plugin
from chunklab_core.records.chunks import EmbedTexts
from chunklab_core.stages.documents import document_entries, stored_documents
from chunklab_core.stages.stage import TOKENS, Arguments, Made, Progress, Stage


def chunk(
    store: ResultStore,
    progress: Progress,
    *,
    documents: Ref,
    strategy: Mapping[str, Any],
    target: str,
    model_place: Mapping[str, Any],
) -> Made:
    """Where each chunk begins and ends and its tokens, document after document."""
    chunker = make_chunker(
        target, embed=_embedding(store, progress, strategy["model"], model_place), **strategy["params"]
    )
    check_unchanged(target, strategy["plugin"])
    doc_ids = [entry["id"] for entry in document_entries(store, documents)]
    parsed_keys = store.items_of(documents)
    keys = chunk_keys(doc_ids, parsed_keys, strategy, target)
    spans: list[list[list[int]]] = []
    for ids, parsed_part, part in in_step(doc_ids, parsed_keys, keys):
        payloads = store.get_items("chunk", part)
        missing = {
            key: (doc_id, parsed)
            for key, doc_id, parsed in zip(part, ids, parsed_part, strict=True)
            if key not in payloads
        }
        missing_documents = stored_documents(store, *zip(*missing.values(), strict=True)) if missing else ()
        new: dict[bytes, bytes] = {}
        for done, (key, (document, _)) in enumerate(zip(missing, missing_documents, strict=True)):
            new[key] = pack_chunks(chunk_document(document, chunker))
            progress(len(spans) + done, len(doc_ids) + 1)
        store.put_items("chunk", new)
        spans += [unpack_spans({**payloads, **new}[key]) for key in part]
    rows = [[index, *span] for index, of_document in enumerate(spans) for span in of_document]
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return pack_arrays({"table": table, "documents": array_of_text(documents)}), Items("chunk", tuple(keys))


def chunk_keys(
    doc_ids: Sequence[str], parsed_keys: Sequence[bytes], strategy: Mapping[str, Any], target: str
) -> list[bytes]:
    """The key under which the chunks of each document are kept once it is cut."""
    names = doc_ids if is_plugin(target) else [""] * len(doc_ids)  # a user's chunker may look at the document's id
    parts = ([key.hex(), name] for key, name in zip(parsed_keys, names, strict=True))
    return STAGE.item_keys({"target": target}, {"strategy": strategy}, parts)


def _embedding(
    store: ResultStore, progress: Progress, model: Mapping[str, Any] | None, place: Mapping[str, Any]
) -> EmbedTexts | None:
    """An embedder that takes vectors from the store where it has them; None for a strategy without a model."""
    if model is None:
        return None
    known = {name: value for name, value in model.items() if name != "prompt"}
    embedder = open_embedder(ModelCard(**known, **place))

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        sent = [model["prompt"] + text for text in texts]
        embed_texts(sent, embedder, store, progress.of_part("sentences"))
        return load_vectors(text_keys(sent), embedder.card.digest, store)

    return embed


def _chunker(arguments: Arguments) -> list[str]:
    """The class of a built-in chunker; a user's own is in the key by the digest of its files."""
    target = arguments["target"]
    return [] if is_plugin(target) else [BUILTINS[target]]


STAGE = Stage(
    chunk,
    "Every document cut by one strategy.",
    inputs=("documents",),
    unkeyed=("target", "model_place"),
    chosen=_chunker,
    libraries=(*TOKENS, "numpy", "regex"),
    items="documents",
    in_report=True,
)
