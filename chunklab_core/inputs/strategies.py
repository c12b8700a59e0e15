"""The strategies that the user typed, each with its own label."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chunklab_core.errors import ConfigError, did_you_mean
from chunklab_core.inputs.places import Places, described
from chunklab_core.inputs.settings import PLUGIN_FILE, Strategy, without_folder
from chunklab_core.inputs.yaml import KeyPath, Scalar

_KEYS = ("name", "params", "label")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def read_strategies(value: object, places: Places, folder: Path) -> tuple[Strategy, ...]:
    """The strategies of a list; plug-in files are relative to `folder`.

    Raises:
        ConfigError: one line that names the place and the entry, with the remedy.
    """
    path: KeyPath = ("strategies",)
    if not isinstance(value, list | tuple) or not value:
        raise ConfigError(
            f"{places.of(path)}: strategies is {described(value)}. "
            "Write a list of {name, params, label}, or remove the key for the five default strategies."
        )
    typed = [_Entry((*path, index), places, folder).read(item) for index, item in enumerate(value)]
    strategies = [Strategy(each.name, each.params, each.label or _label(each, typed), each.target) for each in typed]
    first: dict[str, int] = {}
    for index, strategy in enumerate(strategies):
        if strategy.label in first:
            raise ConfigError(
                f"{places.of((*path, index))}: strategies {first[strategy.label] + 1} and {index + 1} have the same "
                f"label {strategy.label!r}. Give them different labels, or remove one."
            )
        first[strategy.label] = index
    return tuple(strategies)


def target_of(name: str, folder: Path) -> str:
    """A name with the path of a plug-in file made absolute."""
    match = PLUGIN_FILE.match(name)
    return f"{(folder / match['file']).absolute()}:{match['attribute']}" if match else name


@dataclass(frozen=True, slots=True)
class _Typed:
    """A strategy as typed: the label may be missing."""

    name: str
    params: tuple[tuple[str, Scalar], ...]
    label: str | None
    target: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """Reads one entry of the list."""

    path: KeyPath
    places: Places
    folder: Path

    def read(self, value: object) -> _Typed:
        if not isinstance(value, Mapping):
            raise self._error((), f"is {described(value)}", "Write {name: fixed, params: {chunk_size: 512}}.")
        for key in value:
            if key not in _KEYS:
                guess = did_you_mean(str(key), _KEYS)
                raise self._error(
                    (str(key),),
                    f"has the unknown key {str(key)!r}",
                    "Put parameters of the chunker under 'params'.",
                    guess,
                )
        name, label = value.get("name"), value.get("label")
        if not isinstance(name, str) or not name.strip():
            raise self._error(("name",), f"has a name that is {described(name)}", "Write the name of a strategy.")
        if "label" in value and (not isinstance(label, str) or not label.strip() or _CONTROL.search(label)):
            raise self._error(
                ("label",),
                f"has a label that is {described(label)}",
                "Write one line of text, in quotes where it looks like a number.",
            )
        return _Typed(name, self._params(value.get("params", {})), label, target_of(name, self.folder))

    def _params(self, value: object) -> tuple[tuple[str, Scalar], ...]:
        if not isinstance(value, Mapping):
            raise self._error(
                ("params",), f"has params that are {described(value)}", "Write a mapping such as {overlap: 64}."
            )
        for key, item in value.items():
            if not isinstance(item, str | int | float) or (isinstance(item, float) and not math.isfinite(item)):
                raise self._error(
                    ("params", str(key)),
                    f"has a parameter {str(key)!r} that is {described(item)}",
                    "Write a number, a text, true or false.",
                )
        absolute = {"model": target_of(value["model"], self.folder)} if isinstance(value.get("model"), str) else {}
        return tuple(sorted((str(key), item) for key, item in {**value, **absolute}.items()))

    def _error(self, keys: KeyPath, problem: str, remedy: str, guess: str = ".") -> ConfigError:
        place, number = self.places.of((*self.path, *keys)), int(self.path[-1]) + 1
        return ConfigError(f"{place}: strategies, entry {number} {problem}{guess} {remedy}")


def _label(item: _Typed, typed: Sequence[_Typed]) -> str:
    """The name, with the parameters that differ where several strategies without a label share it."""
    namesakes = [other for other in typed if other.name == item.name and other.label is None]
    name = without_folder(item.name)
    shared = set.intersection(*(set(map(_exact, other.params)) for other in namesakes))
    shown = Strategy(item.name, item.params).shown_params()
    own = [f"{entry[0]}={_word(shown[entry[0]])}" for entry in item.params if _exact(entry) not in shared]
    return f"{name} ({', '.join(own)})" if own and len(namesakes) > 1 else name


def _exact(entry: tuple[str, Scalar]) -> tuple[str, str]:
    """A parameter for comparison: 1, 1.0 and true are equal in Python, but not the same setting."""
    return entry[0], repr(entry[1])


def _word(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
