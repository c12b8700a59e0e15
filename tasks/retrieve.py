"""Prefect task for stage retrieve."""

from typing import Any

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="retrieve {label}", **cached_by_content("retrieve"))
def retrieve(sources: list[Ref], retriever: dict[str, Any], label: str, store: str) -> Ref:
    """One retriever's answers to all questions. See `chunklab_core.pipeline.retrieve_all`."""
    return pipeline.run_stage("retrieve", open_store(store), sources=sources, retriever=retriever, label=label)
