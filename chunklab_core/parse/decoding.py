"""Bytes to text: which encoding a file is written in, and the few things that no text of ours may hold.

Why: a wrong guess here is silent. Latin letters with zero bytes between them, or a mark in front of the
first word, look right on a screen and match nothing.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from chunklab_core.errors import UnreadableDocument

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


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of a file, cleaned, and warnings.

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
        return text, ("is not UTF-8; read as Windows-1252", *warnings)


def clean(raw: str) -> tuple[str, tuple[str, ...]]:
    r"""Text in NFC with \n line ends, without U+FEFF, NUL and lone surrogates; a warning where NUL was lost."""
    text = _LINE_END.sub("\n", raw.replace("\ufeff", ""))
    nuls = text.count("\0")
    warnings = (f"{nuls} NUL characters left out",) if nuls else ()
    text = text.replace("\0", "")
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return unicodedata.normalize("NFC", text), warnings


def no_text(text: str) -> tuple[str, ...]:
    """The warning of a file that was read and holds no text; nothing for any other."""
    return () if text.strip() else ("holds no text",)


def _with_zero_bytes(data: bytes) -> str:
    encoding = _utf16_without_mark(data)
    if encoding:
        return _strict(data, encoding)
    if data.count(0) > _MOST_NULS * len(data):
        raise UnreadableDocument("is not text (it holds zero bytes); expected UTF-8, UTF-16, UTF-32 or Windows-1252")
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
        raise UnreadableDocument(f"is not {name} text (byte {error.start}); save it as UTF-8") from error
