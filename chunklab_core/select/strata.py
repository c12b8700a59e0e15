"""Where new questions would separate two cells soonest.

Why: "write 400 more questions" is advice that nobody follows. Most questions do not separate two cells, because both
find the answer or both miss it; the questions that do mostly share a tag or a document.

The rule is Neyman's: write questions for each part in proportion to its weight times the spread of the paired
difference there. The variance of a mean is then (sum of weight x spread) squared over the number of questions; in
today's mix it is the variance over all of them. The ratio of the two is the saving in questions at equal certainty. It
requires that the mean weighs parts by their share of today's questions: a plain mean over a set with extra questions in
one part describes another mix of questions.

The spread of a small part is shrunk towards the spread over all questions, as if four more questions had it; otherwise
five questions that agree by chance would show that a part never needs another one. A part with one question has the
spread over all questions.

Source: Neyman, On the two different aspects of the representative method (1934), section V; Cochran, Sampling
Techniques (3rd ed., 1977), section 5.5; Smyth, Linear models and empirical Bayes methods (2004), section 3, for drawing
variances towards a common one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunklab_core.records.survey import Strata, Stratum
from chunklab_core.select.labels import group_labels, questions_by_part, sizes_of, sum_by_label
from chunklab_core.select.questions_needed import questions_needed
from chunklab_core.select.whole_units import checked_scores

_ADDED = 4  # questions' worth of the spread over all


def strata(
    recall: ArrayLike,
    leader: int,
    rival: int,
    parts: Sequence[Sequence[str]],
    groups: Sequence[str] | None = None,
    *,
    by: Literal["tag", "document"] = "tag",
    at_least: int = 15,
) -> Strata[int]:
    """The parts of the questions; parts with the highest share of new questions are first.

    Args:
        recall: shape (cells, questions).
        leader: one of two cells.
        rival: the other.
        parts: the parts of each question.
        groups: one label a question; questions of one label count as one, with their mean difference.
        by: the kind of parts.
        at_least: the least number of questions to separate two cells.

    Raises:
        ValueError: shapes, numbers of labels or cells do not fit.
    """
    values = checked_scores(recall, "recall")
    n_cells, n_questions = values.shape
    if not {leader, rival} <= set(range(n_cells)) or leader == rival:
        raise ValueError(f"leader {leader} and rival {rival}; expected two different rows of the {n_cells} of recall.")
    drawn = group_labels(groups, n_questions)
    gaps = values[leader] - values[rival]
    of_all = _by_group(gaps, drawn)
    variance = float(of_all.var(ddof=1)) if len(of_all) > 1 else None
    members = questions_by_part(parts, n_questions)
    n_places = sum(len(set(names)) or 1 for names in parts)  # a question without a part has a place of its own
    found = _with_shares([_stratum(name, gaps, at, drawn, variance, n_places) for name, at in members.items()])
    needed = questions_needed(of_all, at_least)
    overlap = any(len(set(names)) > 1 for names in parts)
    return Strata(
        by=by,
        leader=leader,
        rival=rival,
        parts=tuple(sorted(found, key=lambda each: (-(each.share or -1.0), each.part))),
        needed=needed,
        needed_by_share=None if overlap else _needed_by_share(needed, len(of_all), found, variance),
    )


def _by_group(gaps: NDArray[np.float64], groups: Sequence[str]) -> NDArray[np.float64]:
    """Mean difference of each group. Shape (groups,)."""
    return sum_by_label(gaps[None, :], groups)[0] / sizes_of(groups)


def _stratum(
    name: str,
    gaps: NDArray[np.float64],
    members: Sequence[int],
    groups: Sequence[str],
    variance: float | None,
    n_places: int,
) -> Stratum:
    here = _by_group(gaps[list(members)], [groups[question] for question in members])
    free = len(here) - 1
    own = float(here.var(ddof=1)) if free else 0.0
    sd = None if variance is None else sqrt((free * own + _ADDED * variance) / (free + _ADDED))
    return Stratum(name, len(here), len(members) / n_places, float(here.mean()), sd, None)


def _with_shares(found: Sequence[Stratum]) -> list[Stratum]:
    total = sum(each.weight * each.sd for each in found if each.sd is not None)
    return [
        Stratum(each.part, each.n_groups, each.weight, each.gap, each.sd, each.weight * each.sd / total)
        if each.sd is not None and total > 0
        else each
        for each in found
    ]


def _needed_by_share(needed: int | None, n_groups: int, found: Sequence[Stratum], variance: float | None) -> int | None:
    """Each question written by share is worth variance / (sum of weight x spread)^2 questions of today's mix.

    Questions in no part have the spread over all.
    """
    if needed is None or not variance:
        return needed
    known = [each for each in found if each.sd is not None]
    rest = 1 - sum(each.weight for each in known)
    spread = sum(each.weight * (each.sd or 0.0) for each in known) + max(rest, 0.0) * sqrt(variance)
    return n_groups + ceil((needed - n_groups) * min(1.0, spread**2 / variance))
