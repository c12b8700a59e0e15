import unicodedata
from pathlib import Path

import pytest

from chunklab_core.cache.keys import version_of
from chunklab_core.errors import ConfigError, UnreadableDocument
from chunklab_core.parse import BUILTINS, PDF_READERS, parse_bytes, parse_document, reader_of
from chunklab_core.records.documents import Document, Element, Span


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
