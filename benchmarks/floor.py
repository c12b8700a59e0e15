"""A flow of empty tasks: what Prefect itself takes for a re-run, whatever is evaluated.

Why: a re-run of an evaluation waits for Prefect most of the time, and only beside the same flow with nothing in it can
be said what is ours. This is that flow: as many tasks, waiting for one another in the same way, answered from Prefect's
records by the same options, through the same settings of the command line, with the same wait for the history. What
the evaluation has and this one has not is counted as ours: its imports, its inputs and their keys, what it reads and
checks in the cache, its progress bars, and its report. `benchmarks.overhead` runs it, in the environment that it gives
to both: a server that Prefect has to start, the wait for it, and the recording of the tasks are on both sides.

    python -m benchmarks.floor PLAN
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prefect import Task, flow, task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner

from flows.server import history_kept, wait_until_recorded

# As that of the evaluation, which this module must not import.
_RUNNER: Any = ThreadPoolTaskRunner(max_workers=(os.cpu_count() or 1) + 6)


def _empty(ref: str, after: list[str], label: str) -> str:  # noqa: ARG001 - what it waits for, and its name
    return ref


def _last(made: list[str]) -> int:
    return len(made)


@flow(name="floor", task_runner=_RUNNER, validate_parameters=True, persist_result=False)
def floor(plan: str) -> int:
    """The empty flow; the number of its cached tasks."""
    work = json.loads(Path(plan).read_text(encoding="utf-8"))
    stages = _tasks({one["stage"] for one in work["nodes"]}, Path(work["records"]))
    futures: dict[str, PrefectFuture[str]] = {}
    for one in work["nodes"]:
        after = [futures[ref] for ref in one["after"]]
        futures[one["ref"]] = stages[one["stage"]].submit(one["ref"], after, label=one["label"])
    made: Any = list(futures.values())
    for each in made:
        each.wait()
    return task(_last, name="report", task_run_name="report", cache_policy=NO_CACHE).submit(made).result()


def _tasks(stages: set[str], records: Path) -> Mapping[str, Task[..., str]]:
    def key(_: Any, arguments: Mapping[str, Any]) -> str:
        return f"floor-{arguments['ref'].replace('/', '-')}"

    storage: Any = records
    return {
        stage: task(
            _empty,
            name=stage,
            task_run_name=f"{stage} {{label}}",
            cache_key_fn=key,
            persist_result=True,
            result_serializer="json",
            cache_result_in_memory=False,
            result_storage=storage,
        )
        for stage in sorted(stages)
    }


def main(arguments: Sequence[str]) -> None:
    """Runs the empty flow once."""
    (plan,) = arguments
    with history_kept():
        state = floor(plan, return_state=True)
        n_tasks = 1 + state.result()
        if not wait_until_recorded(state.state_details.flow_run_id, n_tasks):
            sys.exit("The history of the empty flow was not recorded in time.")


if __name__ == "__main__":
    main(sys.argv[1:])
