"""Stage ceiling: what the chunks of one strategy allow under perfect retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from chunklab_core.cache.formats import pack_json
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.records.scores import Ceiling
from chunklab_core.score.ceiling import mean_ceiling, question_ceiling
from chunklab_core.score.loss_facts import rows_by_slot
from chunklab_core.score.stored import unpack_gold_chunks
from chunklab_core.stages.locate import read_gold
from chunklab_core.stages.stage import Made, Progress, Stage


def ceiling(store: ResultStore, _: Progress, *, matched: Ref, gold: Ref, top_k: Sequence[int]) -> Made:
    """The mean ceiling of all questions, for every k."""
    gold_chunks, tokens = unpack_gold_chunks(store.read(matched))
    rows_of = rows_by_slot(gold_chunks)
    sweep: list[list[Ceiling]] = [[] for _ in top_k]
    for index, question in enumerate(read_gold(store, gold)):
        of_slots = [rows_of.get((index, slot), frozenset[int]()) for slot in range(len(question.slots))]
        rows = sorted(frozenset().union(*of_slots))
        spans = dict(zip(rows, tokens.spans(rows), strict=True))
        for ceilings, k in zip(sweep, top_k, strict=True):
            ceilings.append(question_ceiling(tokens.slots(index), of_slots, spans, k))
    means = [{"k": k, "ceiling": asdict(mean_ceiling(each))} for k, each in zip(top_k, sweep, strict=True)]
    return pack_json({"by_k": means}), None


STAGE = Stage(
    ceiling,
    "What one strategy's chunks allow, whatever is searched with.",
    inputs=("matched", "gold"),
    libraries=("numpy",),
    in_report=True,
)
