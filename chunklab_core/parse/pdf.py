"""PDF, read by pypdf: the words of each page, in the order in which the page draws them.

Why: a PDF stores strokes, not paragraphs. What a typesetter did to fit the page (a word broken at a line end, two
letters drawn as one sign, a gap in place of a blank line) has to be undone, or the words on the page are not the
words that a reader searches for.

Left out: headings and tables, which a PDF does not name; pictures, so a scan has no text.
"""

from __future__ import annotations

import io
import logging
import re
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from chunklab_core.errors import UnreadableDocument
from chunklab_core.parse.decoding import clean, one_line
from chunklab_core.parse.plain import paragraphs
from chunklab_core.records.documents import Document, Note

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_LIGATURE = re.compile("[\ufb00-\ufb06]")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_BROKEN_WORD = re.compile(r"(?<![^\W_])([^\W\d_]+(?:[-\u2010][^\W\d_]+)*)([-\u2010\u00ad])\n([^\W\d_]+)")
_BLANK_LINES = re.compile(r"\n\s*\n")
_PAGES_NAMED = 20
_GAP = 1.25  # lines further apart than this many usual steps have a blank line between them


@dataclass(frozen=True, slots=True)
class PypdfParser:
    """Reads a PDF page by page; pages are joined with a blank line.

    - An empty user password is tried, as every viewer does.
    - Ligatures (U+FB00 to U+FB06) become their letters; a gap between lines becomes a blank line.
    - A word broken at a line end is made whole; the hyphen stays where the document shows that it belongs there.
    - Filled form fields whose value no page draws follow at the end, one line `name: value` each.
    """

    def __call__(self, doc_id: str, data: bytes) -> Document:
        """The document of one file's bytes.

        Raises:
            UnreadableDocument: the bytes are not a PDF, are too damaged to read, or need a password.
        """
        if not data:
            raise UnreadableDocument(Note("empty_file"))
        with _remarks() as remarks:
            reader = _open(data)
            pages, failed = _read_pages(reader)
            pages.append(_form_values(reader, "\n".join(pages)))
        drawn = "\n\n".join(page for page in pages if page)
        drawn = drawn.replace("\x7f", "\u2022")  # WinAnsiEncoding draws a bullet for each code that it does not use
        text, cleaned = clean(_LIGATURE.sub(lambda sign: unicodedata.normalize("NFKC", sign.group()), drawn))
        text = join_broken_words(text)
        warnings = (*failed, *_without_text(pages[:-1], text), *cleaned, *_summary(remarks))
        return Document(doc_id, text, paragraphs(text), warnings)


def join_broken_words(text: str) -> str:
    """Text with words broken at line ends made whole: `adip-` + `iscing` is adipiscing, `long-` + `term` long-term.

    The rest of the document decides: a word it also writes whole was broken to fit the line; one that it also writes
    with the hyphen, or whose parts it also writes as words of their own, is a compound. Where it shows neither, the
    word follows the majority of the document's other breaks (Word breaks at compounds only, TeX inside words), and is
    joined if there is no majority. Figures, and parts that begin with a capital, do not change.
    """
    breaks = list(_BROKEN_WORD.finditer(text))
    if not breaks:
        return text
    known = {word.casefold() for word in _WORD.findall(_BROKEN_WORD.sub(" ", text))}  # a fragment is not a word
    shown = [_is_compound(found, known) for found in breaks]
    in_doubt = shown.count(True) > shown.count(False)
    return _BROKEN_WORD.sub(lambda found: _joined(found, known, in_doubt), text)


def _joined(found: re.Match[str], known: set[str], in_doubt: bool) -> str:
    head, hyphen, tail = found.groups()
    if not tail[0].islower():
        return found.group()
    shown = _is_compound(found, known)
    keeps = hyphen != "\u00ad" and (in_doubt if shown is None else shown)
    return f"{head}{hyphen}{tail}" if keeps else head + tail


def _is_compound(found: re.Match[str], known: set[str]) -> bool | None:
    """Whether the hyphen belongs to the word, as far as the document shows it."""
    head, hyphen, tail = (part.casefold() for part in found.groups())
    last = re.split("[-\u2010]", head)[-1]
    if f"{head}-{tail}" in known or last != head:  # another hyphen in the word makes it a compound
        return True
    if hyphen == "\u00ad" or head + tail in known:
        return False
    return True if {head, tail} <= known else None


def _open(data: bytes) -> PdfReader:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    if b"%PDF" not in data[:1024]:
        raise UnreadableDocument(Note("not_pdf"))
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocument(Note("needs_password"))
        _ = len(reader.pages)
    except UnreadableDocument:
        raise
    except DependencyError as error:
        raise UnreadableDocument(Note("encrypted")) from error
    except Exception as error:  # a damaged file makes pypdf raise anything
        raise UnreadableDocument(Note("damaged", {"cause": one_line(error)})) from error
    return reader


def _read_pages(reader: PdfReader) -> tuple[list[str], list[Note]]:
    """The text of each page (empty where it cannot be read), and a warning for each unreadable page."""
    pages: list[str] = []
    warnings: list[Note] = []
    for number in range(len(reader.pages)):
        try:
            pages.append(_page_text(reader.pages[number]))
        except Exception as error:  # noqa: BLE001 - one damaged page costs itself, not the document
            pages.append("")
            warnings.append(Note("page_unreadable", {"page": number + 1, "cause": one_line(error)}))
    if pages and len(warnings) == len(pages):
        raise UnreadableDocument(Note("damaged", {"cause": warnings[0].arguments["cause"]}))
    return pages, warnings


def _page_text(page: PageObject) -> str:
    """The page's lines, with a blank line where the gap is larger than usual."""
    collected = _Lines()
    page.extract_text(visitor_text=collected.add)
    lines = [(line.rstrip(), height) for line, height in zip(collected.texts, collected.heights, strict=True)]
    steps = [upper - lower for (_, upper), (_, lower) in pairwise(lines) if upper > lower]
    usual = median(steps) if steps else 0.0
    parts = [lines[0][0]]
    for (_, upper), (line, lower) in pairwise(lines):
        gap = bool(line) and 0 < usual * _GAP < upper - lower and not _continues(parts[-1], line)
        parts.append(f"\n{line}" if gap else line)
    return _BLANK_LINES.sub("\n\n", "\n".join(parts)).strip()


def _continues(line: str, following: str) -> bool:
    return line.endswith(("-", "\u2010", "\u00ad")) and following[0].islower()


@dataclass(slots=True)
class _Lines:
    """The lines of a page as pypdf draws them, with the height of the first word of each (points, upwards)."""

    texts: list[str] = field(default_factory=lambda: [""])
    heights: list[float] = field(default_factory=lambda: [0.0])

    def add(self, text: str, matrix: list[float], text_matrix: list[float], *_: object) -> None:
        """Adds one piece of text; its position is the text matrix multiplied by the page's matrix."""
        height = text_matrix[4] * matrix[1] + text_matrix[5] * matrix[3] + matrix[5]
        for number, part in enumerate(text.split("\n")):
            if number:
                self.texts.append("")
                self.heights.append(self.heights[-1])
            if part.strip() and not self.texts[-1].strip():
                self.heights[-1] = height
            self.texts[-1] += part


def _form_values(reader: PdfReader, drawn: str) -> str:
    """The filled text and choice fields whose value no page draws, one a line."""
    try:
        fields = reader.get_fields() or {}
    except Exception:  # noqa: BLE001 - pypdf raises anything on a damaged form; its pages stay
        logging.getLogger("pypdf").warning("the form fields cannot be read")
        return ""
    shown = " ".join(drawn.split())
    lines = []
    for name, entry in fields.items():
        value = entry.get("/V")
        if entry.get("/FT") not in ("/Tx", "/Ch") or not isinstance(value, str) or not value.strip():
            continue
        if " ".join(value.split()) not in shown:
            lines.append(f"{entry.get('/TU') or entry.get('/T') or name}: {value.strip()}")
    return "\n".join(lines)


def _without_text(pages: list[str], text: str) -> list[Note]:
    """The warning of a scan, or of single pages without text."""
    if not text:
        return [Note("no_text_layer", {"pages": len(pages)})]
    blank = [number for number, page in enumerate(pages, start=1) if not page]
    figures = {"n_blank": len(blank), "pages": len(pages), "blank": blank[:_PAGES_NAMED]}
    return [Note("pages_without_text", figures)] if blank else []


@contextmanager
def _remarks() -> Iterator[list[str]]:
    """Collects the log messages of pypdf in this thread, for the document's warnings; the console stays silent."""
    logger = logging.getLogger("pypdf")
    logger.propagate = False
    collector = _Collector()
    logger.addHandler(collector)
    try:
        yield collector.messages
    finally:
        logger.removeHandler(collector)


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.thread = threading.get_ident()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self.thread:
            self.messages.append(record.getMessage())


def _summary(remarks: list[str]) -> list[Note]:
    if not remarks:
        return []
    code = "pypdf_remarks" if len(remarks) > 1 else "pypdf_remark"
    return [Note(code, {"remark": " ".join(remarks[0].split())[:200], "more": len(remarks) - 1})]
