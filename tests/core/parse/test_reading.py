import pytest

from chunklab_core import parse as room
from chunklab_core.errors import ContractError
from chunklab_core.records.documents import Document, Element, Span


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
