"""The settings of one evaluation, read once at the door into one frozen record.

Why: a setting that is misspelt, doubled or silently turned into another type gives figures for an experiment that
nobody asked for. So every key is known, every value has its type and range, and a message names file, line and key.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from chunklab_core.errors import ConfigError, nearest
from chunklab_core.inputs.yaml import KeyPath, Scalar, Value, load, read_text

RETRIEVERS = ("dense", "bm25", "hybrid")
RANKING_METRICS = ("balanced", "recall_at_k", "hit_rate_at_k", "mrr", "precision_at_k", "context_efficiency")
BUNDLED_MODEL = "all-MiniLM-L6-v2"

_MODEL = "embedding.model"
_PLUGIN_FILE = re.compile(r"(?P<file>.+\.py):(?P<attribute>[A-Za-z_]\w*)\Z")
_SECRET = re.compile(
    r"(?:^|[_-])(?:api_?key|access_?key|auth|token|secret|password|passwd|credentials?)\Z", re.IGNORECASE
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


# ---------------------------------------------------------------- records


def _without_folder(name: str) -> str:
    """A name as it was typed, without the folder of an absolute path."""
    match = _PLUGIN_FILE.match(name)
    return f"{Path(match['file']).name}:{match['attribute']}" if match and Path(match["file"]).is_absolute() else name


@dataclass(frozen=True, slots=True)
class Strategy:
    """A chunker with its parameters and a label.

    Attributes:
        name: a built-in, or `file.py:Class` or `package.module:Class`, as it was typed.
        params: the parameters that were typed, sorted by key; `dict(strategy.params)` are keyword arguments.
        label: how tables and cells call it; unique among the strategies of a run.
        target: `name`, with the path of a plug-in file made absolute: what is loaded, from any working directory.
    """

    name: str
    params: tuple[tuple[str, Scalar], ...] = ()
    label: str = ""
    target: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or _without_folder(self.name))
        object.__setattr__(self, "target", self.target or self.name)

    def shown_params(self) -> dict[str, Scalar]:
        """The parameters as a report may show them: no secrets, no absolute paths."""
        return {key: "(hidden)" if _SECRET.search(key) else _shown(value) for key, value in self.params}


DEFAULT_STRATEGIES = (
    Strategy("fixed", (("chunk_size", 512), ("overlap", 64))),
    Strategy("recursive", (("chunk_size", 512), ("overlap", 64))),
    Strategy("semantic", (("breakpoint_percentile", 95), ("max_tokens", 1000), ("min_tokens", 200))),
    Strategy("semantic_no_floor", (("breakpoint_percentile", 95), ("max_tokens", 1000))),
    Strategy("structure", (("max_tokens", 800), ("min_tokens", 0))),
)


@dataclass(frozen=True, slots=True)
class ParseConfig:
    """How files are read."""

    pdf: str = "pypdf"


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Which model turns texts into vectors. A prompt of None leaves the choice to the model's own settings."""

    model: str = BUNDLED_MODEL
    precision: str = "fp32"
    query_prompt: str | None = None
    passage_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """The constants of BM25."""

    k1: float = 1.2
    b: float = 0.75


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """Which retrievers are compared, and how deep. The first value of `top_k` is judged, the rest is a sweep."""

    mode: str = "dense"
    compare: tuple[str, ...] = ()
    top_k: tuple[int, ...] = (5,)
    candidates: int = 100
    fusion: str = "rrf"
    rrf_k: int = 60
    rerank: str = "none"
    bm25: Bm25Config = field(default_factory=Bm25Config)

    @property
    def retrievers(self) -> tuple[str, ...]:
        """The retrievers of this run: those to compare where there are any, else the one of `mode`."""
        return self.compare or (self.mode,)


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """How answers are matched, cells are ranked and chance is weighed."""

    fuzzy_threshold: float = 0.90
    ranking_metric: str = "balanced"
    balanced_lambda: float = 0.05
    min_floor_tokens: int = 200
    seed: int = 0
    bootstrap_resamples: int = 10_000


@dataclass(frozen=True, slots=True)
class OutputConfig:
    """Where the report goes, and in which formats."""

    dir: str = "chunklab_report"
    formats: tuple[str, ...] = ("json",)


@dataclass(frozen=True, slots=True)
class EvaluationConfig:
    """All settings of one evaluation."""

    parse: ParseConfig = field(default_factory=ParseConfig)
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    eval: EvalConfig = field(default_factory=EvalConfig)
    output: OutputConfig = field(default_factory=OutputConfig)
    strategies: tuple[Strategy, ...] = DEFAULT_STRATEGIES


# ---------------------------------------------------------------- reading


def load_config(path: Path | None = None, overrides: Sequence[str] = ()) -> EvaluationConfig:
    """The settings of a file (defaults without one), after overrides of the form `section.key=VALUE`.

    VALUE is YAML; it wins over the file, and a list replaces the file's list. Plug-in files are looked for beside
    the file that names them, those of an override in the working directory.

    Raises:
        ConfigError: one line that names the place, the key and what to write instead.
    """
    tree, places = _Mapping(), _Places(str(path) if path else "config", {})
    folder = Path.cwd()
    if path is not None:
        value, lines = load(read_text(path), str(path))
        tree, places = _as_mapping(value, str(path)), _Places(str(path), lines)
        folder = path.absolute().parent
    typed: set[str] = set()
    for override in overrides:
        key, value = _override(override)
        if key in typed:
            raise ConfigError(f"--set {key} is given twice. Keep one of the two.")
        typed.add(key)
        tree = _merged(tree, key.split("."), value)
        places.typed[tuple(key.split("."))] = f"--set {key}"
    by_hand = {"strategies": {"strategies"}, _MODEL: {_MODEL, "embedding"}}
    return _build(tree, places, {name: Path.cwd() if keys & typed else folder for name, keys in by_hand.items()})


def config_from_mapping(
    mapping: Mapping[str, object], source: str = "config", folder: Path | None = None
) -> EvaluationConfig:
    """The settings of a mapping laid out like the file; `source` stands in messages, `folder` holds plug-in files."""
    return _build(_as_mapping(mapping, source), _Places(source, {}), dict.fromkeys(("strategies", _MODEL), folder))


def to_mapping(config: EvaluationConfig) -> dict[str, Any]:
    """The settings in plain JSON types, as a report may show them: no secrets, no absolute paths, no output folder."""
    shown = {f.name: _plain(getattr(config, f.name)) for f in fields(config) if f.name not in ("output", "strategies")}
    shown["strategies"] = [
        {"name": _without_folder(strategy.name), "params": strategy.shown_params(), "label": strategy.label}
        for strategy in config.strategies
    ]
    return shown


@dataclass(frozen=True, slots=True)
class _Places:
    """Where each key was typed, for messages: an override, a line of a file, or the source as a whole."""

    source: str
    lines: Mapping[KeyPath, int]
    typed: dict[KeyPath, str] = field(default_factory=dict)

    def of(self, path: KeyPath) -> str:
        for end in range(len(path), 0, -1):
            if path[:end] in self.typed:
                return self.typed[path[:end]]
            if path[:end] in self.lines and not self._overridden(path):
                return f"{self.source}, line {self.lines[path[:end]]}"
        return self.source

    def _overridden(self, path: KeyPath) -> bool:
        return any(path[:end] in self.typed for end in range(1, len(path) + 1))


_Mapping = dict[str, Any]


def _as_mapping(value: object, source: str) -> _Mapping:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{source} holds {_kind(value)}; settings are a mapping of sections. Write `retrieval:` and so on."
        )
    return {str(key): item for key, item in value.items()}


def _override(text: str) -> tuple[str, Value]:
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise ConfigError(f"--set {text!r} has no value. Write --set section.key=VALUE.")
    return key, load(value, f"--set {key}")[0]


def _merged(tree: Mapping[str, Any], path: Sequence[str], value: Value) -> _Mapping:
    """The tree with a value at a path; a mapping is laid over what is there, anything else replaces it."""
    head, *rest = path
    old = tree.get(head)
    inner = old if isinstance(old, Mapping) else {}
    if old is not None and not isinstance(old, Mapping) and (rest or isinstance(value, Mapping)):
        raise ConfigError(f"{head} is {_kind(old)} in the file; it must be a mapping before --set can add to it.")
    if rest:
        return {**tree, head: _merged(inner, rest, value)}
    if isinstance(value, Mapping):
        for key, item in value.items():
            inner = _merged(inner, [key], item)
        return {**tree, head: dict(inner)}
    return {**tree, head: value}


def _build(tree: Mapping[str, Any], places: _Places, folders: Mapping[str, Path | None]) -> EvaluationConfig:
    """The settings; `folders` says, by the key that may name plug-in files, where those are looked for."""
    sections = {name: _section(name, tree.get(name), places) for name in _SECTIONS if "." not in name}
    for key in tree:
        _check_known((key,), places)
    if "strategies" in tree:
        sections["strategies"] = _strategies(tree["strategies"], places, folders["strategies"] or Path.cwd())
    embedding = sections["embedding"]
    sections["embedding"] = replace(embedding, model=_target(embedding.model, folders[_MODEL] or Path.cwd()))
    config = EvaluationConfig(**sections)
    _check_together(config, tree, places)
    return config


def _section(name: str, value: object, places: _Places) -> Any:
    """One section as its record; a section without entries has the defaults."""
    path = tuple(name.split("."))
    if value is None:
        return _SECTIONS[name]()
    if not isinstance(value, Mapping):
        raise ConfigError(f"{places.of(path)}: {name} is {_kind(value)}; it must be a mapping of settings.")
    settings: dict[str, Any] = {}
    for key, item in value.items():
        key_path = (*path, str(key))
        _check_known(key_path, places)
        dotted = f"{name}.{key}"
        settings[key] = _section(dotted, item, places) if dotted in _SECTIONS else _setting(key_path, item, places)
    return _SECTIONS[name](**settings)


def _setting(path: tuple[str, ...], value: object, places: _Places) -> object:
    try:
        return _RULES[".".join(path)](value)
    except _RefusedError as refused:
        raise ConfigError(f"{places.of(path)}: {'.'.join(path)} is {_kind(value)}; {refused}") from None


def _check_known(path: tuple[str, ...], places: _Places) -> None:
    dotted = ".".join(path)
    if path[0] == "access":
        raise ConfigError(f"{places.of(path)}: access (permissions) is not available yet. Remove it.")
    if dotted in _KNOWN:
        return
    if path[-1] == "<<":
        raise ConfigError(f"{places.of(path)}: merge keys (<<) are not read. Write the settings out.")
    elsewhere = [known for known in _KNOWN if known.rpartition(".")[2] == path[-1]]
    near = elsewhere[0] if elsewhere else nearest(dotted, _KNOWN)
    raise ConfigError(f"{places.of(path)}: unknown key {dotted!r}. The nearest known key is {near!r}.")


def _check_together(config: EvaluationConfig, tree: Mapping[str, Any], places: _Places) -> None:
    """Refuse settings that are each possible and together are not."""
    retrieval = config.retrieval
    deepest = max(retrieval.top_k)
    if retrieval.candidates < deepest:
        raise ConfigError(
            f"{places.of(('retrieval', 'candidates'))}: retrieval.candidates is {retrieval.candidates} and "
            f"retrieval.top_k asks for {deepest}; there must be at least as many candidates. "
            f"Set retrieval.candidates to {deepest} or more."
        )
    typed_mode = "mode" in (tree.get("retrieval") or {})
    if typed_mode and retrieval.compare and retrieval.mode not in retrieval.compare:
        raise ConfigError(
            f"{places.of(('retrieval', 'mode'))}: retrieval.mode is {retrieval.mode} and retrieval.compare "
            f"({', '.join(retrieval.compare)}) leaves it out. Add it there, or remove retrieval.mode."
        )


# ---------------------------------------------------------------- strategies


def _strategies(value: object, places: _Places, folder: Path) -> tuple[Strategy, ...]:
    path: KeyPath = ("strategies",)
    if not isinstance(value, list | tuple) or not value:
        raise ConfigError(
            f"{places.of(path)}: strategies is {_kind(value)}; it must be a list of at least one "
            "{name, params, label}. Remove the key for the five default strategies."
        )
    typed = [_strategy(item, (*path, index), places, folder) for index, item in enumerate(value)]
    labelled = _labelled(typed)
    first: dict[str, int] = {}
    for index, strategy in enumerate(labelled):
        if strategy.label in first:
            raise ConfigError(
                f"{places.of((*path, index))}: strategies {first[strategy.label] + 1} and {index + 1} are both called "
                f"{strategy.label!r}. Give them different labels, or remove one."
            )
        first[strategy.label] = index
    return tuple(labelled)


@dataclass(frozen=True, slots=True)
class _Typed:
    """A strategy as it was typed: the label may be missing."""

    name: str
    params: tuple[tuple[str, Scalar], ...]
    label: str | None
    target: str


def _strategy(value: object, path: KeyPath, places: _Places, folder: Path) -> _Typed:
    at = f"strategies, entry {int(path[-1]) + 1}"
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{places.of(path)}: {at} is {_kind(value)}; write {{name: fixed, params: {{chunk_size: 512}}}}."
        )
    known = ("name", "params", "label")
    for key in value:
        if key not in known:
            near = nearest(str(key), known)
            raise ConfigError(
                f"{places.of((*path, str(key)))}: {at} has the unknown key {str(key)!r}. "
                f"The nearest known key is {near!r}; parameters of the chunker stand under 'params'."
            )
    name, label = value.get("name"), value.get("label")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{places.of((*path, 'name'))}: the name of {at} is {_kind(name)}; name a strategy.")
    if "label" in value and (not isinstance(label, str) or not label.strip() or _CONTROL.search(label)):
        raise ConfigError(
            f"{places.of((*path, 'label'))}: the label of {at} is {_kind(label)}; it must be one line of text "
            "(in quotes where it looks like a number)."
        )
    params = _params(value.get("params", {}), (*path, "params"), at, places, folder)
    return _Typed(name, params, label, _target(name, folder))


def _params(value: object, path: KeyPath, at: str, places: _Places, folder: Path) -> tuple[tuple[str, Scalar], ...]:
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{places.of(path)}: params of {at} is {_kind(value)}; it must be a mapping such as {{overlap: 64}}."
        )
    for key, item in value.items():
        if not isinstance(item, str | int | float) or (isinstance(item, float) and not math.isfinite(item)):
            raise ConfigError(
                f"{places.of((*path, str(key)))}: {str(key)!r} of {at} is {_kind(item)}; "
                "it must be a number, a text, true or false."
            )
    absolute = {"model": _target(value["model"], folder)} if isinstance(value.get("model"), str) else {}
    return tuple(sorted((str(key), item) for key, item in {**value, **absolute}.items()))


def _target(name: str, folder: Path) -> str:
    match = _PLUGIN_FILE.match(name)
    return f"{(folder / match['file']).absolute()}:{match['attribute']}" if match else name


def _labelled(typed: Sequence[_Typed]) -> list[Strategy]:
    """Strategies with a label each: the name, and where one name is used again, the parameters that differ."""
    return [Strategy(item.name, item.params, item.label or _default_label(item, typed), item.target) for item in typed]


def _default_label(item: _Typed, typed: Sequence[_Typed]) -> str:
    namesakes = [other for other in typed if other.name == item.name and other.label is None]
    name = _without_folder(item.name)
    shared = set.intersection(*(set(map(_exact, other.params)) for other in namesakes))
    shown = Strategy(item.name, item.params).shown_params()
    own = [f"{entry[0]}={_word(shown[entry[0]])}" for entry in item.params if _exact(entry) not in shared]
    return f"{name} ({', '.join(own)})" if own and len(namesakes) > 1 else name


def _exact(entry: tuple[str, Scalar]) -> tuple[str, str]:
    """A parameter that can be compared: 1, 1.0 and true are equal in Python and are not the same setting."""
    return entry[0], repr(entry[1])


# ---------------------------------------------------------------- rules for single settings


class _RefusedError(Exception):
    """A value that a rule refuses; the text says what it must be."""


Rule = Callable[[object], object]


def _choice(*known: str) -> Rule:
    def rule(value: object) -> str:
        if isinstance(value, str) and value in known:
            return value
        near = f" The nearest is {nearest(value, known)!r}." if isinstance(value, str) and value else ""
        raise _RefusedError(f"it must be one of {', '.join(known)}.{near}")

    return rule


def _only(known: str, what: str) -> Rule:
    def rule(value: object) -> str:
        if value == known:
            return known
        raise _RefusedError(f"{what} is not available yet. Write {known}, or remove the key.")

    return rule


def _number(low: float, high: float, says: str) -> Rule:
    def rule(value: object) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        raise _RefusedError(f"it must be a number {says}.")

    return rule


def _whole(low: int, high: int = 2**53) -> Rule:
    def rule(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise _RefusedError(
            f"it must be a whole number of at least {low}" + (f", at most {high}." if high < 2**53 else ".")
        )

    return rule


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise _RefusedError("it must be text (in quotes where it looks like a number, or holds a colon and a blank).")


def _prompt(value: object) -> str | None:
    return value if value is None or value == "" else _text_with_blanks(value)


def _text_with_blanks(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _RefusedError('it must be text, such as "query: " in quotes.')


def _model(value: object) -> str:
    if isinstance(value, list | tuple):
        if len(value) != 1:
            raise _RefusedError("several models in one run are not available yet. Name one model.")
        return _text(value[0])
    return _text(value)


def _many(rule: Rule, what: str, at_least: int = 0) -> Callable[[object], tuple[object, ...]]:
    def many(value: object) -> tuple[object, ...]:
        if not isinstance(value, list | tuple) or len(value) < at_least:
            raise _RefusedError(f"it must be a list of {what}.")
        items = tuple(rule(item) for item in value)
        if len(set(items)) < len(items):
            raise _RefusedError("an entry stands in it twice. Keep one of the two.")
        return items

    return many


def _top_k(value: object) -> tuple[object, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return _many(_whole(1), "whole numbers of at least 1", at_least=1)(values)


def _formats(value: object) -> tuple[str, ...]:
    if value in (["json"], ("json",)):
        return ("json",)
    raise _RefusedError("another format than json is not available yet. Write [json], or remove the key.")


_SECTIONS: Mapping[str, Callable[..., Any]] = {
    "parse": ParseConfig,
    "embedding": EmbeddingConfig,
    "retrieval": RetrievalConfig,
    "retrieval.bm25": Bm25Config,
    "eval": EvalConfig,
    "output": OutputConfig,
}
_RULES: Mapping[str, Rule] = {
    "parse.pdf": _only("pypdf", "another reader of PDF files"),
    "embedding.model": _model,
    "embedding.precision": _only("fp32", "another precision"),
    "embedding.query_prompt": _prompt,
    "embedding.passage_prompt": _prompt,
    "retrieval.mode": _choice(*RETRIEVERS),
    "retrieval.compare": _many(_choice(*RETRIEVERS), "retrievers, such as [dense, bm25, hybrid]"),
    "retrieval.top_k": _top_k,
    "retrieval.candidates": _whole(1),
    "retrieval.fusion": _only("rrf", "another fusion"),
    "retrieval.rrf_k": _whole(1),
    "retrieval.rerank": _only("none", "reranking"),
    "retrieval.bm25.k1": _number(0, 1_000, "from 0 to 1,000"),
    "retrieval.bm25.b": _number(0, 1, "from 0 to 1"),
    "eval.fuzzy_threshold": _number(1e-9, 1, "above 0 and at most 1"),
    "eval.ranking_metric": _choice(*RANKING_METRICS),
    "eval.balanced_lambda": _number(0, 1_000, "from 0 to 1,000"),
    "eval.min_floor_tokens": _whole(0),
    "eval.seed": _whole(0),
    "eval.bootstrap_resamples": _whole(100, 10_000_000),
    "output.dir": _text,
    "output.formats": _formats,
}
_KNOWN = (*_SECTIONS, *_RULES, "strategies")


# ---------------------------------------------------------------- words


def _kind(value: object) -> str:
    """A value as a message names it, so that text and numbers can be told apart."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value if len(value) <= 60 else value[:59] + '…'!r}"
    if isinstance(value, list | tuple):
        shown = [*map(_kind, value[:4]), *(["…"] if len(value) > 4 else [])]
        return f"a list of {len(value)} ({', '.join(shown)})" if value else "an empty list"
    return "a mapping" if isinstance(value, Mapping) else str(value)


def _word(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(value: Scalar) -> Scalar:
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value


def _plain(value: object) -> Any:
    """A record as plain JSON types."""
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return _shown(value) if isinstance(value, str) else value
