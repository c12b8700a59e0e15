"""Semantic breakpoints: a chunk ends where the next sentence is about something else.

Why: a topic often changes without a heading or an empty line. This tool shows whether an embedding model finds the
change better than the author's own layout does.

Source: Kamradt, 5 Levels of Text Splitting (2023), level 4: distances between neighbouring sentences, broken
where one exceeds a percentile of all of them. The floor and the maximum in tokens are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from chunklab_core.chunk.cutting import Ruler, cut_point, lines, words
from chunklab_core.chunk.parameters import check_limits, method_name, need_percent
from chunklab_core.chunk.prefix import Paths
from chunklab_core.chunk.sentences import sentence_breaks, sentence_spans
from chunklab_core.errors import ConfigError
from chunklab_core.records.chunks import EmbedTexts
from chunklab_core.records.documents import Document, Span

_LEVELS = (sentence_breaks, lines, words)
_EVEN = 1.1  # how far a part of a long segment may exceed an even share, so that its last part is not tiny


@dataclass(frozen=True, slots=True)
class SemanticChunker:
    """Sentences up to a change of topic; segments under `min_tokens` join a neighbour, longer ones are cut.

    Attributes:
        breakpoint_percentile: a segment ends where the distance to the next sentence is above this percentile
            of the document's distances.
        min_tokens: segments that cost less join the nearer neighbour, while the two fit.
        max_tokens: the most that a chunk may cost, prefix included.
        model: name of the embedding model; None is the bundled one.
        embed: embeds the sentences of a document in one call; None loads the bundled model with the first document
            that has two sentences.
    """

    name: ClassVar[str] = "semantic"

    breakpoint_percentile: float = 95.0
    min_tokens: int = 200
    max_tokens: int = 1000
    heading_path: bool = False
    model: str | None = None
    embed: EmbedTexts | None = None

    def __post_init__(self) -> None:
        check_limits(self)
        need_percent(self, "breakpoint_percentile")
        if self.model is not None and not isinstance(self.model, str):
            raise ConfigError(f"{method_name(self)}.model is {self.model!r}; it must be the name of a model.")

    def __call__(self, document: Document) -> list[Span]:
        """The chunks' spans, in order."""
        ruler = Ruler(document.text)
        paths = Paths(document) if self.heading_path else None
        whole = (ruler.bounds.start_of_character, ruler.bounds.end_of_character)
        sentences = [(whole[0](start), whole[1](end)) for start, end in sentence_spans(document.text)]
        segments = self._merged(ruler, *self._segments(document.text, sentences))
        return [part for segment in segments for part in self._parts(ruler, paths, segment)]

    def _segments(self, text: str, sentences: list[tuple[int, int]]) -> tuple[list[Span], list[float]]:
        """Runs of sentences between the breaks, and the distance at each break."""
        if len(sentences) < 2:
            return [Span(*sentence) for sentence in sentences], []
        vectors = self._embedder()([text[start:end] for start, end in sentences])
        distances = neighbour_distances(np.asarray(vectors, dtype=np.float64))
        breaks = np.flatnonzero(distances > np.percentile(distances, self.breakpoint_percentile))
        edges = [0, *(int(at) + 1 for at in breaks), len(sentences)]
        spans = [Span(sentences[first][0], sentences[last - 1][1]) for first, last in pairwise(edges)]
        return spans, distances[breaks].tolist()

    def _embedder(self) -> EmbedTexts:
        if self.embed is not None:
            return self.embed
        if self.model is None:
            return _bundled()
        raise ConfigError(f"{method_name(self)}.model is {self.model!r}, but no embedder was given. Pass embed=.")

    def _merged(self, ruler: Ruler, segments: list[Span], distances: list[float]) -> list[Span]:
        """Segments below `min_tokens` joined to the nearer neighbour with room, on a tie to the one before."""
        done: list[Span] = []
        gaps: list[float] = []  # gaps[i]: the distance at the break before done[i]
        index = 0
        while index < len(segments):
            here, gap = segments[index], distances[index - 1] if index else math.inf
            while ruler.fits(here.start, here.end, self.min_tokens - 1):
                before = gap if done and self._join(ruler, done[-1], here) else math.inf
                after = distances[index] if self._join(ruler, here, *segments[index + 1 : index + 2]) else math.inf
                if before == after == math.inf:
                    break
                if before <= after:
                    here, gap = Span(done.pop().start, here.end), gaps.pop()
                else:
                    index += 1
                    here = Span(here.start, segments[index].end)
            done.append(here)
            gaps.append(gap)
            index += 1
        return done

    def _join(self, ruler: Ruler, *pair: Span) -> bool:
        """Whether two segments fit in one chunk, or one of them must be cut anyway."""
        if len(pair) < 2:
            return False
        spans = (Span(pair[0].start, pair[1].end), *pair)
        whole, *alone = (ruler.fits(span.start, span.end, self.max_tokens) for span in spans)
        return whole or not all(alone)

    def _parts(self, ruler: Ruler, paths: Paths | None, segment: Span) -> Iterator[Span]:
        """A segment in parts of about equal cost, as few as the maximum allows, cut at sentences if possible."""
        start = segment.start
        while start < segment.end:
            limit = paths.budget(start, self.max_tokens) if paths else self.max_tokens
            if ruler.fits(start, segment.end, limit):
                yield Span(start, segment.end)
                return
            rest = ruler.tokens.tokens_before(segment.end) - ruler.tokens.tokens_before(start)
            share = int(_EVEN * rest / max(2, -(-rest // limit))) + 1
            end = cut_point(ruler, start, segment.end, min(limit, share), _LEVELS)
            yield Span(start, ruler.trim(start, end))
            start = ruler.skip_blank(end)


@dataclass(frozen=True, slots=True)
class SemanticNoFloorChunker(SemanticChunker):
    """The same without `min_tokens`: the breakpoints alone decide, so a chunk may be a single sentence."""

    name: ClassVar[str] = "semantic_no_floor"

    min_tokens: int = 0


def neighbour_distances(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - cosine between each vector and the next.

    A vector that is zero or not finite has distance 1 from every other.

    Args:
        vectors: shape (sentences, dim).

    Returns:
        Shape (sentences - 1,), in [0, 2].
    """
    usable = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0.0)
    norms = np.linalg.norm(usable, axis=1, keepdims=True)
    unit = usable / np.where(norms > 0, norms, 1.0)
    return np.clip(1.0 - (unit[:-1] * unit[1:]).sum(axis=1), 0.0, 2.0)


@lru_cache(maxsize=1)
def _bundled() -> EmbedTexts:
    """The bundled model, loaded once."""
    from chunklab_core.models.embedder import bundled_embedder

    return bundled_embedder()
