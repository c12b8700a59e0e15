"""One run in this process: the stages in their order, without Prefect."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from chunklab_core.cache.fallback import default_cache_dir, run_patiently
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.run_records import CountingStore, Effort, note_made
from chunklab_core.cache.store import Store
from chunklab_core.graph import nodes, ref_of
from chunklab_core.inputs.settings import EvaluationConfig
from chunklab_core.plan.recorded import recorded
from chunklab_core.records.report import Report
from chunklab_core.stages import all_stages
from chunklab_core.stages.prepare import prepare
from chunklab_core.stages.report import make_report
from chunklab_core.stages.stage import Progress


def evaluate(
    docs: str | Path,
    questions: str | Path,
    config: EvaluationConfig | Mapping[str, Any] | str | Path | None = None,
    *,
    cache: str | Path | None = None,
) -> Report:
    """One whole evaluation in this process, without Prefect.

    Args:
        docs: a folder of documents, or one document.
        questions: the questions file.
        config: settings, the file that holds them, or None for the defaults.
        cache: folder of the store; None for the usual one.

    Raises:
        ConfigError: an input cannot be used; the message names it and says why.
    """
    started, made = datetime.now(UTC), dict[Ref, list[str]]()

    def attempt(store: Store, _: bool) -> Report:
        inputs = prepare(docs, questions, config, store)
        work = nodes(store, inputs)
        with recorded(store, inputs, work) as todo:
            made.update({ref: why for ref, why in todo.items() if ref not in made})
            for each in work:
                run_stage(each.stage, store, label=each.label, **each.arguments)
            return make_report(store, inputs, work, made, started=started)

    return run_patiently(Path(cache or default_cache_dir()), attempt)


def run_stage(stage: str, store: Store, *, label: str, **arguments: Any) -> Ref:
    """Makes a stage's result and stores it, unless the store has it; `label` names the work where progress is shown."""
    ref = ref_of(stage, **arguments)
    if store.holds(ref):
        return ref
    progress = Progress(stage, label)
    progress(0, 1)
    counting, begun = CountingStore(store), monotonic()
    payload, items = all_stages()[stage].function(counting, progress, **arguments)
    store.write(ref, payload, items)
    needed = {items.shelf: len(set(items.keys))} if items else {}
    note_made(store, Effort(ref, round(monotonic() - begun, 3), counting.new, needed))
    progress(1, 1)
    return ref
