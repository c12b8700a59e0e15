"""Keyword index for BM25: which chunk holds which term, how often.

Why: exact terms (names, codes, versions) are what a vector search confuses, and BM25 over an inverted index is the
baseline that is hard to beat there. Postings are kept term by term, so that a question reads only the lists of its own
terms; `k1` and `b` enter when a question is scored, so that changing them builds nothing anew.

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

# Weights are whole multiples of this. Sums below 512 are then exact in float64, so chunks of equal score have
# the same score to the last bit, in whatever order their terms were added; a weight is off by less than 3e-14.
_GRID = 2.0**-44


@dataclass(frozen=True, slots=True)
class Bm25Index:
    """Postings term by term. The chunks of term `t` stand in `rows[indptr[t]:indptr[t + 1]]`, rising.

    Attributes:
        vocabulary: all terms, sorted.
        indptr: shape (terms + 1,), int64.
        rows: shape (postings,), int32: positions in the list of chunks.
        counts: shape (postings,), int32: how often the term stands in that chunk.
        lengths: shape (chunks,), int32: terms of each chunk, repeats included.
    """

    vocabulary: tuple[str, ...]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]

    def scores(self, questions: Iterable[Sequence[str]], *, k1: float, b: float) -> Iterator[NDArray[np.float64]]:
        """Per question, given as terms, the BM25 score of every chunk: shape (chunks,), float64.

        score(q, d) = sum over terms t of q, repeats included, of
        ln(1 + (N - n + 0.5) / (n + 0.5)) * f * (k1 + 1) / (f + k1 * (1 - b + b * |d| / avgdl)).

        Above 0 where a chunk shares a term with the question, and 0 elsewhere.

        Raises:
            ValueError: k1 is negative or not finite, or b is outside [0, 1].
        """
        if not (0 <= k1 < float("inf") and 0 <= b <= 1):
            raise ValueError(f"BM25 has k1 = {k1} and b = {b}; k1 must be 0 or more, b from 0 to 1.")
        mean = self.lengths.mean() if self.lengths.any() else 1.0
        by_length = k1 * (1 - b + b * np.arange(self.lengths.max(initial=0) + 1) / mean)
        for terms in questions:
            total = np.zeros(len(self.lengths))
            for term, times in sorted(Counter(terms).items()):
                rows, counts = self._postings(term)
                idf = np.log1p((len(total) - len(rows) + 0.5) / (len(rows) + 0.5))
                weights = idf * counts * (k1 + 1) / (counts + by_length[self.lengths[rows]])
                total[rows] += times * np.maximum(np.rint(weights / _GRID), 1) * _GRID
            yield total

    def _postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        at = bisect_left(self.vocabulary, term)
        if at == len(self.vocabulary) or self.vocabulary[at] != term:
            return self.rows[:0], self.counts[:0]
        span = slice(self.indptr[at], self.indptr[at + 1])
        return self.rows[span], self.counts[span]


def build_bm25(texts: Iterable[str], tokenize: Callable[[str], list[str]] = tokenize) -> Bm25Index:
    """The index of texts in their order. One text's terms are held at a time; the rest is three numbers a posting."""
    from scipy.sparse import csr_array

    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new term gets the next number
    terms, counts, lengths, ends = array("i"), array("i"), array("i"), array("q", [0])
    for text in texts:
        counted = Counter(tokenize(text))
        terms.extend(map(numbers.__getitem__, counted))
        counts.extend(counted.values())
        lengths.append(counted.total())
        ends.append(len(terms))
    vocabulary = sorted(numbers)
    places = np.empty(len(vocabulary), dtype=np.int32)
    places[[numbers[term] for term in vocabulary]] = np.arange(len(vocabulary), dtype=np.int32)
    shape = (len(lengths), len(vocabulary))
    by_chunk = csr_array((np.asarray(counts), places[np.asarray(terms)], np.asarray(ends)), shape=shape)
    by_term = by_chunk.tocsc()
    return Bm25Index(
        tuple(vocabulary),
        by_term.indptr.astype(np.int64),
        by_term.indices.astype(np.int32),
        by_term.data.astype(np.int32),
        np.array(lengths, dtype=np.int32),
    )


def scores(
    query: str,
    texts: Sequence[str],
    k1: float = 1.2,
    b: float = 0.75,
    tokenize: Callable[[str], list[str]] = tokenize,
) -> NDArray[np.float64]:
    """BM25 of one question against each text: shape (texts,), float64; see `Bm25Index.scores`."""
    return next(build_bm25(texts, tokenize).scores([tokenize(query)], k1=k1, b=b))


def to_arrays(index: Bm25Index) -> dict[str, NDArray[np.generic]]:
    """The index as plain arrays, to be stored: the vocabulary is one run of UTF-8 bytes and the ends of its terms."""
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
    """The index that `to_arrays` took apart."""
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
