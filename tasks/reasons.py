"""Why a task runs and how much it reuses, in the task's own log, which the Prefect UI shows.

Why not in the task itself: a task depends on its inputs alone, and the reasons differ from run to run.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect import Task
from prefect.client.schemas.objects import State, TaskRun
from prefect.logging.loggers import task_run_logger

from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.run_records import new_items, noted
from chunklab_core.stages import all_stages
from chunklab_core.stages.stage import Node


def logged_reasons(node: Node, reasons: Sequence[str], root: Path) -> dict[str, Any]:
    """Task options that log why a node runs, and at its end how much it reused."""

    def log_reasons(task: Task[..., Any], run: TaskRun, _: State[Any]) -> None:
        _log(task, run, f"{node.stage} {node.label}: {'; '.join(reasons)}")

    def log_reuse(task: Task[..., Any], run: TaskRun, _: State[Any]) -> None:
        effort = noted(open_store(root), [node.ref]).get(node.ref)
        n_new = new_items(effort) if effort else None
        if effort is None or n_new is None:
            return
        n_items = sum(effort.items.values())
        if n_new < n_items:
            unit = all_stages()[node.stage].items
            _log(task, run, f"{node.stage} {node.label}: {n_items - n_new:,} of {n_items:,} {unit} reused")

    return {"on_running": [log_reasons], "on_completion": [log_reuse]}


def _log(task: Task[..., Any], run: TaskRun, message: str) -> None:
    """Logs at a level that the UI shows, and the console only on request."""
    logger = task_run_logger(run, task).getChild("reasons")
    logger.logger.setLevel(logging.INFO)  # whatever the level of Prefect's own messages
    logger.info(message)
