"""Why a task runs, and what it took over, as lines of its own log, where the UI shows them.

Why here and not in the tasks: a task is known by its inputs alone, and the reason differs from run to run.
"""

import logging
from pathlib import Path
from typing import Any

from prefect import Task
from prefect.client.schemas.objects import State, TaskRun
from prefect.logging.loggers import task_run_logger

from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.run_records import new_items, noted
from chunklab_core.plan.plan import UNITS
from chunklab_core.stages.stage import Node


def logged_reasons(one: Node, reasons: list[str], root: Path) -> dict[str, Any]:
    """Task options under which a node says why it runs, and at its end how much it took over."""

    def say_why(task: Task[..., Any], run: TaskRun, _: State[Any]) -> None:
        _say(task, run, f"{one.stage} {one.label}: {'; '.join(reasons)}")

    def say_what(task: Task[..., Any], run: TaskRun, _: State[Any]) -> None:
        effort = noted(open_store(root), [one.ref]).get(one.ref)
        n_new = new_items(effort) if effort else None
        if effort is None or n_new is None:
            return
        of = sum(effort.items.values())
        if n_new < of:
            _say(
                task,
                run,
                f"{one.stage} {one.label}: taken over: {of - n_new:,} of {of:,} {UNITS.get(one.stage, 'items')}",
            )

    return {"on_running": [say_why], "on_completion": [say_what]}


def _say(task: Task[..., Any], run: TaskRun, message: str) -> None:
    """Logs at a level that Prefect shows in the UI and, unless asked, not on the console."""
    logger = task_run_logger(run, task).getChild("reasons")
    logger.logger.setLevel(logging.INFO)  # what the run says of itself, whatever level Prefect's own messages have
    logger.info(message)
