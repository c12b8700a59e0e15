"""Prefect task for stage chunk."""

from typing import Any

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="chunk {label}", **cached_by_content("chunk"))
def chunk(
    documents: Ref, strategy: dict[str, Any], target: str, model_place: dict[str, str], label: str, store: str
) -> Ref:
    """Every document cut by one strategy. See `chunklab_core.pipeline.chunk_all`."""
    return pipeline.run_stage(
        "chunk",
        open_store(store),
        documents=documents,
        strategy=strategy,
        target=target,
        model_place=model_place,
        label=label,
    )
