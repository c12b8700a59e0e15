"""The cells of a run: what each one is called, and its position on every axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chunklab_core.retrieve import needs_vectors

Axes = tuple[int, int, int | None, int | None]
"""Positions of a cell's strategy, retriever, model and reranker; None where it uses none."""


@dataclass(frozen=True, slots=True)
class RunCell:
    """One cell of a run, in the order of the scores.

    Attributes:
        name: unique in the run.
        strategy: label of its strategy.
        retriever: name of its retriever.
        model: name of its embedding model; None where it uses none.
        axes: its position on every axis.
    """

    name: str
    strategy: str
    retriever: str
    model: str | None
    axes: Axes


def cell_name(strategy: str, retriever: str) -> str:
    """What a cell is called: its strategy and its retriever."""
    return f"{strategy}/{retriever}"


def cells_of(run: Mapping[str, Any]) -> list[RunCell]:
    """All cells of a run, whose inputs `chunklab_core.stages.prepare.prepare` stored."""
    model = run["model"]["model_place"]["name"] if run["model"] else None
    return [
        RunCell(
            name=cell_name(strategy["label"], retriever),
            strategy=strategy["label"],
            retriever=retriever,
            model=model if needs_vectors(retriever) else None,
            axes=(row, column, 0 if needs_vectors(retriever) else None, None),
        )
        for row, strategy in enumerate(run["strategies"])
        for column, retriever in enumerate(run["retrievers"])
    ]
