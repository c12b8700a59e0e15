"""What each setting may be: one rule a key. A rule returns the value, or raises `RefusedError` with the remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping


class RefusedError(Exception):
    """A rule refuses a value; the message is the remedy."""


Rule = Callable[[object], object]


def _only(known: str, what: str) -> Rule:
    def rule(value: object) -> str:
        if value == known:
            return known
        raise RefusedError(f"{what} is not available yet: write {known}, or remove the key.")

    return rule


def _number(low: float, high: float, limits: str) -> Rule:
    def rule(value: object) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        raise RefusedError(f"Write a number {limits}.")

    return rule


def _whole(low: int, high: int = 2**53) -> Rule:
    def rule(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        at_most = f" and at most {high}" if high < 2**53 else ""
        raise RefusedError(f"Write a whole number of at least {low}{at_most}.")

    return rule


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise RefusedError("Write text, in quotes if it looks like a number or contains a colon and a space.")


def _prompt(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise RefusedError('Write text, such as "query: " in quotes.')


def _model(value: object) -> str:
    if isinstance(value, list | tuple):
        if len(value) != 1:
            raise RefusedError("Several models in one run are not available yet: write one model.")
        return _text(value[0])
    return _text(value)


def _many(rule: Rule, what: str, at_least: int = 0) -> Callable[[object], tuple[object, ...]]:
    def many(value: object) -> tuple[object, ...]:
        if not isinstance(value, list | tuple) or len(value) < at_least:
            raise RefusedError(f"Write a list of {what}.")
        items = tuple(rule(item) for item in value)
        if len(set(items)) < len(items):
            raise RefusedError("Remove the entry that is in it twice.")
        return items

    return many


def _top_k(value: object) -> tuple[object, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return _many(_whole(1), "whole numbers of at least 1", at_least=1)(values)


def _formats(value: object) -> tuple[str, ...]:
    if value in (["json"], ("json",)):
        return ("json",)
    raise RefusedError("A format other than json is not available yet: write [json], or remove the key.")


RULES: Mapping[str, Rule] = {
    "parse.pdf": _only("pypdf", "Another reader of PDF files"),
    "embedding.model": _model,
    "embedding.precision": _only("fp32", "Another precision"),
    "embedding.query_prompt": _prompt,
    "embedding.passage_prompt": _prompt,
    "retrieval.mode": _text,
    "retrieval.compare": _many(_text, "retrievers, such as [dense, bm25, hybrid]"),
    "retrieval.top_k": _top_k,
    "retrieval.candidates": _whole(1),
    "retrieval.fusion": _only("rrf", "Another fusion"),
    "retrieval.rrf_k": _whole(1),
    "retrieval.rerank": _only("none", "Reranking"),
    "retrieval.bm25.k1": _number(0, 1_000, "from 0 to 1,000"),
    "retrieval.bm25.b": _number(0, 1, "from 0 to 1"),
    "eval.fuzzy_threshold": _number(1e-9, 1, "above 0 and at most 1"),
    "eval.ranking_metric": _text,
    "eval.balanced_lambda": _number(0, 1_000, "from 0 to 1,000"),
    "eval.min_floor_tokens": _whole(0),
    "eval.seed": _whole(0),
    "eval.bootstrap_resamples": _whole(100, 10_000_000),
    "output.dir": _text,
    "output.formats": _formats,
}
"""The rule of each key. Keys whose values name a method of a room accept any text here: see `Choices`."""

Choices = Mapping[str, tuple[str, ...]]
"""The names that a key accepts; the caller knows them, because the methods are in the rooms."""
