"""Prefect task for stage embed."""

from typing import Any

from prefect import task

from chunklab_core import pipeline
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from tasks.caching import cached_by_content


@task(task_run_name="embed {label}", **cached_by_content("embed"))
def embed(texts: Ref, model: dict[str, Any], prompt: str, model_place: dict[str, str], label: str, store: str) -> Ref:
    """A vector for every chunk of a strategy, or for every question. See `chunklab_core.pipeline.embed_all`."""
    return pipeline.run_stage(
        "embed", open_store(store), texts=texts, model=model, prompt=prompt, model_place=model_place, label=label
    )
