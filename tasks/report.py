"""Prefect task for stage report; it runs every time, for it holds the time."""

from datetime import datetime
from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from chunklab_core.graph import nodes
from chunklab_core.records.report import Report
from chunklab_core.report import write_report
from chunklab_core.stages.report import make_report


@task(task_run_name="report", cache_policy=NO_CACHE)
def report(
    inputs: Ref,
    made: list[Ref],  # noqa: ARG001 - what it waits for
    todo: dict[Ref, list[str]],
    out: str,
    started: datetime,
    store: str,
) -> Report:
    """What the stages found, as a record and as report.json in the folder `out`."""
    kept = open_store(store)
    found = make_report(kept, inputs, nodes(kept, inputs), todo, started=started)
    write_report(found, Path(out))
    return found
