from pathlib import Path

import pytest

from chunklab_core import pipeline
from chunklab_core.cache.store import Store
from chunklab_core.parse.stored import pack_document, unpack_document
from chunklab_core.records.documents import Document
from chunklab_core.stages import documents
from chunklab_core.stages.documents import stored_documents

TEXTS = {"one.txt": "The gate is green.", "two.txt": "The wall is red."}
SETTINGS = {"retrieval": {"mode": "bm25"}, "strategies": [{"name": "fixed"}, {"name": "recursive"}]}


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The payloads that are unpacked, in a process that remembers no document."""
    payloads: list[bytes] = []

    def counted(doc_id: str, payload: bytes) -> tuple[Document, int]:
        payloads.append(payload)
        return unpack_document(doc_id, payload)

    documents._memory.cache_clear()
    monkeypatch.setattr(documents, "unpack_document", counted)
    return payloads


def test_a_run_unpacks_each_document_once_however_many_strategies_it_compares(
    tmp_path: Path, unpacked: list[bytes]
) -> None:
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).write_text(text)
    (tmp_path / "questions.yaml").write_text(
        "questions: [{id: gate, query: Which gate?, gold_snippets: [The gate is green]}]"
    )
    pipeline.evaluate(tmp_path / "docs", tmp_path / "questions.yaml", SETTINGS, cache=tmp_path / "cache")

    assert len(unpacked) == len(TEXTS)


def test_documents_of_equal_content_keep_their_own_ids(tmp_path: Path, unpacked: list[bytes]) -> None:
    store, key = Store(tmp_path), b"\1" * 32
    store.put_items("parse", {key: pack_document(Document("", "Same text."), 3)})
    read = list(stored_documents(store, ["a.txt", "b.txt"], [key, key]))

    assert [(document.doc_id, document.text, n_tokens) for document, n_tokens in read] == [
        ("a.txt", "Same text.", 3),
        ("b.txt", "Same text.", 3),
    ]
    assert len(unpacked) == 1


def test_documents_beyond_the_bound_are_forgotten_oldest_first(
    tmp_path: Path, unpacked: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_KEPT_CHARACTERS", 10)
    store, keys = Store(tmp_path), [bytes([number]) * 32 for number in range(3)]
    store.put_items("parse", {key: pack_document(Document("", "x" * 4), 1) for key in keys})
    for key in [*keys, keys[2], keys[0]]:
        list(stored_documents(store, ["a.txt"], [key]))

    assert len(unpacked) == 4  # the third was known, the first had to go
