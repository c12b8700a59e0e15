"""Why the verdict is what it is: reason codes with their figures. The report turns them into sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunklab_core.records.verdict import Reason, ReasonCode, SpeaksOf, Status
from chunklab_core.select.entrants import Entrants
from chunklab_core.select.questions_needed import MOST_QUESTIONS

BAR = 0.90
AT_BAR = 0.005
FEW_QUESTIONS = 15
_LEAST_SHOWN = 0.0005  # of a recall
_DEARER = 1.05  # times the tokens of another cell; a smaller ratio would be shown as 1.0 times


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the verdict is based on. Shares are those of the leading entrant.

    Attributes:
        n_questions: scored questions, near-duplicates counted once.
        by_document, on_balance: None where they do not apply.
        on_balance_best: the cell that leads most often once the retrieved text has a price.
        leader_recall: the leader's recall, discounted for having been picked.
        out: which entrants are ruled out; each is as good as the leader in a share of resamples below `tail_bar`.
    """

    entrants: Entrants
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
    def leader(self) -> int:
        """The leading cell."""
        return self.entrants.members[0][0]

    @property
    def shares(self) -> tuple[float, ...]:
        """All shares that apply."""
        every = (self.share, self.shrunk, self.by_document, self.on_balance)
        return tuple(share for share in every if share is not None)

    @property
    def speaks_of(self) -> SpeaksOf:
        """New documents only where documents were resampled, too."""
        return "new questions on these documents" if self.by_document is None else "new documents"

    @property
    def at_bar(self) -> bool:
        """Whether another seed might change the verdict."""
        return len(self.entrants.members) > 1 and any(abs(share - BAR) <= AT_BAR for share in self.shares)


def reasons_of(status: Status, evidence: Evidence) -> tuple[Reason, ...]:
    """The reasons for the verdict, most important first."""
    return tuple(_reasons(status, evidence))


def _reasons(status: Status, evidence: Evidence) -> Iterator[Reason]:
    leading = evidence.entrants.members[0]
    if status == "only":
        yield Reason("only_cell", {"cell": leading[0]})
    elif status == "tied":
        yield Reason("all_equal", {"equal": leading})
    else:
        yield Reason("leader_share", {"leader": leading, "share": evidence.share})
        yield from _shortfalls(evidence)
        yield from _standing_of_rivals(evidence)
        yield from _needed(evidence)
        seen = float(evidence.entrants.cells.values[leading[0]].mean() / evidence.entrants.cells.unit)
        # Noise that cells share can raise the leader's recall, too.
        code: ReasonCode = (
            "recall_not_discounted" if evidence.leader_recall > seen - _LEAST_SHOWN else "recall_discounted"
        )
        yield Reason(code, {"recall": seen, "discounted": evidence.leader_recall})
        yield Reason("about_questions" if evidence.by_document is None else "about_documents")
    if evidence.n_questions < FEW_QUESTIONS:
        has_duplicates = evidence.n_questions < evidence.entrants.cells.values.shape[1]
        figures = {"questions": evidence.n_questions, "least": FEW_QUESTIONS, "duplicates": has_duplicates}
        yield Reason("few_questions", figures)
    if evidence.at_bar:
        yield Reason("at_bar", {"within": AT_BAR, "bar": BAR})


def _shortfalls(evidence: Evidence) -> Iterator[Reason]:
    """The shares that stay below the bar."""
    if evidence.shrunk < BAR <= evidence.share:
        yield Reason("share_without_luck", {"share": evidence.shrunk})
    if evidence.by_document is not None and evidence.by_document < BAR:
        code: ReasonCode = "few_documents" if evidence.share >= BAR else "share_by_document"
        yield Reason(code, {"share": evidence.by_document, "leader": evidence.leader})
    if evidence.on_balance is not None and evidence.on_balance < BAR:
        yield Reason("share_on_balance", {"share": evidence.on_balance})
        yield from _price(evidence)


def _price(evidence: Evidence) -> Iterator[Reason]:
    leader, best, tokens = evidence.leader, evidence.on_balance_best, evidence.entrants.tokens
    if tokens is None or best is None or best == leader or tokens[best].sum() == 0:
        return
    times = float(tokens[leader].sum() / tokens[best].sum())
    if times >= _DEARER:  # else equal cells share the wins of one, and no price keeps them from the bar
        yield Reason("leader_costs_more", {"leader": leader, "times": times, "cheaper": best})


def _standing_of_rivals(evidence: Evidence) -> Iterator[Reason]:
    members, out = evidence.entrants.members, evidence.out
    rivals = [cells for cells, is_out in zip(members[1:], out[1:], strict=True) if not is_out]
    if rivals and evidence.share < BAR:
        yield Reason("not_ruled_out", {"entrants": rivals})
    ruled_out = evidence.entrants.cells_of(out)
    if ruled_out:
        yield Reason("ruled_out", {"cells": ruled_out, "leader": evidence.leader, "below": evidence.tail_bar})


def _needed(evidence: Evidence) -> Iterator[Reason]:
    decided = min(evidence.share, evidence.shrunk) >= BAR and evidence.n_questions >= FEW_QUESTIONS
    if decided or evidence.n_questions < 2:  # one question shows no spread
        return
    pair = {"leader": evidence.leader, "rival": evidence.entrants.members[1][0]}
    if evidence.needed is None:
        yield Reason("no_realistic_number", {**pair, "most": MOST_QUESTIONS})
    else:
        yield Reason("questions_needed", {**pair, "questions": evidence.needed})
