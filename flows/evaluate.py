"""The evaluation as one Prefect flow: the nodes of `chunklab_core.pipeline`, each as a task.

Prefect reads this module's annotations to make the parameter form, so there is no `from __future__` import here.
"""

if __name__ == "__main__":  # before the imports below: inputs that cannot be used need no Prefect
    from flows.cli import main

    main()

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect import Task, flow
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner

from chunklab_core import pipeline
from chunklab_core.config import load_config
from chunklab_core.records import Report
from chunklab_core.store import Ref, Store, default_cache_dir, unpack_json
from chunklab_core.workbench.door import prepare
from flows.settings import EvaluationSettings
from tasks.ceiling import ceiling
from tasks.chunk import chunk
from tasks.embed import embed
from tasks.health import health
from tasks.index import index
from tasks.locate import locate
from tasks.match import match
from tasks.parse import parse
from tasks.report import report
from tasks.retrieve import retrieve
from tasks.score import score
from tasks.select import select

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
}

# Most threads wait for the stage before theirs, so a few more than there are cores keep those busy.
_RUNNER: Any = ThreadPoolTaskRunner(max_workers=(os.cpu_count() or 1) + 6)


@flow(name="evaluate", task_runner=_RUNNER, validate_parameters=True, persist_result=False)
def evaluate(settings: EvaluationSettings) -> Report:
    """Chunking strategies and retrievers compared on a folder of documents and a file of questions."""
    started = datetime.now(UTC)
    store = Store(settings.cache_dir or default_cache_dir())
    inputs = settings.prepared or _prepare(settings, store)
    work = pipeline.nodes(store, inputs)
    todo = pipeline.nodes_to_run(store, work, settings.refresh)
    futures: dict[Ref, PrefectFuture[Ref]] = {}
    records: Any = store.root.absolute() / "prefect"  # which key has which result; never the user's ~/.prefect
    for one in work:
        arguments = _with_futures(one.arguments, futures)
        if one.ref in futures:
            continue  # the same work under another label
        task = TASKS[one.stage].with_options(refresh_cache=one.ref in todo, result_storage=records)
        futures[one.ref] = task.submit(**arguments, label=one.label, store=str(store.root))
    made: Any = list(futures.values())
    _raise_what_failed(made)
    out = settings.out or unpack_json(store.read(inputs))["output"]
    return report.submit(inputs, made, sorted(todo), out, started, store=str(store.root)).result()


def _prepare(settings: EvaluationSettings, store: Store) -> Ref:
    config = load_config(Path(settings.config) if settings.config else None, settings.overrides)
    return prepare(settings.docs, settings.questions, config, store)


def _raise_what_failed(made: Sequence[PrefectFuture[Ref]]) -> None:
    """Waits for all tasks; the first error comes out as it was raised, not as that of the tasks that waited for it."""
    for one in made:
        one.wait()
        if not one.state.is_completed():
            one.result()


def _with_futures(arguments: Mapping[str, Any], futures: Mapping[Ref, PrefectFuture[Ref]]) -> dict[str, Any]:
    """Arguments with references replaced by the futures that make them: so Prefect knows what waits for what."""

    def replaced(value: Any) -> Any:
        if isinstance(value, str):
            return futures.get(Ref(value), value)
        if isinstance(value, Sequence):
            return [replaced(part) for part in value]
        return value

    return {name: replaced(value) for name, value in arguments.items()}
