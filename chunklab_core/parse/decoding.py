"""Bytes to text: the encoding of a file, and the few characters that are removed from every text.

Why: a wrong guess here is silent. Latin letters with zero bytes between them, or a mark before the first word, look
right on a screen and match nothing.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from chunklab_core.errors import UnreadableDocument
from chunklab_core.records.documents import Note

# The longer marks first: UTF-32's little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END = re.compile("\r\n?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_NULS = 0.01  # above this share of zero bytes a file is not text with a slip in it


def decode(data: bytes) -> tuple[str, tuple[Note, ...]]:
    """The cleaned text of a file, and warnings.

    By its mark first (UTF-8, UTF-16, UTF-32), then UTF-16 without a mark (every second byte zero), then UTF-8,
    then Windows-1252 with a warning.

    Raises:
        UnreadableDocument: the bytes are text in none of these.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return clean(_strict(data[len(mark) :], encoding))
    if b"\0" in data:
        return clean(_with_zero_bytes(data))
    try:
        return clean(data.decode("utf-8"))
    except UnicodeDecodeError:
        text, warnings = clean(_strict(data, "cp1252"))
        return text, (Note("not_utf8"), *warnings)


def clean(raw: str) -> tuple[str, tuple[Note, ...]]:
    r"""Text in NFC with \n line ends, without U+FEFF, NUL and lone surrogates; a warning where NUL is removed."""
    text = _LINE_END.sub("\n", raw.replace("\ufeff", ""))
    nuls = text.count("\0")
    warnings = (Note("nul_characters", {"count": nuls}),) if nuls else ()
    text = text.replace("\0", "")
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return unicodedata.normalize("NFC", text), warnings


def no_text(text: str) -> tuple[Note, ...]:
    """A warning for a readable file without text; empty for any other."""
    return () if text.strip() else (Note("no_text"),)


def one_line(error: Exception) -> str:
    """An error of a library on one line, shortened."""
    return " ".join(f"{error}".split())[:200] or type(error).__name__


def _with_zero_bytes(data: bytes) -> str:
    encoding = _utf16_without_mark(data)
    if encoding:
        return _strict(data, encoding)
    if data.count(0) > _MOST_NULS * len(data):
        raise UnreadableDocument(Note("not_text"))
    return _strict(data, "utf-8")


def _utf16_without_mark(data: bytes) -> str | None:
    if len(data) % 2:
        return None
    first, second = data[0::2].count(0), data[1::2].count(0)
    if second > 0.4 * len(data) / 2 and not first:
        return "utf-16-le"
    if first > 0.4 * len(data) / 2 and not second:
        return "utf-16-be"
    return None


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        name = {"cp1252": "UTF-8 or Windows-1252"}.get(encoding, encoding.upper())
        raise UnreadableDocument(Note("wrong_encoding", {"encoding": name, "byte": error.start})) from error
