"""Promises that every built-in reader keeps."""

import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunklab_core.errors import UnreadableDocument
from chunklab_core.parse import BUILTINS, parse_bytes
from chunklab_core.records.documents import Document

DOCS = Path(__file__).parents[3] / "examples" / "first_run" / "docs"
SAMPLES = {
    ".docx": (DOCS / "tariffs.docx", "Cancelling"),
    ".md": (DOCS / "handbook.md", "membership"),
    ".pdf": (DOCS / "service_manual.pdf", "torque"),
    ".txt": (DOCS / "minutes.txt", "minutes"),
}
SAMPLES |= {".markdown": SAMPLES[".md"], ".text": SAMPLES[".txt"]}


def sample(suffix: str) -> Document:
    return parse_bytes("any id", SAMPLES[suffix][0].read_bytes(), suffix)


@pytest.mark.parametrize("suffix", BUILTINS)
def test_a_document_has_its_id_its_words_and_composed_text_with_plain_line_ends(suffix: str) -> None:
    document = sample(suffix)

    assert document.doc_id == "any id"
    assert SAMPLES[suffix][1] in document.text
    assert "\r" not in document.text
    assert unicodedata.is_normalized("NFC", document.text)


@pytest.mark.parametrize("suffix", BUILTINS)
def test_blocks_are_in_order_hold_every_word_and_know_their_headings(suffix: str) -> None:
    document = sample(suffix)
    spans = [element.span for element in document.elements]
    inside = bytearray(len(document.text))
    for span in spans:
        inside[span.start : span.end] = b"\1" * (span.end - span.start)

    assert all(one.end <= two.start for one, two in pairwise(spans))
    assert all(document.text[span.start : span.end].strip() for span in spans)
    assert all(held or character.isspace() for held, character in zip(inside, document.text, strict=True))
    headings = {element.path[-1] for element in document.elements if element.kind == "heading"}
    assert {title for element in document.elements for title in element.path} <= headings


@pytest.mark.parametrize("suffix", BUILTINS)
def test_equal_bytes_give_equal_documents_whatever_the_case_of_the_suffix(suffix: str) -> None:
    data = SAMPLES[suffix][0].read_bytes()

    assert parse_bytes("x", data, suffix) == parse_bytes("x", data, suffix.upper())


@pytest.mark.parametrize("suffix", BUILTINS)
@settings(max_examples=25, deadline=None)
@example(b"")
@example(b" \n\t\n")
@example(b"\xff\xfe\x00")
@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(suffix: str, data: bytes) -> None:
    """A document, with a warning if it has no text, or one error that the caller can handle."""
    try:
        document = parse_bytes("x", data, suffix)
    except UnreadableDocument:
        return
    assert document.text.strip() or document.warnings
