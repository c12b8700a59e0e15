"""Prefect task for stage locate."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="locate {label}", **cached_by_content("locate"))
def locate(documents: Ref, gold: Ref, fuzzy_threshold: float, label: str, store: str) -> Ref:
    """Every place in the documents where gold stands. See `chunklab_core.pipeline.locate_all`."""
    return pipeline.run_stage(
        "locate", open_store(store), documents=documents, gold=gold, fuzzy_threshold=fuzzy_threshold, label=label
    )
