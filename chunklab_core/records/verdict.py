"""The verdict on all cells, with its reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["winner", "leans", "undecided", "tied", "only"]
SpeaksOf = Literal["new questions on these documents", "new documents"]
ReasonCode = Literal[
    "only_cell",
    "all_equal",
    "leader_share",
    "share_without_luck",
    "share_by_document",
    "few_documents",
    "share_on_balance",
    "leader_costs_more",
    "not_ruled_out",
    "ruled_out",
    "no_realistic_number",
    "questions_needed",
    "recall_discounted",
    "recall_not_discounted",
    "about_questions",
    "about_documents",
    "few_questions",
    "at_bar",
]


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for the verdict. `arguments` holds plain JSON values; cells are positions in the scores.

    `chunklab_core.report.reasons.sentence` puts it into words.
    """

    code: ReasonCode
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence shows. Cells are positions in the scores.

    Attributes:
        status: one of the words of `Status`.
        leader: the entrant of highest mean recall, shown as its cheapest cell.
        p_best: per cell, the share of paired resamples in which its mean is the highest; sums to 1.
        in_play: cells that are not ruled out, leader first.
        ruled_out: cells that the evidence rules out.
        questions_needed: scored questions that would separate the leader from the runner-up, or None.
        reasons: most important first.
        at_bar: a share of the leader is within 0.005 of its bar, so another seed may change the verdict.
        p_best_shrunk: as `p_best`, under a model that discounts the leader's luck.
        p_best_by_document: as `p_best`, with documents resampled; None with fewer than 10 known documents.
        p_best_balanced: as `p_best`, on `balanced_in_play`; None where the context has no price.
        leader_share: the sum of `p_best` over the cells equal to the leader; the reasons use it.
        leader_recall_shrunk: mean recall of the leader, discounted for its having been picked.
        cheapest_in_play: the cell in play that retrieves the fewest tokens; None where no cost is known.
        cheapest_difference: its mean recall less that of the leader, with `cheapest_ci95`, the paired interval.
        speaks_of: what the verdict is about; new documents only where there are 10 or more here.
    """

    status: Status
    leader: int
    p_best: tuple[float, ...]
    in_play: tuple[int, ...]
    ruled_out: tuple[int, ...]
    questions_needed: int | None
    reasons: tuple[Reason, ...] = ()
    at_bar: bool = False
    p_best_shrunk: tuple[float, ...] = ()
    p_best_by_document: tuple[float, ...] | None = None
    p_best_balanced: tuple[float, ...] | None = None
    leader_share: float = 1.0
    leader_recall_shrunk: float = 0.0
    cheapest_in_play: int | None = None
    cheapest_difference: float | None = None
    cheapest_ci95: tuple[float, float] | None = None
    speaks_of: SpeaksOf = "new questions on these documents"
