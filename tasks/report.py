"""Prefect task for stage report. It runs every time, because the report contains the time."""

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
    made: list[Ref],  # noqa: ARG001 - the tasks that it waits for
    reasons: dict[Ref, list[str]],
    out: str,
    started: datetime,
    store: str,
) -> Report:
    """Gathers the results of all stages into one report, and writes it as report.json into the folder `out`."""
    results = open_store(store)
    found = make_report(results, inputs, nodes(results, inputs), reasons, started=started)
    write_report(found, Path(out))
    return found
