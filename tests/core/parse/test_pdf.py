import io
import logging
import sys
from collections.abc import Sequence

import pytest
from pypdf import PdfReader, PdfWriter

from chunklab_core.errors import UnreadableDocument
from chunklab_core.parse import parse_bytes
from chunklab_core.parse.pdf import join_broken_words
from chunklab_core.records.documents import Note

Line = tuple[float, str]


def pdf(*pages: Sequence[Line], field: str | None = None, places: bool = True) -> bytes:
    """A PDF of Helvetica lines, each at its height on the page; the sign ~ draws the ligature fi.

    Without `places` its table of objects is missing, which a reader mends by searching for them.
    """
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    form = "/AcroForm << /Fields [90 0 R] >>" if field is not None else ""
    objects = {
        1: f"<< /Type /Catalog /Pages 2 0 R {form} >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        80: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica"
        " /Encoding << /Type /Encoding /Differences [126 /fi] >> >>",
    }
    if field is not None:
        objects[90] = f"<< /FT /Tx /T (Name) /V ({field}) /Subtype /Widget /Rect [0 0 9 9] >>"
    for number, lines in enumerate(pages):
        drawn = "\n".join(f"BT /F 11 Tf 1 0 0 1 72 {height} Tm ({text}) Tj ET" for height, text in lines)
        objects[3 + 2 * number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {4 + 2 * number} 0 R"
            " /Resources << /Font << /F 80 0 R >> >> >>"
        )
        objects[4 + 2 * number] = f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream"
    body, table = b"%PDF-1.4\n", "xref\n0 1\n0000000000 65535 f \n"
    for number, text in sorted(objects.items()):
        table += f"{number} 1\n{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    trailer = f"trailer << /Root 1 0 R /Size 91 >>\nstartxref\n{len(body) if places else 0}\n%%EOF\n"
    return body + (table + trailer if places else trailer).encode()


def locked(data: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_wider_gap_between_lines_is_a_blank_line_and_so_is_a_page_end() -> None:
    page = [
        (700.0, "The office files"),
        (688.0, "~ve forms."),
        (676.0, "Each is free."),
        (652.0, "Late ~lings cost 5 euro."),
    ]
    document = parse_bytes("a.pdf", pdf(page, [(700.0, "Page two.")]), ".pdf")

    assert document.text == "The office files\nfive forms.\nEach is free.\n\nLate filings cost 5 euro.\n\nPage two."
    assert len(document.elements) == 3


def test_a_scan_has_a_warning_with_its_pages() -> None:
    document = parse_bytes("a.pdf", pdf([], []), ".pdf")

    assert (document.text, document.elements) == ("", ())
    assert Note("no_text_layer", {"pages": 2}) in document.warnings


def test_single_pages_without_text_are_named() -> None:
    document = parse_bytes("a.pdf", pdf([(700.0, "One.")], [], [(700.0, "Three.")]), ".pdf")

    assert document.text == "One.\n\nThree."
    assert Note("pages_without_text", {"n_blank": 1, "pages": 3, "blank": [2]}) in document.warnings


def test_a_filled_field_is_read_unless_a_page_draws_it() -> None:
    assert parse_bytes("a.pdf", pdf([(700.0, "Form.")], field="Alice"), ".pdf").text == "Form.\n\nName: Alice"
    assert parse_bytes("a.pdf", pdf([(700.0, "I am Alice.")], field="Alice"), ".pdf").text == "I am Alice."


def test_an_empty_password_opens_and_another_does_not() -> None:
    data = pdf([(700.0, "Open.")])

    assert parse_bytes("a.pdf", locked(data, ""), ".pdf").text == "Open."
    with pytest.raises(UnreadableDocument, match="needs a password"):
        parse_bytes("a.pdf", locked(data, "secret"), ".pdf")


def test_the_remarks_of_pypdf_are_in_the_warnings_and_not_on_the_console(
    capfd: pytest.CaptureFixture[str],
) -> None:
    console = logging.StreamHandler(sys.stderr)
    logging.getLogger().addHandler(console)
    document = parse_bytes("a.pdf", pdf([(700.0, "No table of objects.")], places=False), ".pdf")
    logging.getLogger().removeHandler(console)

    assert document.text == "No table of objects."
    assert {"pypdf_remark", "pypdf_remarks"} & {warning.code for warning in document.warnings}
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("consectetuer adip-\niscing elit", "consectetuer adipiscing elit"),
        ("a soft\u00ad\nware", "a software"),
        ("a two-\nproportion test. A two-proportion test", "a two-proportion test. A two-proportion test"),
        ("a one-to-\nfifteen ratio", "a one-to-fifteen ratio"),
        ("a long-\nterm plan. This term is long", "a long-term plan. This term is long"),
        ("the pro-\ngram. Our program", "the program. Our program"),
        ("long-\nterm and customer-\nfacing. This term is long", "long-term and customer-facing. This term is long"),
        ("the pro-\ngram is use-\nful. Our program", "the program is useful. Our program"),
        ("pages 10-\n12", "pages 10-\n12"),
        ("COVID-\n19", "COVID-\n19"),
        ("Baden-\nBaden", "Baden-\nBaden"),
        ("a -\nb", "a -\nb"),
        ("x1-\nabc", "x1-\nabc"),
    ],
)
def test_a_word_broken_at_a_line_end_is_made_whole_and_a_compound_is_kept(broken: str, whole: str) -> None:
    assert join_broken_words(broken) == whole


def test_the_code_that_draws_a_bullet_is_read_as_one() -> None:
    document = parse_bytes("a.pdf", pdf([(700.0, "\x7f Each is free.")]), ".pdf")

    assert document.text == "\u2022 Each is free."
