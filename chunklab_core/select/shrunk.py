"""The hierarchical model applied to the entrants: who is best, and the leader's recall, when luck is discounted.

Why: a cell that is clearly bad shows nothing about the distance between good cells. In the model it would widen the
spread and make every lead more believable; so it is left out, and one more bad cell does not change the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunklab_core.select.covariance import covariance_of_means
from chunklab_core.select.hierarchy import posterior

# A cell is clearly bad if its recall is below the leader's by more than twice the spread that the model expects, and
# it is as good as the leader in fewer resamples than this.
_FAR = 0.2
_HARDLY_EVER = 0.001


@dataclass(frozen=True, slots=True)
class Discounted:
    """The shares and the leader's recall when luck is discounted.

    Attributes:
        shares: shape (entrants,), the probability that each is the best; 0 for those left out as clearly bad.
        leader_recall: expected true recall of the leader.
    """

    shares: NDArray[np.float64]
    leader_recall: float


def discounted(
    recall: NDArray[np.float64], sizes: NDArray[np.float64], tails: NDArray[np.float64], draws: int, seed: int
) -> Discounted:
    """The entrants under the model of `hierarchy`; leader and runner-up always take part.

    Args:
        recall: shape (entrants, draws), sums over the questions drawn together; entrants by mean recall, highest first.
        sizes: shape (draws,), the questions of each draw.
        tails: shape (entrants,), the share of resamples in which each scores at least as well as the leader.
        draws: how many sets of true recalls are drawn from the posterior.
        seed: seed of the draws.
    """
    n_entrants, n_draws = recall.shape
    means = recall.sum(axis=1) / sizes.sum()
    if n_draws < 2:  # one draw shows no noise, and with unlimited noise all are alike
        return Discounted(np.full(n_entrants, 1 / n_entrants), float(means.mean()))
    among = (tails >= _HARDLY_EVER) | (means > means[0] - _FAR)
    among[:2] = True
    belief = posterior(means[among], covariance_of_means(recall[among], sizes))
    shares = np.zeros(n_entrants)
    shares[among] = belief.shares(draws, seed)
    return Discounted(shares, float(belief.means()[0]))
