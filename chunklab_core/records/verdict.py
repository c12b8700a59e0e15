"""What the evidence says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Status = Literal["winner", "leans", "undecided", "tied", "only"]
SpeaksOf = Literal["new questions on these documents", "new documents"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence says. Cells are positions in the scores that were judged.

    Attributes:
        status: one of the words of `Status`.
        leader: the entrant of highest mean recall, shown as its cheapest cell.
        p_best: per cell, the share of paired resamples in which it comes out on top; sums to 1.
        in_play: cells that cannot be ruled out, leader first.
        ruled_out: cells against which there is evidence.
        questions_needed: scored questions that would settle the leader against the runner-up, or None.
        reasons: sentences for a reader, in the order in which they matter.
        at_bar: a share of the leader lies within 0.005 of its bar, so another seed may say otherwise.
        p_best_shrunk: as `p_best`, under a model that discounts the leader's luck.
        p_best_by_document: as `p_best`, documents resampled; None with fewer than 10 documents or where none are known.
        p_best_balanced: as `p_best`, on `balanced_in_play`; None where the context has no price.
        leader_share: the sum of `p_best` over the cells that are equal to the leader; what the sentences speak of.
        leader_recall_shrunk: mean recall of the leader, discounted for its having been picked.
        cheapest_in_play: the cell in play that retrieves the fewest tokens; None where no cost is known.
        cheapest_difference: its mean recall less that of the leader, with `cheapest_ci95`, the paired interval.
        speaks_of: what the verdict speaks of; of new documents only where those here are 10 or more.
    """

    status: Status
    leader: int
    p_best: tuple[float, ...]
    in_play: tuple[int, ...]
    ruled_out: tuple[int, ...]
    questions_needed: int | None
    reasons: tuple[str, ...] = field(default=())
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
