"""One Prefect task for each stage: answered from the cache if nothing changed, run by the core otherwise."""

from functools import cache
from typing import Any

from prefect import Task, task

from chunklab_core import pipeline
from chunklab_core.cache.store import Ref, Store
from tasks.caching import cached_by_content


@cache
def task_of(stage: str) -> Task[..., Ref]:
    """The task of a stage, with the name and the description that the Prefect UI shows."""

    def run(arguments: dict[str, Any], label: str, store: str) -> Ref:
        return pipeline.run_stage(stage, Store(store), label=label, **arguments)

    run.__qualname__ = stage  # Prefect tells tasks apart by it
    description = (pipeline.STAGES[stage].function.__doc__ or "").partition("\n")[0]
    return task(
        run, name=stage, description=description, task_run_name=f"{stage} {{label}}", **cached_by_content(stage)
    )
