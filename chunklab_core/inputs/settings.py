"""The settings of one evaluation as frozen records, with their defaults.

A setting is one line here and one line in `chunklab_core.inputs.rules`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from chunklab_core.inputs.yaml import Scalar
from chunklab_core.models.card import BUNDLED

PLUGIN_FILE = re.compile(r"(?P<file>.+\.py):(?P<attribute>[A-Za-z_]\w*)\Z")
_SECRET = re.compile(
    r"(?:^|[_-])(?:api_?key|access_?key|auth|token|secret|password|passwd|credentials?)\Z", re.IGNORECASE
)


def without_folder(name: str) -> str:
    """A name as typed, without the folder of an absolute path."""
    match = PLUGIN_FILE.match(name)
    return f"{Path(match['file']).name}:{match['attribute']}" if match and Path(match["file"]).is_absolute() else name


@dataclass(frozen=True, slots=True)
class Strategy:
    """A chunker with its parameters and a label.

    Attributes:
        name: a built-in, or `file.py:Class` or `package.module:Class`, as typed.
        params: the parameters as typed, sorted by key; `dict(strategy.params)` are keyword arguments.
        label: its name in tables and cells; unique among the strategies of a run.
        target: `name`, with the path of a plug-in file made absolute, so that it loads from any working directory.
    """

    name: str
    params: tuple[tuple[str, Scalar], ...] = ()
    label: str = ""
    target: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or without_folder(self.name))
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

    model: str = BUNDLED
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
    """Which retrievers are compared, and how deep. The first value of `top_k` is judged, the others are a sweep."""

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
        """The retrievers of this run: those of `compare`, or the one of `mode` where `compare` is empty."""
        return self.compare or (self.mode,)


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """How answers are matched, how cells are ranked, and how chance is estimated."""

    fuzzy_threshold: float = 0.90
    ranking_metric: str = "balanced"
    balanced_lambda: float = 0.05
    min_floor_tokens: int = 200
    seed: int = 0
    bootstrap_resamples: int = 10_000


@dataclass(frozen=True, slots=True)
class OutputConfig:
    """The folder of the report, and its formats."""

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


SECTIONS: dict[str, type] = {
    "parse": ParseConfig,
    "embedding": EmbeddingConfig,
    "retrieval": RetrievalConfig,
    "retrieval.bm25": Bm25Config,
    "eval": EvalConfig,
    "output": OutputConfig,
}
"""The record of each section, by its key."""


def to_mapping(config: EvaluationConfig) -> dict[str, Any]:
    """The settings in plain JSON types, as a report may show them: no secrets, no absolute paths, no output folder."""
    shown = {f.name: _plain(getattr(config, f.name)) for f in fields(config) if f.name not in ("output", "strategies")}
    shown["strategies"] = [
        {"name": without_folder(strategy.name), "params": strategy.shown_params(), "label": strategy.label}
        for strategy in config.strategies
    ]
    return shown


def _plain(value: object) -> Any:
    """A record as plain JSON types."""
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return _shown(value) if isinstance(value, str) else value


def _shown(value: Scalar) -> Scalar:
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value
