from collections.abc import Sequence

import numpy as np
import pytest
from worlds import embed_by_first_letter

from chunklab_core.chunk import chunk_document, make_chunker
from chunklab_core.chunk.semantic import neighbour_distances
from chunklab_core.errors import ConfigError
from chunklab_core.records.documents import Document

# Sentences by first letter: A A A B B C; an A and a B have nothing in common.
TOPICS = Document("d", "An ant ran. All ants run. Any ant can. Bees buzz. Big bees hum. Cats purr.")


def bodies(name: str, document: Document = TOPICS, **params: object) -> list[str]:
    chunker = make_chunker(name, embed=embed_by_first_letter, **params)
    return [chunk.body for chunk in chunk_document(document, chunker)]


def test_a_chunk_ends_where_the_next_sentence_is_about_something_else() -> None:
    assert bodies("semantic_no_floor", breakpoint_percentile=50) == [
        "An ant ran. All ants run. Any ant can.",
        "Bees buzz. Big bees hum.",
        "Cats purr.",
    ]


def test_only_distances_above_the_percentile_break() -> None:
    # Of the five distances 0 0 1 0 1, the 95th percentile is 1, and none is above it.
    assert bodies("semantic_no_floor") == [TOPICS.text]


def test_a_segment_under_the_floor_joins_a_neighbour() -> None:
    joined = ["An ant ran. All ants run. Any ant can.", "Bees buzz. Big bees hum. Cats purr."]
    assert bodies("semantic", min_tokens=6, breakpoint_percentile=50) == joined
    assert bodies("semantic", min_tokens=200, breakpoint_percentile=50) == [TOPICS.text]


def test_a_segment_under_the_floor_joins_the_nearer_neighbour() -> None:
    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.array([[1, 0], [1, 0], [0, 1], [0.6, 0.8], [0.6, 0.8]], dtype=np.float32)

    document = Document("d", "One one one. Two two two. Three. Four four four. Five five five.")
    chunker = make_chunker("semantic", embed=embed, min_tokens=3, breakpoint_percentile=0)
    assert [chunk.body for chunk in chunk_document(document, chunker)] == [
        "One one one. Two two two.",
        "Three. Four four four. Five five five.",
    ]


def test_a_long_segment_is_cut_at_sentences_into_even_parts() -> None:
    document = Document("d", " ".join(["All ants run far."] * 22))  # 110 tokens
    chunks = chunk_document(
        document, make_chunker("semantic", embed=embed_by_first_letter, min_tokens=20, max_tokens=100)
    )
    assert [chunk.body.count("All ants") for chunk in chunks] == [12, 10]
    assert all(chunk.body.endswith("far.") for chunk in chunks)


def test_the_sentences_of_a_document_are_embedded_in_one_call() -> None:
    calls: list[list[str]] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        calls.append(list(texts))
        return embed_by_first_letter(texts)

    chunk_document(TOPICS, make_chunker("semantic", embed=embed))
    assert calls == [["An ant ran.", "All ants run.", "Any ant can.", "Bees buzz.", "Big bees hum.", "Cats purr."]]


def test_a_model_without_its_embedder_is_refused_when_it_is_needed() -> None:
    with pytest.raises(ConfigError, match="'some-model', but no embedder was given"):
        chunk_document(TOPICS, make_chunker("semantic", model="some-model"))


@pytest.mark.filterwarnings("error")
def test_distances_are_one_minus_the_cosine_and_one_where_a_vector_says_nothing() -> None:
    vectors = np.array([[2.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 0.0], [np.nan, 1.0], [-1.0, 0.0], [1.0, 0.0]])
    assert neighbour_distances(vectors).tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 2.0]
