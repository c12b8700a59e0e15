"""How a task is answered from the cache: by the key of the stage, and only while the result is really there."""

import json
from pathlib import Path
from typing import Any

from prefect.context import TaskRunContext

from chunklab_core.cache.files import make_folder, remove
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.store import Store
from chunklab_core.graph import ref_of


def cached_by_content(stage: str) -> dict[str, Any]:
    """Task options under which equal work is done once.

    The key is the one under which the stage keeps its result. Prefect keeps only the reference, a line of JSON; the
    flow asks for a refresh where the store has lost what it points to.
    """

    def key(_: TaskRunContext, arguments: dict[str, Any]) -> str:
        keyed = {name: value for name, value in arguments.items() if name not in ("label", "store")}
        return _name(ref_of(stage, **keyed))

    return {
        "cache_key_fn": key,
        "persist_result": True,
        "result_serializer": "json",
        "cache_result_in_memory": False,
    }


def records_of(store: Store) -> Path:
    """Where Prefect keeps its records of a store: which key has which result. Never the user's ~/.prefect."""
    records = store.root.absolute() / "prefect"
    make_folder(records, store.root.absolute())
    return records


def drop_if_damaged(records: Path, ref: Ref) -> None:
    """Takes away the record of a task that does not name its result; Prefect would hand on whatever it names."""
    path = records / _name(ref)
    try:
        said = json.loads(json.loads(path.read_bytes())["result"])
    except FileNotFoundError:
        return
    except (OSError, ValueError, LookupError, TypeError):
        said = None
    if said != ref:
        remove(path)


def _name(ref: Ref) -> str:
    return ref.replace("/", "-")
