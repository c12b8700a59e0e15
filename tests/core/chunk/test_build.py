import pytest
from worlds import laid_out

from chunklab_core.chunk import chunk_document, default_params, make_chunker
from chunklab_core.errors import ConfigError, ContractError
from chunklab_core.records.chunks import Cut
from chunklab_core.records.documents import Document, Span

PLUGIN = """
from dataclasses import dataclass
from chunklab_core.records import Span

@dataclass(frozen=True)
class ByHalf:
    at: int = 4
    def __call__(self, document):
        return [Span(0, self.at), Span(self.at, len(document.text))]

def first_word(document):
    return [Span(0, document.text.index(" "))]
"""


def test_a_class_of_the_users_own_cuts_by_its_file_name(tmp_path) -> None:
    (tmp_path / "halves.py").write_text(PLUGIN)
    chunker = make_chunker("halves.py:ByHalf", base=tmp_path, at=3)
    assert [chunk.body for chunk in chunk_document(Document("d", "abcdef"), chunker)] == ["abc", "def"]
    assert default_params("halves.py:ByHalf", base=tmp_path) == {"at": 4}
    with pytest.raises(ConfigError, match=r"has no parameter 'size'\. Known: at\."):
        make_chunker("halves.py:ByHalf", base=tmp_path, size=3)


def test_a_users_own_chunker_that_lacks_a_parameter_is_refused(tmp_path) -> None:
    (tmp_path / "needs.py").write_text("class Needs:\n    def __init__(self, size):\n        self.size = size\n")
    with pytest.raises(ConfigError, match=r"needs\.py:Needs cannot be made from its parameters: .*'size'"):
        make_chunker("needs.py:Needs", base=tmp_path)


def test_a_users_own_chunker_may_leave_text_out(tmp_path) -> None:
    (tmp_path / "halves.py").write_text(PLUGIN)
    chunks = chunk_document(Document("d", "one two"), make_chunker("halves.py:first_word", base=tmp_path))
    assert [chunk.body for chunk in chunks] == ["one"]


@pytest.mark.parametrize(
    ("cuts", "problem"),
    [
        ([Span(0, 9)], "is blank or outside its 8 characters"),
        ([Span(3, 3)], "is blank or outside"),
        ([Span(3, 5)], "is blank or outside"),
        ([Span(-1, 2)], "is blank or outside"),
        ([Span(5, 8), Span(0, 3)], "does not move on from 5:8"),
        ([Span(0, 8), Span(1, 3)], "does not move on from 0:8"),
        ([Span(0, 3), Span(0, 8)], "does not move on from 0:3"),
        ([Cut(Span(0, 3), (Span(7, 12),))], "has a header outside its document"),
    ],
)
def test_cuts_that_break_the_laws_are_refused(cuts: list[Span | Cut], problem: str) -> None:
    with pytest.raises(ContractError) as caught:
        chunk_document(Document("d", "one  two"), lambda document: cuts)
    assert problem in str(caught.value)
    assert "'d'" in str(caught.value)


def test_a_declared_maximum_and_a_path_are_honoured_for_plugins_too() -> None:
    class Whole:
        max_tokens = 6
        heading_path = True

        def __call__(self, document: Document) -> list[Span]:
            return [Span(0, len(document.text))]

    document = laid_out("Pay now.")
    paths = [("One", "Two"), ("One", "Two", "A longer title than fits")]
    shown = []
    for path in paths:
        element = type(document.elements[0])("paragraph", Span(0, 8), path)
        shown.append(chunk_document(Document("d", document.text, (element,)), Whole())[0].prefix)
    assert shown == ["Two", ""]  # "One > Two" and its line end would be 4 tokens beside the body's 3
