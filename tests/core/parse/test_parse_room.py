import unicodedata
from pathlib import Path

import pytest

from chunklab_core import parse as room
from chunklab_core.cache.keys import version_of
from chunklab_core.errors import ConfigError, ContractError, UnreadableDocument
from chunklab_core.parse import BUILTINS, PDF_READERS, is_supported, parse_bytes, parse_document, reader_of
from chunklab_core.records.documents import Document, Element, Span


def test_plain_text_has_paragraphs_and_no_headings() -> None:
    document = parse_bytes("a.txt", b"\n# One\r\ntwo  \r\n \t\r\n\r\n  Three\n", ".txt")

    assert document.text == "\n# One\ntwo  \n \t\n\n  Three\n"
    assert [document.text[block.span.start : block.span.end] for block in document.elements] == ["# One\ntwo", "Three"]
    assert {(block.kind, block.path, block.level) for block in document.elements} == {("paragraph", (), 0)}


def test_the_id_is_the_path_below_the_folder_composed_and_with_slashes(tmp_path: Path) -> None:
    path = tmp_path / "rules" / unicodedata.normalize("NFD", "Zürich.TXT")
    path.parent.mkdir()
    path.write_text("Quiet.", encoding="utf-8")

    assert parse_document(path, tmp_path).doc_id == "rules/Zürich.TXT"
    assert parse_document(str(path)).doc_id == "Zürich.TXT"
    assert parse_bytes("any id", b"Quiet.", ".TXT") == Document("any id", "Quiet.", (Element("paragraph", Span(0, 6)),))


def test_a_file_that_cannot_be_read_has_a_reason(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("text")
    with pytest.raises(UnreadableDocument, match=r"has no reader for \.xyz; known: \.docx"):
        parse_document(tmp_path / "a.xyz")
    with pytest.raises(UnreadableDocument, match="name without suffix"):
        parse_document(tmp_path / "README")
    with pytest.raises(UnreadableDocument, match="cannot be opened: No such file"):
        parse_document(tmp_path / "gone.txt")


@pytest.mark.parametrize("suffix", [".pdf", ".docx"])
@pytest.mark.parametrize("data", [b"", b"just words", b"PK\x03\x04 cut off", b"%PDF-1.7\ncut off"])
def test_no_bytes_are_read_as_what_they_are_not(suffix: str, data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match=r"^is (empty|not a|damaged)"):
        parse_bytes("x", data, suffix)


def test_an_unknown_reader_names_the_known_one() -> None:
    with pytest.raises(ConfigError, match=r"parse\.pdf is 'pydpf'.*did you mean 'pypdf'"):
        parse_bytes("a.pdf", b"", ".pdf", pdf="pydpf")


def test_every_reader_names_installed_libraries_that_shape_its_result() -> None:
    readers = [*BUILTINS.values(), *PDF_READERS.values()]
    assert all(version_of(library) != "absent" for reader in readers for library in reader.libraries)
    assert reader_of(".PDF", "pypdf").libraries == ("pypdf", "cryptography")
    assert is_supported(".MD")
    assert not is_supported(".html")


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (Document("other", "ab"), "must keep the id"),
        (Document("x", "a\r\nb"), "line ends"),
        (Document("x", "a\u0308"), "NFC"),
        (Document("x", "a b", (Element("paragraph", Span(1, 2)),)), "blank or outside"),
        (Document("x", "a b", (Element("paragraph", Span(0, 4)),)), "blank or outside"),
        (Document("x", "a b", (Element("paragraph", Span(0, 3)), Element("paragraph", Span(2, 3)))), "overlap"),
    ],
)
def test_the_room_refuses_a_document_that_breaks_its_promise(
    document: Document, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunklab_core.parse.plain.TextParser.__call__", lambda self, doc_id, data: document)

    with pytest.raises(ContractError, match=fault):
        room.parse_bytes("x", b"", ".txt")
