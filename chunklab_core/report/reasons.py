"""The reasons of a verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chunklab_core.records.verdict import Reason, ReasonCode

_NAMED = 3  # cells in a sentence about many

_SENTENCES: dict[ReasonCode, str] = {
    "only_cell": "{cell} is the only cell, so there is nothing to compare it with.",
    "all_equal": "All {n_equal} cells score the same on every question: {equal}.",
    "leader_share": "{leader} leads in {share} of resamples of your questions (needed: 90 %).",
    "share_without_luck": "Allowing for luck, it is the best with a probability of {share} (needed: 90 %): a lead like "
    "this one is common between equal cells.",
    "share_by_document": "With documents resampled instead of questions, it leads in {share} of resamples "
    "(needed: 90 %).",
    "few_documents": "With documents resampled instead of questions, it leads in {share} of resamples (needed: 90 %): "
    "the lead of {leader} comes from few documents.",
    "share_on_balance": "Counting the cost of the retrieved text, it leads in {share} of resamples (needed: 90 %).",
    "leader_costs_more": "{leader} retrieves {times:.1f} times the tokens of {cheaper}.",
    "not_ruled_out": "Not ruled out: {entrants}.",
    "ruled_out": "Ruled out: {cells}; each scores at least as well as {leader} in under {below} of resamples.",
    "no_realistic_number": "No realistic number of questions (up to {most:,}) would separate {leader} from {rival}.",
    "questions_needed": "You would need about {questions:,} scored questions for an 80 % chance of separating {leader} "
    "from {rival}.",
    "recall_discounted": "Allowing for luck, the recall of the leader is about {discounted:.3f}, not {recall:.3f}.",
    "recall_not_discounted": "Allowing for luck does not lower the leader's recall of {recall:.3f}.",
    "about_questions": "This verdict is about new questions on these documents, not about other documents.",
    "about_documents": "This verdict is also about new documents like these.",
    "few_questions": "Fewer than {least} questions are scored ({questions}{duplicates}): too few to name a winner, "
    "whatever the shares are.",
    "at_bar": "A share is within {within} of the {bar:.2f} needed: another seed may change the verdict.",
}


def sentence(reason: Reason, names: Sequence[str]) -> str:
    """A reason as one sentence; `names` holds the name of each cell, by its position in the scores."""
    words = {key: _in_words(key, value, names) for key, value in reason.arguments.items()}
    return _SENTENCES[reason.code].format(**words, n_equal=len(reason.arguments.get("equal", ())))


def _in_words(key: str, value: Any, names: Sequence[str]) -> Any:
    match key, value:
        case "share", float():
            return _percent(value, 1)
        case "below", float():
            return _percent(value, 2)
        case "duplicates", _:
            return "; near-duplicates count once" if value else ""
        case "cell" | "leader" | "rival" | "cheaper", int():
            return repr(names[value])
        case "leader", [*cells]:
            return _entrant(cells, names)
        case "entrants", [*entrants]:
            return _first_few([_entrant(cells, names) for cells in entrants], "; ")
        case "equal", [*cells]:
            return ", ".join(repr(names[cell]) for cell in cells)
        case "cells", [*cells]:
            return _first_few([repr(names[cell]) for cell in cells], ", ")
    return value


def _entrant(cells: Sequence[int], names: Sequence[str]) -> str:
    first, *equal = (repr(names[cell]) for cell in cells)
    return f"{first} (equal on every question: {', '.join(equal)})" if equal else first


def _first_few(shown: Sequence[str], separator: str) -> str:
    """The first few, and how many more; the fields of the verdict name them all."""
    if len(shown) <= _NAMED + 1:
        return separator.join(shown)
    return f"{separator.join(shown[:_NAMED])} and {len(shown) - _NAMED} more"


def _percent(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}f}".rstrip("0").rstrip(".") + " %"
