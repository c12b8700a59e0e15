"""The evaluation as one Prefect flow: each node of `chunklab_core.graph` is a task.

Prefect reads this module's annotations to make the parameter form, so it has no `from __future__` import.
"""

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
from chunklab_core.graph import nodes, work_once
from chunklab_core.plan.recorded import recorded
from chunklab_core.records.report import Report
from chunklab_core.stages.prepare import prepare, read_config
from chunklab_core.stages.stage import Node
from flows.settings import EvaluationSettings
from tasks.caching import drop_if_damaged, records_of
from tasks.reasons import logged_reasons
from tasks.report import report
from tasks.stages import task_of

# Most threads wait for an earlier stage, so a few more threads than cores keep the cores busy.
_RUNNER: Any = ThreadPoolTaskRunner(max_workers=(os.cpu_count() or 1) + 6)


@flow(name="evaluate", task_runner=_RUNNER, validate_parameters=True, persist_result=False)
def evaluate(settings: EvaluationSettings) -> Report:
    """Compares chunking strategies and retrievers on a folder of documents and a file of questions."""
    started, reasons = datetime.now(UTC), dict[Ref, list[str]]()
    cache_dir = Path(settings.cache_dir or default_cache_dir())
    return run_patiently(cache_dir, partial(_attempt, settings, started=started, reasons=reasons))


def _attempt(
    settings: EvaluationSettings, store: Store, again: bool, *, started: datetime, reasons: dict[Ref, list[str]]
) -> Report:
    """All nodes as tasks, then the report; `reasons` collects what had to be made, and why, over all attempts."""
    inputs = settings.prepared if settings.prepared and not again else _prepare(settings, store)
    work = nodes(store, inputs)
    with recorded(store, inputs, work, () if again else settings.refresh) as missing:
        reasons.update({ref: why for ref, why in missing.items() if ref not in reasons})
        futures: Any = _submit(store, work, missing)
        _raise_first_error(futures)
        out = settings.out or unpack_json(store.read(inputs))["output"]
        return report.submit(inputs, futures, reasons, out, started, store=str(store.root)).result()


def _submit(store: Store, work: Sequence[Node], missing: Mapping[Ref, list[str]]) -> list[PrefectFuture[Ref]]:
    """All nodes as tasks, each after those whose results it reads."""
    futures: dict[Ref, PrefectFuture[Ref]] = {}
    records: Any = records_of(store)
    configured = cache(partial(_configured, records))
    for node in work_once(work):
        drop_if_damaged(records, node.ref)
        task = configured(node.stage, node.ref in missing)
        if node.ref in missing:
            task = task.with_options(**logged_reasons(node, missing[node.ref], store.root))
        arguments = _with_futures(node.arguments, futures)
        futures[node.ref] = task.submit(arguments, label=node.label, store=str(store.root))
    return list(futures.values())


def _configured(records: Any, stage: str, refresh: bool) -> Task[..., Ref]:
    return task_of(stage).with_options(refresh_cache=refresh, result_storage=records)


def _prepare(settings: EvaluationSettings, store: Store) -> Ref:
    config = read_config(settings.config, settings.overrides)
    return prepare(settings.docs, settings.questions, config, store)


def _raise_first_error(futures: Sequence[PrefectFuture[Ref]]) -> None:
    """Waits for all tasks, and raises the first error itself rather than those of the tasks that waited for it."""
    for future in futures:
        future.wait()
        if not future.state.is_completed():
            try:
                future.result()
            except (CacheRefusedError, MissingError):
                for other in futures:
                    other.wait()  # there will be another attempt, which reuses the results of these
                raise


def _with_futures(value: Any, futures: Mapping[Ref, PrefectFuture[Ref]]) -> Any:
    """Arguments with each reference replaced by the future that makes it, so Prefect knows the order of the tasks."""
    if isinstance(value, str):
        return futures.get(Ref(value), value)
    if isinstance(value, Mapping):
        return {name: _with_futures(part, futures) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [_with_futures(part, futures) for part in value]
    return value
