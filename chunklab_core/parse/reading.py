"""One file's bytes to a document: the reader decides, this module checks what it returns.

Why: text that is not NFC, or a block outside the text, breaks every later stage far from its cause.
"""

from __future__ import annotations

import unicodedata
from importlib import import_module
from itertools import pairwise
from typing import Protocol

from chunklab_core.errors import ContractError
from chunklab_core.records.documents import Document


class Parser(Protocol):
    """Reads one format."""

    def __call__(self, doc_id: str, data: bytes) -> Document:
        """The document of one file's bytes; raises `UnreadableDocument` where they cannot be read."""
        ...


def read_document(location: str, doc_id: str, data: bytes) -> Document:
    """The checked document that the parser at `module:Class` makes of a file's bytes.

    Raises:
        UnreadableDocument: the bytes are damaged, locked by a password or not of the parser's format.
        ContractError: the parser broke a promise about ids, text or blocks.
    """
    module, _, name = location.partition(":")
    parser: Parser = getattr(import_module(module), name)()
    document = parser(doc_id, data)
    _check(document, doc_id, name)
    return document


def _check(document: Document, doc_id: str, parser: str) -> None:
    text, spans = document.text, [element.span for element in document.elements]
    if document.doc_id != doc_id:
        raise ContractError(f"{parser} returned id {document.doc_id!r} for {doc_id!r}; a parser must keep the id.")
    if "\r" in text or not unicodedata.is_normalized("NFC", text):
        raise ContractError(f"{parser} returned text of {doc_id!r} that is not NFC with \\n line ends.")
    for span in spans:
        if not 0 <= span.start < span.end <= len(text) or not text[span.start : span.end].strip():
            raise ContractError(
                f"{parser} returned a block {span.start}:{span.end} of {doc_id!r} that is blank or outside the text."
            )
    if any(after.start < before.end for before, after in pairwise(spans)):
        raise ContractError(f"{parser} returned blocks of {doc_id!r} that overlap or are out of order.")
