"""Makes the PDF and the DOCX of the example from the text files in `source/`.

Why: a binary file cannot be reviewed or corrected, its source can. Dates and ids are fixed and the PDF is not
compressed, so a second run writes the same bytes.

Run it with `python examples/first_run/build.py` after `pip install 'chunklab-flows[examples]'`.

The sources know four forms of block, separated by blank lines: `#` headings, paragraphs, `- ` lists, and tables
with one `| a | b |` line per row, in which `<` joins a cell to the one on its left and `^` to the one above.
"""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
DATE = datetime(2025, 4, 1)
ORGANISATION = "Wherrygate Cargo Bike Co-operative"


class Block(NamedTuple):
    """One block of a source: `kind` is heading, paragraph, list or table; `level` counts for headings only."""

    kind: str
    lines: list[str]
    level: int = 0


def read_blocks(path: Path) -> list[Block]:
    """The blocks of one source, in order, without their marks."""
    return [_block(part.splitlines()) for part in path.read_text(encoding="utf-8").split("\n\n") if part.strip()]


def _block(lines: list[str]) -> Block:
    first = lines[0]
    if first.startswith("#"):
        title = first.lstrip("#")
        return Block("heading", [title.strip()], len(first) - len(title))
    if first.startswith("- "):
        return Block("list", [line.removeprefix("- ") for line in lines])
    return Block("table" if first.startswith("|") else "paragraph", lines)


def build(folder: Path) -> None:
    """Writes `service_manual.pdf` and `tariffs.docx` into a folder that exists."""
    (folder / "service_manual.pdf").write_bytes(pdf_bytes(read_blocks(HERE / "source" / "service_manual.txt")))
    (folder / "tariffs.docx").write_bytes(docx_bytes(read_blocks(HERE / "source" / "tariffs.txt")))


# ---------------------------------------------------------------- PDF


def pdf_bytes(blocks: list[Block]) -> bytes:
    """A text-layer PDF on A4, with a footer on each page; a table is no part of it."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import SimpleDocTemplate

    target = io.BytesIO()
    document = SimpleDocTemplate(
        target,
        pagesize=A4,
        title=blocks[0].lines[0],
        author=ORGANISATION,
        invariant=1,
        pageCompression=0,  # two versions of zlib would not write the same bytes
    )
    styles = getSampleStyleSheet()
    document.afterPage = lambda: _footer(document.canv)  # last on its page, for a reader of the raw text as well
    document.build([flowable for block in blocks for flowable in _flowables(block, styles)])
    return target.getvalue()


def _flowables(block: Block, styles: Any) -> list[Any]:
    from reportlab.platypus import Paragraph

    if block.kind == "table":
        raise ValueError(f"a table stands in the source of the PDF ({block.lines[0]!r}); write it as text.")
    if block.kind == "heading":
        heading = Paragraph(escape(block.lines[0]), styles[f"Heading{block.level}"])
        heading.keepWithNext = True
        return [heading]
    bullet = "-" if block.kind == "list" else None
    return [Paragraph(escape(line), styles["BodyText"], bulletText=bullet) for line in block.lines]


def _footer(canvas: Any) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(72, 40, f"Service manual, edition 4 - page {canvas.getPageNumber()}")


# ---------------------------------------------------------------- DOCX


def docx_bytes(blocks: list[Block]) -> bytes:
    """A Word file with heading styles, list styles and tables with merged cells."""
    from docx import Document

    document = Document()
    properties = document.core_properties
    properties.title, properties.author, properties.comments = blocks[0].lines[0], ORGANISATION, ""
    properties.created = properties.modified = DATE
    for block in blocks:
        if block.kind == "heading":
            document.add_heading(block.lines[0], block.level)
        elif block.kind == "table":
            _add_table(document, block.lines)
        else:
            style = "List Bullet" if block.kind == "list" else None
            for line in block.lines:
                document.add_paragraph(line, style)
    target = io.BytesIO()
    document.save(target)
    return _with_fixed_dates(target.getvalue())


def _add_table(document: Any, lines: list[str]) -> None:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    table = document.add_table(len(rows), len(rows[0]), style="Table Grid")
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            cell = table.cell(row, column)
            if text == "<":
                cell.merge(table.cell(row, column - 1))
            elif text == "^":
                cell.merge(table.cell(row - 1, column))
            else:
                cell.text = text


def _with_fixed_dates(packed: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for name in source.namelist():
            made.writestr(zipfile.ZipInfo(name, DATE.timetuple()[:6]), source.read(name), zipfile.ZIP_DEFLATED)
    return target.getvalue()


if __name__ == "__main__":
    build(HERE / "docs")
