"""The verdict in sentences, for a reader who has to act on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.verdict import SpeaksOf, Status
from chunklab_core.select.field import Field
from chunklab_core.select.questions_needed import MOST_QUESTIONS

BAR = 0.90
AT_BAR = 0.005
FEW_QUESTIONS = 15
_LEAST_SHOWN = 0.0005  # of a recall
_DEARER = 1.05  # times the tokens of another cell: less is told as 1.0 times
_NAMED = 3  # cells in a sentence that is about many


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the verdict rests on, shares being those of the leading entrant.

    `by_document` and `on_balance` are None where they do not apply; `on_balance_best` is the cell that most often comes
    out on top once the context is paid for; `leader_recall` is its recall discounted for its having been picked; `out`
    says which entrants are ruled out, each of which is as good as the leader in a share of resamples under `tail_bar`.
    """

    field: Field
    n_questions: int
    share: float
    shrunk: float
    by_document: float | None
    on_balance: float | None
    on_balance_best: int | None
    leader_recall: float
    out: NDArray[np.bool_]  # (entrants,)
    tail_bar: float
    needed: int | None

    @property
    def n_scored(self) -> int:
        """All scored questions, those that move together counted one by one."""
        return self.field.cells.values.shape[1]

    @property
    def shares(self) -> tuple[float, ...]:
        """All shares that apply."""
        every = (self.share, self.shrunk, self.by_document, self.on_balance)
        return tuple(share for share in every if share is not None)

    @property
    def speaks_of(self) -> SpeaksOf:
        """Of new documents only where documents were resampled, too."""
        return "new questions on these documents" if self.by_document is None else "new documents"

    @property
    def at_bar(self) -> bool:
        """Whether another seed might say otherwise."""
        return any(abs(share - BAR) <= AT_BAR for share in self.shares)


def sentences(status: Status, evidence: Evidence, names: Sequence[str]) -> tuple[str, ...]:
    """Why the verdict is what it is, in the order in which it matters."""
    entrants = evidence.field.entrants
    if status == "only":
        parts = [f"{_name(entrants[0], names)} is the only cell, so there is nothing to compare it with."]
    elif status == "tied":
        parts = [f"All {len(entrants[0])} cells score the same on every question: {_list(entrants[0], names)}."]
    else:
        parts = [_on_top(evidence, names), *_shortfalls(evidence, names), *_field(evidence, names)]
        parts += [*_needed(evidence, names), _luck(evidence), _reach(evidence)]
    if evidence.n_questions < FEW_QUESTIONS:
        once = "" if evidence.n_questions == evidence.n_scored else "; near-duplicates count once"
        parts.append(
            f"There are fewer than {FEW_QUESTIONS} scored questions ({evidence.n_questions}{once}), "
            "too few to name a winner, whatever the shares say."
        )
    if len(entrants) > 1 and evidence.at_bar:
        parts.append(f"A share lies within {AT_BAR} of the bar of {BAR:.2f}: another seed may say otherwise.")
    return tuple(parts)


def _on_top(evidence: Evidence, names: Sequence[str]) -> str:
    leader = _name(evidence.field.entrants[0], names)
    return f"{leader} comes out on top in {_percent(evidence.share)} of resamples of your questions (needed: 90 %)."


def _shortfalls(evidence: Evidence, names: Sequence[str]) -> list[str]:
    leader, parts = names[evidence.field.entrants[0][0]], []
    if evidence.shrunk < BAR <= evidence.share:
        parts.append(
            f"With the luck of the leader discounted it is {_percent(evidence.shrunk)} (needed: 90 %): between equals, "
            "a lead like this one is common."
        )
    if evidence.by_document is not None and evidence.by_document < BAR:
        why = f": the lead of {leader!r} rests on few documents" if evidence.share >= BAR else " (needed: 90 %)"
        parts.append(f"With documents resampled in place of questions it is {_percent(evidence.by_document)}{why}.")
    if evidence.on_balance is not None and evidence.on_balance < BAR:
        parts.append(
            f"With the context paid for it is {_percent(evidence.on_balance)} (needed: 90 %){_price(evidence, names)}."
        )
    return parts


def _price(evidence: Evidence, names: Sequence[str]) -> str:
    leader, best, tokens = evidence.field.entrants[0][0], evidence.on_balance_best, evidence.field.tokens
    if tokens is None or best is None or best == leader or tokens[best].sum() == 0:
        return ""
    times = tokens[leader].sum() / tokens[best].sum()
    if times < _DEARER:  # equal cells share the wins of one, and it may then be no price that keeps them from the bar
        return ""
    return f": {names[leader]!r} retrieves {times:.1f} times the tokens of {names[best]!r}"


def _field(evidence: Evidence, names: Sequence[str]) -> list[str]:
    entrants, out = evidence.field.entrants, evidence.out
    parts = []
    rest = [members for members, gone in zip(entrants[1:], out[1:], strict=True) if not gone]
    if rest and evidence.share < BAR:
        parts.append(f"Not ruled out: {_some([_name(members, names) for members in rest], '; ')}.")
    gone = [cell for members, is_out in zip(entrants, out, strict=True) if is_out for cell in members]
    if gone:
        parts.append(
            f"Ruled out: {_some([repr(names[cell]) for cell in gone], ', ')}; "
            f"each scores at least as well as {names[entrants[0][0]]!r} "
            f"in under {_percent(evidence.tail_bar, 2)} of resamples."
        )
    return parts


def _needed(evidence: Evidence, names: Sequence[str]) -> list[str]:
    settled = min(evidence.share, evidence.shrunk) >= BAR and evidence.n_questions >= FEW_QUESTIONS
    if settled or evidence.n_questions < 2:  # one question tells nothing of the spread
        return []
    first, second = (names[members[0]] for members in evidence.field.entrants[:2])
    if evidence.needed is None:
        return [
            f"No realistic number of questions (up to {MOST_QUESTIONS:,}) would settle {first!r} against {second!r}."
        ]
    return [f"About {evidence.needed:,} scored questions have an 80 % chance to settle {first!r} against {second!r}."]


def _luck(evidence: Evidence) -> str:
    cells = evidence.field.cells
    seen = float(cells.values[evidence.field.entrants[0][0]].mean() / cells.unit)
    if evidence.leader_recall > seen - _LEAST_SHOWN:  # noise that cells share can speak for the leader, too
        return f"Its having been picked takes nothing from the leader's recall of {seen:.3f}."
    return (
        f"Discounted for having been picked, the recall of the leader is {evidence.leader_recall:.3f}, not {seen:.3f}."
    )


def _reach(evidence: Evidence) -> str:
    if evidence.by_document is None:
        return "This speaks of new questions on these documents, not of other documents."
    return "This speaks of new documents like these, too."


def _name(members: Sequence[int], names: Sequence[str]) -> str:
    if len(members) == 1:
        return repr(names[members[0]])
    return f"{names[members[0]]!r} (equal on every question: {_list(members[1:], names)})"


def _some(shown: Sequence[str], between: str) -> str:
    """The first of them, and how many more: the fields of the verdict name them all."""
    if len(shown) <= _NAMED + 1:
        return between.join(shown)
    return f"{between.join(shown[:_NAMED])} and {len(shown) - _NAMED} more"


def _list(cells: Sequence[int], names: Sequence[str]) -> str:
    return ", ".join(repr(names[cell]) for cell in cells)


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}".rstrip("0").rstrip(".") + " %"
