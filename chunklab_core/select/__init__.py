"""Stage 7, select: recall of every cell on every question -> Verdict."""

from chunklab_core.select.probability import probability_best
from chunklab_core.select.winner import select_winner

__all__ = ["probability_best", "select_winner"]
