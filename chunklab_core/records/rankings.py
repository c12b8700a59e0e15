"""Rankings: the results of searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class KeywordIndex(Protocol):
    """Scores every chunk for questions given as terms; the keyword search gets its index in this form."""

    def scores(self, questions: Iterable[Sequence[str]], *, k1: float, b: float) -> Iterator[NDArray[np.float64]]:
        """One array a question, shape (chunks,), float64: above 0 for chunks that share a term with it, else 0."""
        ...


@dataclass(frozen=True, slots=True)
class Ranking:
    """One retriever's answer to one question, best first.

    Attributes:
        rows: shape (ranked,), int64: positions in the list of chunks. Only candidates are listed.
        scores: shape (ranked,), float64, falling.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
