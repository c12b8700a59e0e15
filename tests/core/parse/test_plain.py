from chunklab_core.parse import parse_bytes


def test_plain_text_has_paragraphs_and_no_headings() -> None:
    document = parse_bytes("a.txt", b"\n# One\r\ntwo  \r\n \t\r\n\r\n  Three\n", ".txt")

    assert document.text == "\n# One\ntwo  \n \t\n\n  Three\n"
    assert [document.text[block.span.start : block.span.end] for block in document.elements] == ["# One\ntwo", "Three"]
    assert {(block.kind, block.path, block.level) for block in document.elements} == {("paragraph", (), 0)}
