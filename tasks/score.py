"""Prefect task for stage score."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="score {label}", **cached_by_content("score"))
def score(
    retrieved: Ref,
    legs: list[Ref],
    embedded: list[Ref],
    chunks: Ref,
    matched: Ref,
    gold: Ref,
    leg_names: list[str],
    candidates: int,
    top_k: list[int],
    label: str,
    store: str,
) -> Ref:
    """How much of the gold one cell's answers hold. See `chunklab_core.pipeline.score_all`."""
    return pipeline.run_stage(
        "score",
        open_store(store),
        retrieved=retrieved,
        legs=legs,
        embedded=embedded,
        chunks=chunks,
        matched=matched,
        gold=gold,
        leg_names=leg_names,
        candidates=candidates,
        top_k=top_k,
        label=label,
    )
