"""Stage survey: what moved recall, where, at what price, and how far the lead holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from chunklab_core.cache.formats import pack_json, unpack_json
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.records.survey import CellAxes
from chunklab_core.select.survey import survey as survey_cells
from chunklab_core.stages.locate import read_gold
from chunklab_core.stages.select import figures
from chunklab_core.stages.stage import TOKENS, Made, Progress, Stage
from chunklab_core.tokens import count_tokens


def survey(
    store: ResultStore,
    _: Progress,
    *,
    scores: Sequence[Ref],
    verdict: Ref,
    gold: Ref,
    tags: Ref,
    cells: Sequence[tuple[int, int, int | None, int | None]],
    ranking_metric: str,
    balanced_lambda: float,
    seed: int,
) -> Made:
    """The survey of all cells; `cells` holds the positions of each one's strategy, retriever, model and reranker."""
    selected = unpack_json(store.read(verdict))
    swept = [unpack_json(store.read(ref))["by_k"] for ref in scores]
    judged = [cell[0]["questions"] for cell in swept]
    other_k = zip(*(cell[1:] for cell in swept), strict=True)
    found = survey_cells(
        figures(judged, "recall_at_k"),
        figures(judged, "retrieved_tokens_at_k"),
        [_axes(*cell) for cell in cells],
        tags=unpack_json(store.read(tags)),
        documents=selected["documents"],
        gold_tokens=[max(count_tokens(slot[0]) for slot in question.slots) for question in read_gold(store, gold)],
        groups=selected["groups"],
        by_k={at_k[0]["k"]: figures([cell["questions"] for cell in at_k], "recall_at_k") for at_k in other_k},
        in_play=selected["verdict"]["in_play"],
        balanced_lambda=balanced_lambda,
        price_counts=ranking_metric == "balanced",
        is_settled=selected["verdict"]["status"] == "winner",
        seed=seed,
    )
    return pack_json(asdict(found)), None


def _axes(strategy: int, retriever: int, model: int | None, reranker: int | None) -> CellAxes:
    """Positions as levels that are sorted as they are numbered."""
    used = [None if position is None else f"{position:04}" for position in (model, reranker)]
    return CellAxes(f"{strategy:04}", f"{retriever:04}", *used)


STAGE = Stage(
    survey,
    "What moved recall, at what price, and how far the lead holds.",
    inputs=("scores", "verdict", "gold", "tags"),
    libraries=("numpy", *TOKENS, "scipy"),
    in_report=True,
)
