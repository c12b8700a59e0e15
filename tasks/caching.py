"""How a task is answered from the cache: by the key of the stage, and only while the result is really there."""

from typing import Any

from prefect.context import TaskRunContext

from chunklab_core import pipeline


def cached_by_content(stage: str) -> dict[str, Any]:
    """Task options under which equal work is done once.

    The key is the one under which the stage keeps its result. Prefect keeps only the reference, a line of JSON; the
    flow asks for a refresh where the store has lost what it points to.
    """

    def key(_: TaskRunContext, arguments: dict[str, Any]) -> str:
        keyed = {name: value for name, value in arguments.items() if name not in ("label", "store")}
        return pipeline.ref_of(stage, **keyed).replace("/", "-")

    return {
        "cache_key_fn": key,
        "persist_result": True,
        "result_serializer": "json",
        "cache_result_in_memory": False,
    }
