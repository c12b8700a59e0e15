import re
from pathlib import Path

import pytest

from chunklab_core import parse
from chunklab_core.errors import NOTE_TEXTS, ConfigError, UnreadableDocument, note_text
from chunklab_core.parse.folder import list_documents
from chunklab_core.records.documents import Note, UnreadFile

READERS = [".txt"]


def test_every_file_is_listed_or_skipped_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("Two.")
    (tmp_path / "a.TXT").write_text("One.")
    (tmp_path / ".hidden.txt").write_text("Three.")
    (tmp_path / "README").write_text("Four.")
    (tmp_path / "photo.jpg").write_text("Five.")
    (tmp_path / "broken.txt").symlink_to(tmp_path / "nowhere.txt")
    folder, listed, skipped = list_documents(tmp_path, READERS)

    assert (folder, [file.doc_id for file in listed]) == (tmp_path, ["a.TXT", "b.txt"])
    assert skipped == [
        UnreadFile(".hidden.txt", Note("hidden")),
        UnreadFile("README", Note("format_unknown")),
        UnreadFile("broken.txt", Note("not_regular")),
        UnreadFile("photo.jpg", Note("format_unsupported", {"suffix": ".jpg"})),
    ]


def test_a_folder_without_a_document_is_refused_with_an_example(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("Five.")

    with pytest.raises(ConfigError, match=r"example, photo\.jpg has a format that is not supported \(\.jpg\)\. Give"):
        list_documents(tmp_path, READERS)


def test_every_note_of_the_room_has_a_text_and_every_text_is_used() -> None:
    sources = "".join(path.read_text() for path in Path(*parse.__path__).glob("*.py"))
    codes = set(re.findall(r'(?:Note\(|code = |else )"(\w+)"', sources))

    assert codes == set(NOTE_TEXTS)


def test_a_note_reads_after_the_name_of_the_file() -> None:
    note = Note("pages_without_text", {"n_blank": 2, "pages": 9, "blank": [3, 4]})

    assert note_text(note) == "has 2 of 9 pages without text: 3, 4"
    assert str(UnreadableDocument(Note("empty_file"))) == "is empty (0 bytes)"
