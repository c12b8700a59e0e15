"""Stage 1, parse: file -> Document."""

from __future__ import annotations

import unicodedata
from difflib import get_close_matches
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from chunklab_core.errors import ConfigError, ContractError, UnreadableDocument
from chunklab_core.records.documents import Document

BUILTINS = {
    ".docx": "chunklab_core.parse.docx:DocxParser",
    ".markdown": "chunklab_core.parse.markdown:MarkdownParser",
    ".md": "chunklab_core.parse.markdown:MarkdownParser",
    ".pdf": "chunklab_core.parse.pdf:PypdfParser",
    ".text": "chunklab_core.parse.plain:TextParser",
    ".txt": "chunklab_core.parse.plain:TextParser",
}

# Readers that the setting parse.pdf chooses from.
PDF_READERS = {"pypdf": BUILTINS[".pdf"]}

# Distributions whose version shapes what a reader returns; plain text depends on Python alone.
LIBRARIES: dict[str, tuple[str, ...]] = {
    ".docx": ("python-docx", "lxml"),
    ".markdown": ("markdown-it-py",),
    ".md": ("markdown-it-py",),
    ".pdf": ("pypdf", "cryptography"),
    ".text": (),
    ".txt": (),
}


class Parser(Protocol):
    """Reads one format. It decides; the room checks what it returns."""

    def __call__(self, doc_id: str, data: bytes) -> Document:
        """The document of one file's bytes; `UnreadableDocument` where they cannot be read."""
        ...


def is_supported(suffix: str) -> bool:
    """Whether a built-in reader takes files of this suffix (with its dot, in any case)."""
    return suffix.lower() in BUILTINS


def parse_document(path: str | Path, root: str | Path | None = None, *, pdf: str = "pypdf") -> Document:
    """One file as text and blocks. Its id is its path relative to `root`, or its name where there is none.

    A file that is read and holds no text is a document with empty text and a warning.

    Raises:
        UnreadableDocument: the file is missing, damaged, locked by a password or of a format without a reader.
        ValueError: the file does not lie in `root`.
    """
    path = Path(path)
    doc_id = path.relative_to(root).as_posix() if root is not None else path.name
    _parser_for(path.suffix, pdf)  # a format without a reader is said before the file is read
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableDocument(f"cannot be opened: {error.strerror or error}") from error
    return parse_bytes(unicodedata.normalize("NFC", doc_id), data, path.suffix, pdf=pdf)


def parse_bytes(doc_id: str, data: bytes, suffix: str, *, pdf: str = "pypdf") -> Document:
    """The same from bytes that are at hand; `suffix` (with its dot) names the format.

    Raises:
        UnreadableDocument: as for `parse_document`.
        ContractError: the reader returned what is no document of ours.
    """
    location = _parser_for(suffix, pdf)
    module, _, name = location.partition(":")
    parser: Parser = getattr(import_module(module), name)()
    document = parser(doc_id, data)
    _check(document, doc_id, name)
    return document


def _parser_for(suffix: str, pdf: str) -> str:
    if pdf not in PDF_READERS:
        near = get_close_matches(pdf, PDF_READERS, 1, 0.0)[0]
        raise ConfigError(f"parse.pdf is {pdf!r}; known readers: {', '.join(PDF_READERS)}. Did you mean {near!r}?")
    if not is_supported(suffix):
        raise UnreadableDocument(f"has no reader for {suffix or 'a name without suffix'}; known: {', '.join(BUILTINS)}")
    return PDF_READERS[pdf] if suffix.lower() == ".pdf" else BUILTINS[suffix.lower()]


def _check(document: Document, doc_id: str, parser: str) -> None:
    text, spans = document.text, [element.span for element in document.elements]
    if document.doc_id != doc_id:
        raise ContractError(f"{parser} returned id {document.doc_id!r} for {doc_id!r}; a parser must keep the id.")
    if "\r" in text or not unicodedata.is_normalized("NFC", text):
        raise ContractError(f"{parser} returned text of {doc_id!r} that is not NFC with \\n line ends.")
    for span in spans:
        if not 0 <= span.start < span.end <= len(text) or not text[span.start : span.end].strip():
            raise ContractError(
                f"{parser} returned a block {span.start}:{span.end} of {doc_id!r} that is blank or outside."
            )
    if any(after.start < before.end for before, after in pairwise(spans)):
        raise ContractError(f"{parser} returned blocks of {doc_id!r} that overlap or stand out of order.")
