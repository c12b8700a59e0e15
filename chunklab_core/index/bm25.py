"""Keyword index for BM25: which chunk holds which term, how often.

Why: a vector search confuses exact terms (names, codes, versions), and BM25 over an inverted index is the baseline that
is hard to beat there. Postings are stored term by term, so a question reads only the lists of its own terms; `k1` and
`b` are used only when a question is scored, so new values need no new index.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), section 3.1.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunklab_core.index.words import tokenize

__all__ = ["Bm25Index", "build_bm25", "from_arrays", "scores", "to_arrays", "tokenize"]

# Weights are whole multiples of this, and never 0. Sums below 512 are then exact in float64, so equal chunks have the
# same score to the last bit, in any order of their terms; the error of a weight is below 6e-14.
_GRID = 2.0**-44


@dataclass(frozen=True, slots=True)
class Bm25Index:
    """Postings term by term. The chunks of term `t` are `rows[indptr[t]:indptr[t + 1]]`, rising.

    Attributes:
        vocabulary: all terms, sorted.
        indptr: shape (terms + 1,), int64.
        rows: shape (postings,), int32: positions in the list of chunks.
        counts: shape (postings,), int32: how often that chunk holds the term.
        lengths: shape (chunks,), int32: terms of each chunk, repeats included.
    """

    vocabulary: tuple[str, ...]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]

    def scores(self, questions: Iterable[Sequence[str]], *, k1: float, b: float) -> Iterator[NDArray[np.float64]]:
        """The BM25 score of every chunk for each question, given as terms: shape (chunks,), float64.

        score(q, d) = sum over terms t of q, repeats included, of
        ln(1 + (N - n + 0.5) / (n + 0.5)) * f * (k1 + 1) / (f + k1 * (1 - b + b * |d| / avgdl)).

        Scores are above 0 for chunks that share a term with the question, and 0 for all others.

        Raises:
            ValueError: k1 is negative or not finite, or b is outside [0, 1].
        """
        if not (0 <= k1 < float("inf") and 0 <= b <= 1):
            raise ValueError(f"BM25 has k1 = {k1} and b = {b}; k1 must be 0 or more, b from 0 to 1.")
        mean = self.lengths.mean() if self.lengths.any() else 1.0
        saturation = k1 * (1 - b + b * self.lengths / mean)
        for terms in questions:
            units = np.zeros(len(self.lengths))
            for term, times in sorted(Counter(terms).items()):
                rows, counts = self._postings(term)
                idf = np.log1p((len(units) - len(rows) + 0.5) / (len(rows) + 0.5))
                weights = np.ceil(counts * (idf * (k1 + 1) / _GRID) / (counts + saturation[rows]))
                units[rows] += weights if times == 1 else times * weights
            yield units * _GRID

    def _postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        at = bisect_left(self.vocabulary, term)
        if at == len(self.vocabulary) or self.vocabulary[at] != term:
            return self.rows[:0], self.counts[:0]
        span = slice(self.indptr[at], self.indptr[at + 1])
        return self.rows[span], self.counts[span]


def build_bm25(texts: Iterable[str], tokenize: Callable[[str], list[str]] = tokenize) -> Bm25Index:
    """The index of texts, in their order. Only one small number a term of each text stays in memory."""
    from scipy.sparse import csr_array

    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new term gets the next number
    terms, ends = array("i"), array("q", [0])
    for text in texts:
        terms.extend(map(numbers.__getitem__, tokenize(text)))
        ends.append(len(terms))
    vocabulary = sorted(numbers)
    places = np.empty(len(vocabulary), dtype=np.int32)
    places[[numbers[term] for term in vocabulary]] = np.arange(len(vocabulary), dtype=np.int32)
    one_each = np.ones(len(terms), dtype=np.int32)
    by_chunk = csr_array((one_each, places[np.asarray(terms)], np.asarray(ends)), (len(ends) - 1, len(vocabulary)))
    by_term = by_chunk.tocsc()
    by_term.sum_duplicates()
    return Bm25Index(
        tuple(vocabulary),
        by_term.indptr.astype(np.int64),
        by_term.indices.astype(np.int32),
        by_term.data.astype(np.int32),
        np.diff(ends).astype(np.int32),
    )


def scores(
    query: str,
    texts: Sequence[str],
    k1: float = 1.2,
    b: float = 0.75,
    tokenize: Callable[[str], list[str]] = tokenize,
) -> NDArray[np.float64]:
    """The BM25 score of each text for one question: shape (texts,), float64; see `Bm25Index.scores`."""
    return next(build_bm25(texts, tokenize).scores([tokenize(query)], k1=k1, b=b))


def to_arrays(index: Bm25Index) -> dict[str, NDArray[np.generic]]:
    """The index as plain arrays for the store: the vocabulary becomes UTF-8 bytes and the ends of its terms."""
    encoded = [term.encode("utf-8", "surrogatepass") for term in index.vocabulary]
    return {
        "letters": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ends": np.cumsum([len(term) for term in encoded], dtype=np.int64),
        "indptr": index.indptr,
        "rows": index.rows,
        "counts": index.counts,
        "lengths": index.lengths,
    }


def from_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> Bm25Index:
    """The inverse of `to_arrays`."""
    letters, ends = arrays["letters"].tobytes(), arrays["ends"].tolist()
    starts = [0, *ends[:-1]]
    vocabulary = tuple(letters[s:e].decode("utf-8", "surrogatepass") for s, e in zip(starts, ends, strict=False))
    return Bm25Index(
        vocabulary,
        arrays["indptr"].astype(np.int64),
        arrays["rows"].astype(np.int32),
        arrays["counts"].astype(np.int32),
        arrays["lengths"].astype(np.int32),
    )


def index_arrays(texts: Iterable[str]) -> dict[str, NDArray[np.generic]]:
    """The index of the chunks' texts, as it is stored."""
    return to_arrays(build_bm25(texts))


open_index = from_arrays


def open_questions(queries: Iterable[str]) -> list[list[str]]:
    """The terms of each question, as the search takes them."""
    return [tokenize(query) for query in queries]
