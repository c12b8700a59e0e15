"""Prefect task for stage index."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="index {label}", **cached_by_content("index"))
def index(source: Ref, kind: str, label: str, store: str) -> Ref:
    """One strategy's index for one kind of search. See `chunklab_core.pipeline.index_all`."""
    return pipeline.run_stage("index", open_store(store), source=source, kind=kind, label=label)
