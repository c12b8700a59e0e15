"""Questions with their gold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold: a slot is a tuple of interchangeable wordings.

    `documents` limits where gold counts (empty: everywhere). A question without slots is not scored.
    """

    question_id: str
    query: str
    slots: tuple[tuple[str, ...], ...]
    tags: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    reviewed: bool = False
