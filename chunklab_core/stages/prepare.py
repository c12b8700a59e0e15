"""The inputs of a run, read and checked before any work.

They are stored as one result, `inputs/KEY`, and from then on a run knows its inputs by that name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.code_memory import code_remembered
from chunklab_core.cache.formats import pack_json
from chunklab_core.cache.keys import digest
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.store import Store
from chunklab_core.chunk import default_params, make_chunker, takes_embedder
from chunklab_core.chunk.build import declared_maximum, uses_heading_path
from chunklab_core.errors import ConfigError, did_you_mean, note_text
from chunklab_core.inputs.config import config_from_mapping, load_config
from chunklab_core.inputs.questions import load_questions
from chunklab_core.inputs.rules import Choices
from chunklab_core.inputs.settings import EvaluationConfig, Strategy, to_mapping
from chunklab_core.models.card import BUNDLED, ModelCard, model_card
from chunklab_core.parse import BUILTINS as READERS
from chunklab_core.parse.folder import is_unicode, list_documents
from chunklab_core.plugins import is_plugin, plugin_digest
from chunklab_core.records.documents import UnreadFile
from chunklab_core.records.questions import Question
from chunklab_core.retrieve import RETRIEVERS, needs_vectors
from chunklab_core.score import METRICS

_A_COST = "retrieved_tokens_at_k"  # more of it is no better, so it ranks no cells
_CHOICES: Choices = {
    "retrieval.mode": tuple(RETRIEVERS),
    "retrieval.compare": tuple(RETRIEVERS),
    "eval.ranking_metric": ("balanced", *(name for name in METRICS if name != _A_COST)),
}


def read_config(
    config: EvaluationConfig | Mapping[str, Any] | str | Path | None, overrides: Sequence[str] = ()
) -> EvaluationConfig:
    """The settings of a run, from any form; overrides (`section.key=VALUE`) apply to a file or to the defaults.

    Raises:
        ConfigError: one line that names the place, the key and the remedy.
    """
    if isinstance(config, EvaluationConfig):
        return config
    if isinstance(config, Mapping):
        return config_from_mapping(config, choices=_CHOICES)
    return load_config(Path(config) if config else None, overrides, _CHOICES)


def prepare(
    docs: str | Path,
    questions: str | Path,
    config: EvaluationConfig | Mapping[str, Any] | str | Path | None,
    store: Store,
) -> Ref:
    """The inputs of a run, read, checked and stored.

    Raises:
        ConfigError: an input cannot be used; one line names it and the remedy.
    """
    with code_remembered(store):
        return _prepare(Path(docs), Path(questions), read_config(config), store)


def _prepare(docs: Path, questions_file: Path, settings: EvaluationConfig, store: Store) -> Ref:
    strategies = [_strategy(strategy) for strategy in settings.strategies]
    _check_paths(docs, questions_file)
    questions = load_questions(questions_file)
    folder, files, unread = list_documents(docs, READERS)
    skipped = [file for file in unread if not (folder / file.path).resolve().is_relative_to(store.root.resolve())]
    _check_documents(questions, [file.doc_id for file in files], skipped)
    store.check_writable()
    inputs = {
        "corpus": _keep(store, "corpus", [asdict(file) for file in files]),
        **_kept_questions(store, [question for question in questions if question.slots]),
        "unscored": [question.question_id for question in questions if not question.slots],
        "suffixes": sorted({Path(file.path).suffix.lower() for file in files}),
        "folder": str(folder.resolve()),
        "questions_file": str(questions_file.resolve()),
        "skipped": [asdict(file) for file in skipped],
        "settings": to_mapping(settings),
        "output": settings.output.dir,
        **_model_of_run(settings),
        "retrievers": list(settings.retrieval.retrievers),
        "strategies": strategies,
    }
    return _keep(store, "inputs", inputs)


def _kept_questions(store: Store, scored: Sequence[Question]) -> dict[str, Ref]:
    """The scored questions as one result, and apart the parts that single stages read."""
    return {
        "questions": _keep(store, "questions", [asdict(question) for question in scored]),
        "queries": _keep(store, "queries", [question.query for question in scored]),
        "gold": _keep(store, "gold", [asdict(question.gold) for question in scored]),
        "tags": _keep(store, "tags", [question.tags for question in scored]),
    }


def _keep(store: Store, kind: str, value: Any) -> Ref:
    ref = Ref(f"{kind}/{digest(value)}")
    if not store.intact(ref):
        store.write(ref, pack_json(value))
    return ref


def _strategy(strategy: Strategy) -> dict[str, Any]:
    """A strategy as the chunk stage takes it. Its chunker is built here once, so that errors come before any work."""
    defaults = {} if is_plugin(strategy.target) else default_params(strategy.target)
    typed = {key: value for key, value in strategy.params if not _is_default(value, defaults.get(key))}
    params: dict[str, Any] = {**defaults, **typed}
    _check_names(strategy)
    card = _strategy_model(strategy.target, params)
    chunker = make_chunker(strategy.target, embed=_no_vectors, **params)
    arguments = {
        "strategy": {
            "name": strategy.target.rpartition(":")[2],
            "params": {key: value for key, value in params.items() if key != "model"} if card else params,
            "plugin": plugin_digest(strategy.target) if is_plugin(strategy.target) else None,
            "model": {**_identity(card), "prompt": card.passage_prompt} if card else None,
        },
        "target": strategy.target,
        "model_place": _place(card) if card else {},
    }
    return {
        "label": strategy.label,
        "arguments": arguments,
        "max_tokens": declared_maximum(chunker),
        "heading_path": uses_heading_path(chunker),
        "shown": {**defaults, **strategy.shown_params()},
    }


def _is_default(value: object, default: object) -> bool:
    """Whether a typed parameter equals its default; 95 and 95.0 are one number, true and 1 are not."""
    return isinstance(value, bool) == isinstance(default, bool) and value == default


def _check_paths(*paths: Path) -> None:
    for path in paths:
        if not is_unicode(path.resolve()):
            raise ConfigError(f"The path {str(path)!a} is not UTF-8. Rename its folders.")


def _check_names(strategy: Strategy) -> None:
    """Refuses parameters whose names `make_chunker` uses for something else."""
    for key, _ in strategy.params:
        if key in ("base", "embed", "name"):
            raise ConfigError(
                f"Strategy {strategy.label!r}: a parameter has the reserved name {key!r}. Remove or rename it."
            )


def _strategy_model(target: str, params: Mapping[str, Any]) -> ModelCard | None:
    """The model of a strategy: its parameter `model`, else the bundled one; None if its chunker takes no embedder."""
    if not takes_embedder(target):
        return None
    return model_card(str(params.get("model", default_params(target).get("model")) or BUNDLED))


def _no_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Replaces an embedder while a strategy's parameters are checked."""
    return np.zeros((len(texts), 1), dtype=np.float32)


def _model_of_run(settings: EvaluationConfig) -> dict[str, Any]:
    """The embedding model of the run with its two prompts; nothing where no retriever needs one."""
    if not any(needs_vectors(retriever) for retriever in settings.retrieval.retrievers):
        return {"model": None, "prompts": None}
    typed = settings.embedding
    card = model_card(typed.model, query_prompt=typed.query_prompt, passage_prompt=typed.passage_prompt)
    model = {"model": _identity(card), "model_place": _place(card)}
    return {"model": model, "prompts": [card.query_prompt, card.passage_prompt]}


def _identity(card: ModelCard) -> dict[str, Any]:
    """A model in keys: neither its name nor its folder counts."""
    return {"digest": card.digest, "max_length": card.max_length}


def _place(card: ModelCard) -> dict[str, str]:
    return {"name": card.name, "folder": card.folder}


def _check_documents(questions: Sequence[Question], doc_ids: Sequence[str], skipped: Sequence[UnreadFile]) -> None:
    known, left_out = set(doc_ids), {file.path: note_text(file.note) for file in skipped}
    for question in questions:
        for doc_id in question.documents:
            named = f"Question {question.question_id!r}: its documents name {doc_id!r}, which"
            if doc_id in left_out:
                raise ConfigError(f"{named} {left_out[doc_id]}. Name a document that is read.")
            if doc_id not in known:
                raise ConfigError(
                    f"{named} is not a document of the folder{did_you_mean(doc_id, list(doc_ids))} "
                    "Write the path relative to the folder."
                )
