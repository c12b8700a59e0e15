import pytest

from chunklab_core.chunk import chunk_document
from chunklab_core.chunk.recursive import RecursiveChunker
from chunklab_core.records.documents import Document


def bodies(text: str, chunk_size: int, overlap: int = 0) -> list[str]:
    return [chunk.body for chunk in chunk_document(Document("d", text), RecursiveChunker(chunk_size, overlap))]


FIRE, WATER = "Fire is hot. It is dry.", "Water is cold. It is wet."  # 8 tokens each; ".\n\n" is one token


@pytest.mark.parametrize(
    ("chunk_size", "texts"),
    [
        (16, [f"{FIRE}\n\n{WATER}"]),  # together exactly the budget: a full budget fits
        (15, [FIRE, WATER]),  # paragraphs that fit alone stay whole
        (8, [FIRE, WATER]),
        (7, ["Fire is hot.", "It is dry.", "Water is cold.", "It is wet."]),
        (3, ["Fire is", "hot. It", "is dry.", "Water is", "cold. It", "is wet."]),
    ],
)
def test_splits_at_the_coarsest_place_that_fits(chunk_size: int, texts: list[str]) -> None:
    assert bodies(f"{FIRE}\n\n{WATER}", chunk_size) == texts


def test_lines_come_before_sentences() -> None:
    assert bodies("Fire is hot. It is\ndry. Water is cold.", 7) == ["Fire is hot. It is", "dry. Water is cold."]


def test_a_paragraph_too_large_fills_the_chunk_before_it() -> None:
    assert bodies(f"So.\n\n{FIRE} {WATER}", 10) == ["So.\n\nFire is hot. It is dry.", WATER]


def test_a_chunk_begins_with_the_last_sentences_of_the_one_before() -> None:
    text = "One is odd. Two is even. Three is odd. Four is even."
    assert bodies(text, 8, 4) == [
        "One is odd. Two is even.",
        "Two is even. Three is odd.",
        "Three is odd. Four is even.",
    ]


def test_overlap_that_leaves_no_room_for_something_new_is_given_up() -> None:
    sentences = ["One is odd.", "Two is a larger number.", "Three is an even larger number."]  # 4, 6 and 7 tokens
    assert bodies(" ".join(sentences), 9, 6) == sentences


def test_without_overlap_no_character_lies_in_two_chunks() -> None:
    text = "\n\n".join([FIRE, WATER] * 20)
    chunks = chunk_document(Document("d", text), RecursiveChunker(20, 0))
    assert "".join(chunk.body for chunk in chunks).replace("\n", "") == text.replace("\n", "")
