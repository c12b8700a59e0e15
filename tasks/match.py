"""Prefect task for stage match."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="match {label}", **cached_by_content("match"))
def match(chunks: Ref, located: Ref, gold: Ref, fuzzy_threshold: float, label: str, store: str) -> Ref:
    """Which chunks of one strategy hold which gold. See `chunklab_core.pipeline.match_all`."""
    return pipeline.run_stage(
        "match",
        open_store(store),
        chunks=chunks,
        located=located,
        gold=gold,
        fuzzy_threshold=fuzzy_threshold,
        label=label,
    )
