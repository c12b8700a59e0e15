"""How a task is answered from the cache: by the key of its stage, and only if the store has the result."""

import json
from pathlib import Path
from typing import Any

from prefect.context import TaskRunContext

from chunklab_core.cache.files import make_folder, remove
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.store import Store
from chunklab_core.graph import ref_of


def cached_by_content(stage: str) -> dict[str, Any]:
    """Task options that do equal work once.

    The key is the one under which the stage keeps its result. Prefect keeps only the reference, a line of JSON; the
    flow refreshes the task if the store has lost the result.
    """

    def key(_: TaskRunContext, parameters: dict[str, Any]) -> str:
        return _file_name(ref_of(stage, **parameters["arguments"]))

    return {
        "cache_key_fn": key,
        "persist_result": True,
        "result_serializer": "json",
        "cache_result_in_memory": False,
    }


def records_of(store: Store) -> Path:
    """The folder of Prefect's records for a store: which key has which result. Never the user's ~/.prefect."""
    records = store.root.absolute() / "prefect"
    make_folder(records, store.root.absolute())
    return records


def drop_if_damaged(records: Path, ref: Ref) -> None:
    """Removes the record of a task if it does not name the task's result; Prefect would return whatever it names."""
    path = records / _file_name(ref)
    try:
        recorded = json.loads(json.loads(path.read_bytes())["result"])
    except FileNotFoundError:
        return
    except (OSError, ValueError, LookupError, TypeError):
        recorded = None
    if recorded != ref:
        remove(path)


def _file_name(ref: Ref) -> str:
    return ref.replace("/", "-")
