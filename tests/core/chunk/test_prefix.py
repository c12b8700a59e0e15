import pytest
from worlds import laid_out

from chunklab_core.chunk import chunk_document
from chunklab_core.chunk.prefix import Paths, common, cost, path_shortened, render, shorten
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Span
from chunklab_core.tokens import count_tokens

TEXT = "Lead.\n\n# Pump\n\n## Start\n\nOpen.\n\n## Stop\n\nClose."
PUMP = laid_out(TEXT)


@pytest.mark.parametrize(
    ("first", "last", "path"),
    [
        ("## Start", "Open.", ("Pump", "Start")),  # a body that begins with its heading bears it all the same
        ("Open.", "Open.", ("Pump", "Start")),
        ("Open.", "Close.", ("Pump",)),
        ("Lead.", "Open.", ()),
        ("# Pump", "# Pump", ("Pump",)),
        ("# Pump", "## Start", ("Pump",)),  # headings count where there is nothing else
        ("Open.", "## Stop", ("Pump", "Start")),
    ],
)
def test_a_chunk_bears_the_path_that_all_its_content_shares(first: str, last: str, path: tuple[str, ...]) -> None:
    assert Paths(PUMP).of(Span(TEXT.index(first), TEXT.index(last) + len(last))) == path


def test_the_common_path_of_nothing_is_empty() -> None:
    assert [common([]), common([("a", "b")]), common([("a", "b"), ("a", "c")]), common([("a",), ("b",)])] == [
        (),
        ("a", "b"),
        ("a",),
        (),
    ]


def test_the_path_stands_on_one_line_before_the_header_rows() -> None:
    assert render(("Pump", "Start\nup", ""), "| a |\n|---|") == "Pump > Start up\n| a |\n|---|"
    assert render(()) == ""


def test_outermost_parts_go_first() -> None:
    path = ("One", "Two", "Three")
    whole = cost(render(path))
    assert whole == count_tokens("One > Two > Three\n")
    assert [shorten(path, whole), shorten(path, whole - 1), shorten(path, 2), shorten(path, 1)] == [
        path,
        ("Two", "Three"),
        ("Three",),
        (),
    ]


def test_a_prefix_of_less_than_the_path_is_called_shortened() -> None:
    span = Span(TEXT.index("Open."), TEXT.index("Open.") + 5)
    chunks = [
        Chunk("d#0", "d", span, "Open.", prefix, 1) for prefix in ("Pump > Start", "Pump > Start\n| a |", "Start", "")
    ]
    assert [path_shortened(PUMP, chunk) for chunk in chunks] == [False, False, True, True]
    lead = Chunk("d#0", "d", Span(0, 5), "Lead.", "", 1)
    assert not path_shortened(PUMP, lead)


def test_the_prefix_is_counted_with_the_body() -> None:
    class Halves:
        heading_path = True

        def __call__(self, document: object) -> list[Span]:
            return [Span(0, 27), Span(27, len(TEXT))]

    for chunk in chunk_document(PUMP, Halves()):
        assert chunk.text == (f"{chunk.prefix}\n{chunk.body}" if chunk.prefix else chunk.body)
        assert chunk.n_tokens == count_tokens(chunk.text)
