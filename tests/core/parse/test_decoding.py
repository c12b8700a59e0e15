import codecs

import pytest

from chunklab_core.errors import UnreadableDocument
from chunklab_core.parse.decoding import decode
from chunklab_core.records.documents import Note

TEXT = "Änderung um 7 Uhr, 3 €.\nZweite Zeile."


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
    ],
)
def test_a_file_is_read_by_its_mark_or_by_what_its_bytes_show(mark: bytes, encoding: str) -> None:
    assert decode(mark + TEXT.encode(encoding)) == (TEXT, ())


def test_windows_letters_are_read_with_a_warning() -> None:
    assert decode(TEXT.encode("cp1252")) == (TEXT, (Note("not_utf8"),))


def test_text_is_composed_has_one_kind_of_line_end_and_no_mark_inside() -> None:
    assert decode("a\u0308\r\nb\rc\ufeffd".encode()) == ("\u00e4\nb\ncd", ())


def test_a_single_nul_is_left_out_with_a_warning() -> None:
    assert decode(b"x" * 150 + b"\0" + b"y" * 50) == ("x" * 150 + "y" * 50, (Note("nul_characters", {"count": 1}),))


@pytest.mark.parametrize("data", [b"\x89PNG\0\0\0\rIHDR\0\0\1", b"caf\xe9 \x81", codecs.BOM_UTF16_LE + b"a\0b"])
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="is not"):
        decode(data)
