"""Stage 1, parse: file -> Document. The table of readers; a reader is one file and one line here."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from chunklab_core.errors import ConfigError, UnreadableDocument, did_you_mean
from chunklab_core.parse.reading import read_document
from chunklab_core.records.documents import Document, Note


@dataclass(frozen=True, slots=True)
class Reader:
    """The parser of one format, as `module:Class`, and the distributions whose version shapes what it returns."""

    location: str
    libraries: tuple[str, ...] = ()


_MARKDOWN = Reader("chunklab_core.parse.markdown:MarkdownParser", ("markdown-it-py",))
_TEXT = Reader("chunklab_core.parse.plain:TextParser")

# Readers that the setting parse.pdf chooses from.
PDF_READERS = {"pypdf": Reader("chunklab_core.parse.pdf:PypdfParser", ("pypdf", "cryptography"))}

BUILTINS = {
    ".docx": Reader("chunklab_core.parse.docx:DocxParser", ("python-docx", "lxml")),
    ".markdown": _MARKDOWN,
    ".md": _MARKDOWN,
    ".pdf": PDF_READERS["pypdf"],
    ".text": _TEXT,
    ".txt": _TEXT,
}


def reader_of(suffix: str, pdf: str = "pypdf") -> Reader:
    """The reader for files of a suffix (with its dot, in any case); `pdf` is the value of the setting parse.pdf.

    Raises:
        ConfigError: there is no such PDF reader.
        UnreadableDocument: there is no reader for this suffix.
    """
    if pdf not in PDF_READERS:
        raise ConfigError(f"parse.pdf is {pdf!r}{did_you_mean(pdf, PDF_READERS)} Known: {', '.join(PDF_READERS)}.")
    if suffix.lower() not in BUILTINS:
        raise UnreadableDocument(Note("no_reader" if suffix else "no_suffix", {"suffix": suffix, "known": [*BUILTINS]}))
    return PDF_READERS[pdf] if suffix.lower() == ".pdf" else BUILTINS[suffix.lower()]


def parse_document(path: str | Path, root: str | Path | None = None, *, pdf: str = "pypdf") -> Document:
    """One file as text and blocks. Its id is its path relative to `root`, or its name without one.

    A readable file that holds no text becomes a document with empty text and a warning.

    Raises:
        UnreadableDocument: the file is missing, damaged, locked by a password or of a format without a reader.
        ValueError: the file is not in `root`.
    """
    path = Path(path)
    doc_id = path.relative_to(root).as_posix() if root is not None else path.name
    reader = reader_of(path.suffix, pdf)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableDocument(Note("cannot_open", {"cause": error.strerror or str(error)})) from error
    return read_document(reader.location, unicodedata.normalize("NFC", doc_id), data)


def parse_bytes(doc_id: str, data: bytes, suffix: str, *, pdf: str = "pypdf") -> Document:
    """The same from bytes in memory; `suffix` (with its dot) names the format.

    Raises:
        UnreadableDocument: as for `parse_document`.
        ContractError: the parser broke a promise about ids, text or blocks.
    """
    return read_document(reader_of(suffix, pdf).location, doc_id, data)
