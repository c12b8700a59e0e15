"""One file for each stage: it reads the store, calls its room and writes the result.

A module of this package that holds a `STAGE` is a stage, under the module's name. A new stage is a new file here and a
call in `chunklab_core.graph`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from chunklab_core.stages.stage import Stage

_ORDER = (
    *("parse", "chunk", "health", "embed", "index", "retrieve"),
    *("locate", "match", "ceiling", "score", "select", "survey"),
)  # in which stages are shown; others come last


@cache
def all_stages() -> Mapping[str, Stage]:
    """Every stage by its name, in the order in which they are shown."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    stages = {module.STAGE.name: module.STAGE for module in modules if hasattr(module, "STAGE")}
    last = len(_ORDER)
    order = sorted(stages, key=lambda name: (_ORDER.index(name) if name in _ORDER else last, name))
    return {name: stages[name] for name in order}
