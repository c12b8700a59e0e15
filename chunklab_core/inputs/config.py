"""The settings of one evaluation, read from a file and from overrides into one frozen record.

Why: a setting that is misspelt, doubled or silently turned into another type gives figures for the wrong experiment. So
every key is known, every value has its type and range, and a message names file, line and key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chunklab_core.errors import ConfigError, did_you_mean
from chunklab_core.inputs.places import Places, described
from chunklab_core.inputs.rules import RULES, Choices, RefusedError
from chunklab_core.inputs.settings import SECTIONS, EvaluationConfig
from chunklab_core.inputs.strategies import read_strategies, target_of
from chunklab_core.inputs.yaml import KeyPath, Value, load, read_text

_MODEL = "embedding.model"
_KNOWN = (*SECTIONS, *RULES, "strategies")


def load_config(
    path: Path | None = None, overrides: Sequence[str] = (), choices: Choices | None = None
) -> EvaluationConfig:
    """The settings of a file (defaults without one), after overrides of the form `section.key=VALUE`.

    VALUE is YAML; it wins over the file, and a list replaces the file's list. Plug-in files are relative to the file
    that names them, those of an override to the working directory.

    Raises:
        ConfigError: one line that names the place, the key and the remedy.
    """
    tree, places, folder = dict[str, Any](), Places(str(path) if path else "config"), Path.cwd()
    if path is not None:
        value, lines = load(read_text(path), str(path))
        tree, places = _as_mapping(value, str(path)), Places(str(path), lines)
        folder = path.absolute().parent
    for override in overrides:
        key, value = _split_override(override)
        keys = tuple(key.split("."))
        if keys in places.overrides:
            raise ConfigError(f"--set {key} is given twice. Keep one of the two.")
        tree = _merged(tree, keys, value)
        places.overrides[keys] = f"--set {key}"

    def folder_of(*keys: str) -> Path:
        return Path.cwd() if any(tuple(key.split(".")) in places.overrides for key in keys) else folder

    return _Reader(places, folder_of("strategies"), folder_of(_MODEL, "embedding"), choices or {}).read(tree)


def config_from_mapping(
    mapping: Mapping[str, object],
    source: str = "config",
    folder: Path | None = None,
    choices: Choices | None = None,
) -> EvaluationConfig:
    """The settings of a mapping with the layout of the file; messages begin with `source`.

    Plug-in files are relative to `folder`, by default the working directory.
    """
    base = folder or Path.cwd()
    return _Reader(Places(source), base, base, choices or {}).read(_as_mapping(mapping, source))


# ---------------------------------------------------------------- files and overrides


def _as_mapping(value: object, source: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{source} holds {described(value)} and not a mapping of sections. Write `retrieval:` and so on."
        )
    return {str(key): item for key, item in value.items()}


def _split_override(text: str) -> tuple[str, Value]:
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise ConfigError(f"--set {text!r} has no value. Write --set section.key=VALUE.")
    return key, load(value, f"--set {key}")[0]


def _merged(tree: Mapping[str, Any], path: Sequence[str], value: Value) -> dict[str, Any]:
    """The tree with a value at a path; a mapping is merged into the old one, anything else replaces it."""
    head, *rest = path
    old = tree.get(head)
    inner = old if isinstance(old, Mapping) else {}
    if old is not None and not isinstance(old, Mapping) and (rest or isinstance(value, Mapping)):
        raise ConfigError(f"{head} is {described(old)} in the file. Make it a mapping before --set adds to it.")
    if rest:
        return {**tree, head: _merged(inner, rest, value)}
    if isinstance(value, Mapping):
        for key, item in value.items():
            inner = _merged(inner, [key], item)
        return {**tree, head: dict(inner)}
    return {**tree, head: value}


# ---------------------------------------------------------------- checks


@dataclass(frozen=True, slots=True)
class _Reader:
    """Checks a tree of settings and makes the records. The folders hold plug-in files, `choices` the known names."""

    places: Places
    strategies_folder: Path
    model_folder: Path
    choices: Choices

    def read(self, tree: Mapping[str, Any]) -> EvaluationConfig:
        sections = {name: self._section(name, tree.get(name)) for name in SECTIONS if "." not in name}
        for key in tree:
            self._check_known((key,))
        if "strategies" in tree:
            sections["strategies"] = read_strategies(tree["strategies"], self.places, self.strategies_folder)
        embedding = sections["embedding"]
        sections["embedding"] = replace(embedding, model=target_of(embedding.model, self.model_folder))
        config = EvaluationConfig(**sections)
        self._check_together(config, tree)
        return config

    def _section(self, name: str, value: object) -> Any:
        """One section as its record; an empty section has the defaults."""
        path = tuple(name.split("."))
        if value is None:
            return SECTIONS[name]()
        if not isinstance(value, Mapping):
            raise self._error(path, f"{name} is {described(value)}", "Write a mapping of settings.")
        settings: dict[str, Any] = {}
        for key, item in value.items():
            self._check_known((*path, str(key)))
            dotted = f"{name}.{key}"
            settings[key] = self._section(dotted, item) if dotted in SECTIONS else self._setting(dotted, item)
        return SECTIONS[name](**settings)

    def _setting(self, key: str, value: object) -> object:
        problem, path = f"{key} is {described(value)}", tuple(key.split("."))
        try:
            setting = RULES[key](value)
        except RefusedError as refused:
            raise self._error(path, problem, str(refused)) from None
        choices = self.choices.get(key)
        for name in setting if isinstance(setting, tuple) else (setting,):
            if choices and name not in choices:
                guess = did_you_mean(str(name), choices)
                raise self._error(path, problem, f"Known: {', '.join(choices)}.", guess)
        return setting

    def _check_known(self, path: tuple[str, ...]) -> None:
        key = ".".join(path)
        if path[0] == "access":
            raise self._error(path, "access (permissions) is not available yet", "Remove it.")
        if key in _KNOWN:
            return
        if path[-1] == "<<":
            raise self._error(path, "merge keys (<<) are not read", "Write the settings out.")
        elsewhere = [known for known in _KNOWN if known.rpartition(".")[2] == path[-1]]
        guess = did_you_mean(key, elsewhere or _KNOWN, closeness=0)
        raise self._error(path, f"unknown key {key!r}", "Remove or rename it.", guess)

    def _check_together(self, config: EvaluationConfig, tree: Mapping[str, Any]) -> None:
        """Refuses settings that contradict each other."""
        retrieval = config.retrieval
        deepest = max(retrieval.top_k)
        if retrieval.candidates < deepest:
            raise self._error(
                ("retrieval", "candidates"),
                f"retrieval.candidates is {retrieval.candidates}, fewer than the {deepest} of retrieval.top_k",
                f"Set retrieval.candidates to {deepest} or more.",
            )
        typed_mode = "mode" in (tree.get("retrieval") or {})
        if typed_mode and retrieval.compare and retrieval.mode not in retrieval.compare:
            raise self._error(
                ("retrieval", "mode"),
                f"retrieval.mode is {retrieval.mode}, but retrieval.compare ({', '.join(retrieval.compare)}) "
                "leaves it out",
                "Add it there, or remove retrieval.mode.",
            )

    def _error(self, path: KeyPath, problem: str, remedy: str, guess: str = ".") -> ConfigError:
        return ConfigError(f"{self.places.of(path)}: {problem}{guess} {remedy}")
