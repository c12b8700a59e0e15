"""One Prefect task for each stage: answered from the cache if nothing changed, run by the core otherwise."""

from functools import cache
from typing import Any

from prefect import Task, task

from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from chunklab_core.pipeline import run_stage
from chunklab_core.stages import all_stages
from tasks.caching import cached_by_content


@cache
def task_of(stage: str) -> Task[..., Ref]:
    """The task of a stage, with the name and the description that the Prefect UI shows."""

    def run(arguments: dict[str, Any], label: str, store: str) -> Ref:
        return run_stage(stage, open_store(store), label=label, **arguments)

    run.__qualname__ = stage  # Prefect tells tasks apart by it
    return task(
        run,
        name=stage,
        description=all_stages()[stage].description,
        task_run_name=f"{stage} {{label}}",
        **cached_by_content(stage),
    )
