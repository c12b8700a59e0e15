"""Prefect task for stage parse."""

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="parse {label}", **cached_by_content("parse"))
def parse(corpus: Ref, suffixes: list[str], pdf: str | None, folder: str, label: str, store: str) -> Ref:
    """Every document of a folder, parsed. See `chunklab_core.pipeline.parse_all`."""
    return pipeline.run_stage(
        "parse", open_store(store), corpus=corpus, suffixes=suffixes, pdf=pdf, folder=folder, label=label
    )
