"""Prefect task for stage ceiling."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="ceiling {label}", **cached_by_content("ceiling"))
def ceiling(matched: Ref, gold: Ref, top_k: list[int], label: str, store: str) -> Ref:
    """What one strategy's chunks allow whatever is searched with. See `chunklab_core.pipeline.ceiling_all`."""
    return pipeline.run_stage("ceiling", open_store(store), matched=matched, gold=gold, top_k=top_k, label=label)
