import io
import zipfile

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from chunklab_core.errors import UnreadableDocument
from chunklab_core.parse import parse_bytes
from chunklab_core.parse.docx_numbering import written
from chunklab_core.records.documents import Document, Note

SPACES = (
    nsdecls("w")
    + ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    + ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def parse(*body: str, parts: dict[str, str] | None = None, styles: str = "") -> Document:
    """A Word document of these body elements, `w:` unbound; `parts` are notes or numbering by name."""
    document = docx.Document()
    for child in list(document.element.body)[:-1]:
        document.element.body.remove(child)
    for number, xml in enumerate(body):
        document.element.body.insert(number, parse_xml(xml.replace(">", f" {SPACES}>", 1)))
    if styles:
        document.styles.element.append(parse_xml(styles.replace(">", f" {SPACES}>", 1)))
    out = io.BytesIO()
    document.save(out)
    return parse_bytes("x.docx", with_parts(out.getvalue(), parts or {}), ".docx")


def with_parts(data: bytes, parts: dict[str, str]) -> bytes:
    """The file with these parts in place of its own, or beside them where it has none of the name."""
    out = io.BytesIO()
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        own = {part for part in parts if f"word/{part}.xml" in old.namelist()}
        links = "".join(
            f'<Relationship Id="x{n}" Type="{kind}/{n}" Target="{n}.xml"/>' for n in sorted(set(parts) - own)
        )
        for name in set(old.namelist()) - {f"word/{part}.xml" for part in own}:
            text = old.read(name)
            if name.endswith("document.xml.rels"):
                text = text.replace(b"</Relationships>", f"{links}</Relationships>".encode())
            new.writestr(name, text)
        for part, xml in parts.items():
            new.writestr(f"word/{part}.xml", f"<w:{part} {SPACES}>{xml}</w:{part}>")
    return out.getvalue()


def p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def headings(document: Document) -> list[tuple[int, str]]:
    return [(element.level, element.path[-1]) for element in document.elements if element.kind == "heading"]


def test_a_heading_is_known_by_style_name_by_outline_level_or_by_the_style_it_is_based_on() -> None:
    document = parse(
        p("By id", '<w:pStyle w:val="Heading2"/>'),
        p("By base", '<w:pStyle w:val="Eigene"/>'),
        p("By level", '<w:outlineLvl w:val="2"/>'),
        p("Body text", '<w:outlineLvl w:val="9"/>'),
        p("Below"),
        styles='<w:style w:type="paragraph" w:styleId="Eigene">'
        '<w:name w:val="Eigene"/><w:basedOn w:val="Heading1"/></w:style>',
    )

    assert headings(document) == [(2, "By id"), (1, "By base"), (3, "By level")]
    assert document.text == "## By id\n\n# By base\n\n### By level\n\nBody text\n\nBelow"
    assert document.elements[-1].path == ("By base", "By level")


def test_changes_are_accepted() -> None:
    document = parse(
        f'<w:p>{run("Pay ")}<w:del w:id="1"><w:r><w:delText>five</w:delText></w:r></w:del>'
        f'<w:ins w:id="2">{run("ten")}</w:ins></w:p>',
        f'<w:p><w:moveFrom w:id="3">{run("Moved.")}</w:moveFrom></w:p>',
        p("One ", '<w:rPr><w:del w:id="4"/></w:rPr>'),
        p("paragraph now."),
        f'<w:p><w:moveTo w:id="5">{run("Moved.")}</w:moveTo></w:p>',
        table(row(cell(p("kept"))), row(cell(p("gone")), properties='<w:del w:id="6"/>')),
        p("The end", '<w:rPr><w:del w:id="7"/></w:rPr>'),
    )

    assert document.text == "Pay ten\n\nOne paragraph now.\n\nMoved.\n\n| kept |\n| --- |\n\nThe end"


def test_links_tabs_breaks_fields_and_controls_show_their_words() -> None:
    document = parse(
        f"<w:p><w:hyperlink>{run('a link')}</w:hyperlink>"
        "<w:r><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>",
        f"<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:fldSimple>{run('7')}</w:fldSimple></w:p>",
        f"<w:sdt><w:sdtContent>{p('in a control')}</w:sdtContent></w:sdt>",
        f"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>{run('seen')}</w:p>",
        "<w:p><m:oMath><m:r><m:t>x=2</m:t></m:r></m:oMath></w:p>",
        '<w:p><w:r><w:sym w:font="Symbol" w:char="F0B7"/><w:sym w:font="Arial" w:char="2192"/></w:r></w:p>',
    )

    assert document.text == "a link\tb\nc-d\n\n7\n\nin a control\n\nseen\n\nx=2\n\n\u2192"


def test_a_text_box_stands_once_after_its_paragraph_and_opens_no_path() -> None:
    heading = p("Boxed.", '<w:outlineLvl w:val="0"/>')
    box = f"<w:txbxContent>{heading}</w:txbxContent>"
    alternatives = (
        f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    document = parse(f"<w:p><w:r>{alternatives}</w:r>{run('Anchor')}</w:p>", p("Next"))

    assert document.text == "Anchor\n\nBoxed.\n\nNext"
    assert headings(document) == []


def test_notes_follow_the_paragraph_that_refers_to_them() -> None:
    def refer(kind: str, number: int) -> str:
        return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'

    document = parse(
        f"<w:p>{run('First')}{refer('footnote', 1)}{run('.')}{refer('endnote', 1)}</w:p>",
        f"<w:p>{run('Second.')}{refer('footnote', 1)}</w:p>",
        table(row(cell(f"<w:p>{run('Cell')}{refer('footnote', 2)}</w:p>"))),
        parts={
            "footnotes": f'<w:footnote w:id="0" w:type="separator">{p("no")}</w:footnote>'
            f'<w:footnote w:id="1">{p("A foot.")}</w:footnote><w:footnote w:id="2">{p("Its foot.")}</w:footnote>',
            "endnotes": f'<w:endnote w:id="1">{p("An end.")}</w:endnote>',
        },
    )

    assert document.text == "First.\n\nA foot.\n\nAn end.\n\nSecond.\n\n| Cell |\n| --- |\n\nIts foot."


def test_a_merged_cell_is_written_once_and_columns_keep_their_place() -> None:
    document = parse(
        table(
            row(cell(p("plan"), '<w:gridSpan w:val="3"/>')),
            row(cell(p("Mon"), '<w:vMerge w:val="restart"/>'), cell(p("a|b")), cell(p("two") + p("lines"))),
            row(cell(p(""), "<w:vMerge/>"), cell(p("c")), cell(p("d"))),
            row(cell(p("late")), properties='<w:gridBefore w:val="1"/>'),
        )
    )

    assert document.text.split("\n") == [
        "| plan |  |  |",
        "| --- | --- | --- |",
        "| Mon | a\\|b | two lines |",
        "|  | c | d |",
        "|  | late |  |",
    ]
    assert [(element.kind, element.span.end) for element in document.elements] == [("table", len(document.text))]


def test_a_table_inside_a_cell_stays_in_its_row_and_an_empty_table_is_none() -> None:
    inner = table(row(cell(p("e")), cell(p("f"))), row(cell(p("g|t")), cell(p("h"))))
    document = parse(table(row(cell(p("d")), cell(inner + p("")), cell(p("i")))), table(row(cell(p("")))), p("after"))

    assert document.text == "| d | e f g\\|t h | i |\n| --- | --- | --- |\n\nafter"


def test_list_items_bear_what_the_page_draws_and_are_one_block() -> None:
    def item(text: str, number: int, level: int = 0) -> str:
        return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')

    def level(number: int, style: str, pattern: str) -> str:
        kind = f'<w:numFmt w:val="{style}"/><w:lvlText w:val="{pattern}"/>'
        return f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/>{kind}</w:lvl>'

    counted = level(0, "decimal", "%1.") + level(1, "lowerLetter", "%1.%2)")
    numbering = f"""
        <w:abstractNum w:abstractNumId="4">{counted}</w:abstractNum>
        <w:abstractNum w:abstractNumId="5">{level(0, "bullet", "o")}</w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="4"/></w:num>
        <w:num w:numId="2"><w:abstractNumId w:val="4"/>
            <w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
        <w:num w:numId="3"><w:abstractNumId w:val="5"/></w:num>"""
    items = [item("open", 1), item("turn", 1, 1), item("wait", 1, 1), item("close", 1), item("oil", 1, 1)]
    scope = p("Scope", '<w:outlineLvl w:val="0"/><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>')
    more = [p("Text"), item("go on", 1), item("anew", 2), item("dot", 3), scope, item("not in a list", 0)]
    document = parse(*items, *more, parts={"numbering": numbering})

    assert document.text == (
        "1. open\n  1.a) turn\n  1.b) wait\n2. close\n  2.a) oil\n\nText\n\n3. go on\n1. anew\n- dot\n\n"
        "# 1.a) Scope\n\nnot in a list"
    )
    assert [element.kind for element in document.elements] == ["list", "paragraph", "list", "heading", "paragraph"]


@pytest.mark.parametrize(
    ("count", "style", "expected"),
    [
        (4, "lowerRoman", "iv"),
        (1999, "upperRoman", "MCMXCIX"),
        (28, "upperLetter", "BB"),
        (3, "decimalZero", "03"),
        (3, "none", ""),
        (0, "lowerLetter", "0"),
    ],
)
def test_counts_are_written_in_the_style_of_the_list(count: int, style: str, expected: str) -> None:
    assert written(count, style) == expected


def test_a_document_without_text_has_a_warning() -> None:
    assert parse(p("")) == Document("x.docx", "", (), (Note("no_text"),))


def test_an_old_or_locked_file_says_what_to_do() -> None:
    with pytest.raises(UnreadableDocument, match=r"needs a password, or is an old \.doc file; save it as \.docx"):
        parse_bytes("x.docx", bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 512, ".docx")


def test_a_zip_of_something_else_is_no_document() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("notes.txt", "words")

    with pytest.raises(UnreadableDocument, match="is not a DOCX file, or is damaged"):
        parse_bytes("x.docx", out.getvalue(), ".docx")
