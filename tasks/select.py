"""Prefect task for stage select."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="select {label}", **cached_by_content("select"))
def select(
    scores: list[Ref],
    documents: Ref,
    located: Ref,
    gold: Ref,
    queries: Ref,
    ranking_metric: str,
    balanced_lambda: float,
    seed: int,
    resamples: int,
    label: str,
    store: str,
) -> Ref:
    """What the evidence says about all cells. See `chunklab_core.pipeline.select_all`."""
    return pipeline.run_stage(
        "select",
        open_store(store),
        scores=scores,
        documents=documents,
        located=located,
        gold=gold,
        queries=queries,
        ranking_metric=ranking_metric,
        balanced_lambda=balanced_lambda,
        seed=seed,
        resamples=resamples,
        label=label,
    )
