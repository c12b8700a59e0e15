"""The door: everything that can be wrong with the inputs is said here, before any work.

What passes is written into the store as one result, `inputs/KEY`, and from then on a run knows its inputs by that name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
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
from chunklab_core.inputs.questions import load_questions
from chunklab_core.inputs.settings import EvaluationConfig, Strategy, config_from_mapping, load_config, to_mapping
from chunklab_core.models.card import BUNDLED, ModelCard, model_card
from chunklab_core.parse import BUILTINS as READERS
from chunklab_core.parse.folder import is_unicode, list_documents
from chunklab_core.plugins import is_plugin, plugin_digest
from chunklab_core.records.documents import UnreadFile
from chunklab_core.records.questions import Question
from chunklab_core.retrieve import needs_vectors


def prepare(
    docs: str | Path,
    questions: str | Path,
    config: EvaluationConfig | Mapping[str, Any] | str | Path | None,
    store: Store,
) -> Ref:
    """The inputs of a run, read, checked and kept in the store.

    Raises:
        ConfigError: something cannot be used; one line says what was found, what was expected and what to do.
    """
    with code_remembered(store):
        return _prepare(Path(docs), Path(questions), _settings(config), store)


def _prepare(docs: Path, questions: Path, settings: EvaluationConfig, store: Store) -> Ref:
    strategies = [_strategy(strategy) for strategy in settings.strategies]
    _refuse_odd_paths(docs, questions)
    asked = load_questions(questions)
    folder, files, listed = list_documents(docs, READERS)
    skipped = [file for file in listed if not (folder / file.path).resolve().is_relative_to(store.root.resolve())]
    _check_documents(asked, [file.doc_id for file in files], skipped)
    scored = [question for question in asked if question.slots]
    store.check_writable()
    inputs = {
        "corpus": _keep(store, "corpus", [asdict(file) for file in files]),
        "queries": _keep(store, "queries", [question.query for question in scored]),
        "questions": _keep(store, "questions", [asdict(question) for question in scored]),
        "gold": _keep(store, "gold", [_only_gold(question) for question in scored]),
        "tags": _keep(store, "tags", [question.tags for question in scored]),
        "unscored": [question.question_id for question in asked if not question.slots],
        "suffixes": sorted({Path(file.path).suffix.lower() for file in files}),
        "folder": str(folder.resolve()),
        "asked_in": str(Path(questions).resolve()),
        "skipped": [asdict(file) for file in skipped],
        "settings": to_mapping(settings),
        "output": settings.output.dir,
        **_model_of_run(settings),
        "retrievers": list(settings.retrieval.retrievers),
        "strategies": strategies,
    }
    return _keep(store, "inputs", inputs)


def _settings(config: EvaluationConfig | Mapping[str, Any] | str | Path | None) -> EvaluationConfig:
    if isinstance(config, EvaluationConfig):
        return config
    if isinstance(config, Mapping):
        return config_from_mapping(config)
    return load_config(Path(config) if config else None)


def _keep(store: Store, kind: str, value: Any) -> Ref:
    ref = Ref(f"{kind}/{digest(value)}")
    if not store.intact(ref):
        store.write(ref, pack_json(value))
    return ref


def _only_gold(question: Question) -> dict[str, Any]:
    """A question as it is scored: what it asks, and how it is filed, has no part in that."""
    return asdict(replace(question, query="", tags=(), reviewed=False))


def _strategy(strategy: Strategy) -> dict[str, Any]:
    """A strategy as the chunk stage takes it, built once here so that what it refuses is refused before any work."""
    defaults = {} if is_plugin(strategy.target) else default_params(strategy.target)
    typed = {key: value for key, value in strategy.params if not _says_default(value, defaults.get(key))}
    params: dict[str, Any] = {**defaults, **typed}
    _refuse_taken(strategy)
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


def _says_default(value: object, default: object) -> bool:
    """Whether a parameter was typed as what it is anyway; 95 and 95.0 are one number, true and 1 are not."""
    return isinstance(value, bool) == isinstance(default, bool) and value == default


def _refuse_odd_paths(*paths: Path) -> None:
    for path in paths:
        if not is_unicode(path.resolve()):
            raise ConfigError(f"The path {str(path)!a} is not UTF-8; rename its folders.")


def _refuse_taken(strategy: Strategy) -> None:
    """Refuses parameters whose name means something else where a chunker is made."""
    for key, _ in strategy.params:
        if key in ("base", "embed", "name"):
            raise ConfigError(
                f"Strategy {strategy.label!r}: a parameter cannot be called {key!r}. Remove or rename it."
            )


def _strategy_model(target: str, params: Mapping[str, Any]) -> ModelCard | None:
    """The model that a strategy cuts with, by its parameter `model`, else the bundled one; None if it asks for none."""
    if not takes_embedder(target):
        return None
    return model_card(str(params.get("model", default_params(target).get("model")) or BUNDLED))


def _no_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Stands in for an embedder while a strategy's parameters are checked."""
    return np.zeros((len(texts), 1), dtype=np.float32)


def _model_of_run(settings: EvaluationConfig) -> dict[str, Any]:
    """The embedding model of the run with its two prompts; nothing where no retriever needs one."""
    if not any(needs_vectors(retriever) for retriever in settings.retrieval.retrievers):
        return {"model": None, "prompts": None}
    wanted = settings.embedding
    card = model_card(wanted.model, query_prompt=wanted.query_prompt, passage_prompt=wanted.passage_prompt)
    model = {"model": _identity(card), "model_place": _place(card)}
    return {"model": model, "prompts": [card.query_prompt, card.passage_prompt]}


def _identity(card: ModelCard) -> dict[str, Any]:
    """A model as keys know it: what it is, not what it is called or where it lies."""
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
                    f"{named} is no document of the folder{did_you_mean(doc_id, list(doc_ids))} "
                    "Write the path relative to the folder."
                )
