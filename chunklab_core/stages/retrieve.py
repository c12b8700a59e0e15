"""Stage retrieve: one retriever's ranking of the chunks for every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from chunklab_core.cache.formats import pack_arrays, unpack_arrays, unpack_json
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.index import INDEXES
from chunklab_core.records.rankings import Ranking
from chunklab_core.retrieve import RETRIEVERS
from chunklab_core.stages.stage import Arguments, Made, Progress, Stage
from chunklab_core.stages.vectors import read_vectors


def retrieve(store: ResultStore, _: Progress, *, sources: Sequence[Ref], retriever: Mapping[str, Any]) -> Made:
    """The rankings of all questions, deep enough to be fused and cut at k.

    `sources` are the index and the questions, or the retrieve nodes of the legs. `retriever` holds the name, and the
    parameters of the search by their names.
    """
    parameters = {name: value for name, value in retriever.items() if name != "name"}
    module = import_module(RETRIEVERS[retriever["name"]].module)
    rankings = module.rank(*_inputs(store, sources, retriever["name"]), **parameters)
    bounds = np.cumsum([0, *(len(ranking.rows) for ranking in rankings)])
    arrays = {
        "bounds": bounds,
        "rows": np.concatenate([np.zeros(0, np.int64), *(ranking.rows for ranking in rankings)]),
        "scores": np.concatenate([np.zeros(0), *(ranking.scores for ranking in rankings)]),
    }
    return pack_arrays(arrays), None


def _inputs(store: ResultStore, sources: Sequence[Ref], name: str) -> tuple[Any, ...]:
    """What the retriever searches: the rankings of its legs, or an index and the questions as it reads them."""
    reads = RETRIEVERS[name].index
    if reads is None:
        return ([load_rankings(store, leg) for leg in sources],)
    index, queries = sources
    questions = read_vectors(store, queries) if reads == "vectors" else unpack_json(store.read(queries))
    module = import_module(INDEXES[reads])
    return module.open_index(unpack_arrays(store.read(index))), module.open_questions(questions)


def load_rankings(store: ResultStore, retrieved: Ref) -> list[Ranking]:
    """The rankings that a retrieve node made, one for each question."""
    arrays = unpack_arrays(store.read(retrieved))
    ends = zip(arrays["bounds"][:-1], arrays["bounds"][1:], strict=True)
    return [Ranking(arrays["rows"][start:end], arrays["scores"][start:end]) for start, end in ends]


def _modules(arguments: Arguments) -> list[str]:
    """The retriever's module, and that of the index it reads."""
    retriever = RETRIEVERS[arguments["retriever"]["name"]]
    return [retriever.module, *([INDEXES[retriever.index]] if retriever.index else [])]


STAGE = Stage(
    retrieve,
    "One retriever's answers to all questions.",
    inputs=("sources",),
    chosen=_modules,
    libraries=("numpy", "regex"),
)
