"""Stage index: what one kind of search reads, made from the chunks of one strategy or from their vectors."""

from __future__ import annotations

from importlib import import_module

from chunklab_core.cache.formats import pack_arrays
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.index import INDEXES
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.stage import Arguments, Made, Progress, Stage
from chunklab_core.stages.vectors import read_vectors


def index(store: ResultStore, _: Progress, *, source: Ref, kind: str) -> Made:
    """The index as named arrays; `source` is an embed node for vectors, else a chunk node."""
    content = read_vectors(store, source) if kind == "vectors" else ChunkTable(store, source).texts()
    return pack_arrays(import_module(INDEXES[kind]).index_arrays(content)), None


def _module(arguments: Arguments) -> list[str]:
    return [INDEXES[arguments["kind"]]]


STAGE = Stage(
    index,
    "One strategy's index for one kind of search.",
    inputs=("source",),
    chosen=_module,
    libraries=("numpy", "regex"),
)
