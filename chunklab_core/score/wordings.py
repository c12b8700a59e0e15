"""All wordings of all answers, each prepared once however many questions share it.

Why: the same passage often answers several questions, and the search in a document does not depend on the question.
The questions matter only at the end, where gold counts only in some documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunklab_core.records.questions import Gold
from chunklab_core.score.gold import Snippet, edits_allowed, has_outer_hyphen, make_snippet
from chunklab_core.score.snippet_search import SnippetSearch


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a wording: the positions of the question, of its slot, and of the wording in the slot.

    `documents` limits where it counts; empty: everywhere.
    """

    question: int
    slot: int
    wording: int
    documents: frozenset[str]


@dataclass(frozen=True, slots=True)
class Wordings:
    """The wordings of some questions, and how similar a passage must be.

    Attributes:
        snippets: each distinct wording once.
        uses: the slots that each snippet answers, in the order of the questions.
        fuzzy_threshold: the share of a wording's characters that must be right.
        search: searches for all of them at once.
    """

    snippets: tuple[Snippet, ...]
    uses: tuple[tuple[Use, ...], ...]
    fuzzy_threshold: float
    search: SnippetSearch

    def has_hyphen(self, wording: int) -> bool:
        """Whether a passage may hold a copy, character by character, that its normalized text lacks."""
        return has_outer_hyphen(self.snippets[wording])

    def edits(self, wording: int) -> int:
        """The edits that are allowed in a wording."""
        return edits_allowed(self.snippets[wording], self.fuzzy_threshold)


def wordings_of(questions: Sequence[Gold], fuzzy_threshold: float) -> Wordings:
    """The distinct wordings of all questions, as typed, in their order."""
    uses: dict[str, list[Use]] = {}
    for at, question in enumerate(questions):
        for slot, wordings in enumerate(question.slots):
            for place, wording in enumerate(wordings):
                use = Use(at, slot, place, frozenset(question.documents))
                uses.setdefault(wording, []).append(use)
    snippets = tuple(make_snippet(wording) for wording in uses)
    search = SnippetSearch([(snippet.text, edits_allowed(snippet, fuzzy_threshold)) for snippet in snippets])
    return Wordings(snippets, tuple(tuple(each) for each in uses.values()), fuzzy_threshold, search)
