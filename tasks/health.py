"""Prefect task for stage health."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="health {label}", **cached_by_content("health"))
def health(
    chunks: Ref,
    embedded: list[Ref],
    min_floor_tokens: int,
    max_tokens: int | None,
    heading_path: bool,
    label: str,
    store: str,
) -> Ref:
    """What one strategy's chunks are like, before any retrieval. See `chunklab_core.pipeline.health_all`."""
    return pipeline.run_stage(
        "health",
        open_store(store),
        chunks=chunks,
        embedded=embedded,
        min_floor_tokens=min_floor_tokens,
        max_tokens=max_tokens,
        heading_path=heading_path,
        label=label,
    )
