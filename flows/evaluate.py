"""The evaluation as one Prefect flow: the nodes of `chunklab_core.pipeline`, each as a task.

Prefect reads this module's annotations to make the parameter form, so there is no `from __future__` import here.
"""

if __name__ == "__main__":  # before the imports below: inputs that cannot be used need no Prefect
    from flows.cli import main

    main()

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from prefect import Task, flow
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner

from chunklab_core.cache.fallback import default_cache_dir, run_patiently
from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import MissingError, Ref
from chunklab_core.cache.store import Store
from chunklab_core.errors import CacheRefusedError
from chunklab_core.graph import nodes
from chunklab_core.inputs.settings import load_config
from chunklab_core.plan.plan import recorded
from chunklab_core.records.report import Report
from chunklab_core.stages.prepare import prepare
from chunklab_core.stages.stage import Node
from flows.settings import EvaluationSettings
from tasks.caching import drop_if_damaged, records_of
from tasks.ceiling import ceiling
from tasks.chunk import chunk
from tasks.embed import embed
from tasks.health import health
from tasks.index import index
from tasks.locate import locate
from tasks.match import match
from tasks.parse import parse
from tasks.reasons import logged_reasons
from tasks.report import report
from tasks.retrieve import retrieve
from tasks.score import score
from tasks.select import select
from tasks.survey import survey

TASKS: Mapping[str, Task[..., Ref]] = {
    "parse": parse,
    "chunk": chunk,
    "health": health,
    "embed": embed,
    "index": index,
    "retrieve": retrieve,
    "locate": locate,
    "match": match,
    "ceiling": ceiling,
    "score": score,
    "select": select,
    "survey": survey,
}

# Most threads wait for the stage before theirs, so a few more than there are cores keep those busy.
_RUNNER: Any = ThreadPoolTaskRunner(max_workers=(os.cpu_count() or 1) + 6)


@flow(name="evaluate", task_runner=_RUNNER, validate_parameters=True, persist_result=False)
def evaluate(settings: EvaluationSettings) -> Report:
    """Chunking strategies and retrievers compared on a folder of documents and a file of questions."""
    started, made = datetime.now(UTC), dict[Ref, list[str]]()
    return run_patiently(
        Path(settings.cache_dir or default_cache_dir()), partial(_attempt, settings, started=started, made=made)
    )


def _attempt(
    settings: EvaluationSettings, store: Store, again: bool, *, started: datetime, made: dict[Ref, list[str]]
) -> Report:
    """All nodes as tasks, then the report; `made` gathers what had to be made and why, over all attempts."""
    inputs = settings.prepared if settings.prepared and not again else _prepare(settings, store)
    work = nodes(store, inputs)
    with recorded(store, inputs, work, () if again else settings.refresh) as todo:
        made.update({ref: why for ref, why in todo.items() if ref not in made})
        tasks: Any = _submit(store, work, todo)
        _raise_what_failed(tasks)
        out = settings.out or unpack_json(store.read(inputs))["output"]
        return report.submit(inputs, tasks, made, out, started, store=str(store.root)).result()


def _submit(store: Store, work: Sequence[Node], todo: Mapping[Ref, list[str]]) -> list[PrefectFuture[Ref]]:
    """All nodes as tasks, each after those whose results it reads."""
    futures: dict[Ref, PrefectFuture[Ref]] = {}
    records: Any = records_of(store)
    task_of = cache(partial(_task_of, records))
    for one in work:
        arguments = _with_futures(one.arguments, futures)
        if one.ref in futures:
            continue  # the same work under another label
        drop_if_damaged(records, one.ref)
        task = task_of(one.stage, one.ref in todo)
        if one.ref in todo:
            task = task.with_options(**logged_reasons(one, todo[one.ref], store.root))
        futures[one.ref] = task.submit(**arguments, label=one.label, store=str(store.root))
    return list(futures.values())


def _task_of(records: Any, stage: str, refresh: bool) -> Task[..., Ref]:
    return TASKS[stage].with_options(refresh_cache=refresh, result_storage=records)


def _prepare(settings: EvaluationSettings, store: Store) -> Ref:
    config = load_config(Path(settings.config) if settings.config else None, settings.overrides)
    return prepare(settings.docs, settings.questions, config, store)


def _raise_what_failed(tasks: Sequence[PrefectFuture[Ref]]) -> None:
    """Waits for all tasks; the first error comes out as it was raised, not as that of the tasks that waited for it."""
    for one in tasks:
        one.wait()
        if not one.state.is_completed():
            try:
                one.result()
            except (CacheRefusedError, MissingError):
                for other in tasks:
                    other.wait()  # there will be another attempt, and it takes over what these finish
                raise


def _with_futures(arguments: Mapping[str, Any], futures: Mapping[Ref, PrefectFuture[Ref]]) -> dict[str, Any]:
    """Arguments with references replaced by the futures that make them: so Prefect knows what waits for what."""

    def replaced(value: Any) -> Any:
        if isinstance(value, str):
            return futures.get(Ref(value), value)
        if isinstance(value, Sequence):
            return [replaced(part) for part in value]
        return value

    return {name: replaced(value) for name, value in arguments.items()}
