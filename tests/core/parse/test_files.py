from pathlib import Path

import pytest

from chunklab_core.parse import BUILTINS, files
from chunklab_core.parse.files import parse_files
from chunklab_core.parse.folder import list_documents
from chunklab_core.parse.stored import unpack_document
from chunklab_core.records.documents import Note


def test_many_files_on_all_cores_come_back_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_WORTH_PROCESSES", 0)
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text(f"Room {number} is open.")
    (tmp_path / "3.pdf").write_bytes(b"no PDF")
    folder, listed, _ = list_documents(tmp_path, BUILTINS)
    came = list(parse_files(listed, folder, pdf="pypdf"))

    texts = {
        file.doc_id: unpack_document("", one.payload)[0].text if one.payload else one.reason
        for file, one in zip(listed, came, strict=True)
    }
    assert texts.pop("3.pdf") == Note("not_pdf")
    assert texts == {f"{number}.txt": f"Room {number} is open." for number in range(6)}
