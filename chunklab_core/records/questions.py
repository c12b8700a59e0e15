"""Questions with their gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """One question as the questions file holds it; a slot is a tuple of interchangeable wordings.

    `documents` limits where gold counts (empty: everywhere). A question without slots is not scored.
    """

    question_id: str
    query: str
    slots: tuple[tuple[str, ...], ...]
    tags: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    reviewed: bool = False

    @property
    def gold(self) -> Gold:
        """The part of it that scoring needs."""
        return Gold(self.question_id, self.slots, self.documents)


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of one question: what scoring needs, whatever the question's text."""

    question_id: str
    slots: tuple[tuple[str, ...], ...]
    documents: tuple[str, ...] = ()


def gold_from_mapping(stored: Mapping[str, Any]) -> Gold:
    """The gold of a question from plain JSON types (the inverse of `dataclasses.asdict`)."""
    slots = tuple(tuple(wordings) for wordings in stored["slots"])
    return Gold(stored["question_id"], slots, tuple(stored["documents"]))
