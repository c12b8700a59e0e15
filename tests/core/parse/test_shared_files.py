"""What the readers make of files that others wrote: right values come from the files' own descriptions."""

import json
import re
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml

from chunklab_core.errors import UnreadableDocument
from chunklab_core.parse import BUILTINS, parse_bytes, parse_document
from chunklab_core.records.documents import Document

SHARED = Path(__file__).parents[3] / ".." / "shared"
pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the folder ../shared, which is not part of the project"
)

FILES: dict[str, Any] = json.loads((SHARED / "files/expect.json").read_text()) if SHARED.is_dir() else {}
CASES: dict[str, Any] = (
    {case["id"]: case for case in yaml.safe_load((SHARED / "cases/cases.yaml").read_text())} if SHARED.is_dir() else {}
)
EXAMPLE = SHARED / "benchmarks/chunklab_example"


def flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def folded(text: str) -> str:
    return flat(re.sub(r"(?m)^\s*\||\|\s*$", " ", text.strip())).casefold()


def headings(document: Document) -> list[list[object]]:
    return [[element.level, element.path[-1]] for element in document.elements if element.kind == "heading"]


@pytest.mark.parametrize("name", [name for name in FILES if Path(name).suffix in BUILTINS])
def test_a_messy_file_is_read_or_refused_as_it_should_be(name: str) -> None:
    expected = FILES[name]
    if expected.get("error"):
        with pytest.raises(UnreadableDocument):
            parse_document(SHARED / "files" / name)
        return
    document = parse_document(SHARED / "files" / name)
    covered = {at for element in document.elements for at in range(element.span.start, element.span.end)}

    assert [words for words in expected["contains"] if flat(words) not in flat(document.text)] == []
    assert [words for words in expected["absent"] if words in document.text] == []
    assert any(warning.code.startswith("no_text") for warning in document.warnings) == bool(expected.get("no_text"))
    assert all(character.isspace() or at in covered for at, character in enumerate(document.text))


def test_every_gold_passage_of_the_example_stands_in_a_parsed_document() -> None:
    texts = [folded(parse_document(path).text) for path in sorted((EXAMPLE / "docs").iterdir())]
    questions = yaml.safe_load((EXAMPLE / "questions.yaml").read_text())["questions"]
    slots = [slot for question in questions for slot in question["gold_snippets"]]

    assert len(slots) == 134
    assert [slot for slot in slots if not any(folded(slot) in text for text in texts)] == []


@pytest.mark.parametrize("case", ["C05", "C06"])
def test_markdown_headings_and_paths_of_the_cases(case: str) -> None:
    document = parse_bytes("case.md", CASES[case]["input"]["text"].encode(), ".md")
    expected = CASES[case]["expect"]

    assert headings(document) == expected["headings"]
    for words, path in expected["path_of"].items():
        at = document.text.index(words)
        assert [list(e.path) for e in document.elements if e.span.start <= at < e.span.end] == [path]


def test_the_table_of_the_case_is_one_element_of_all_its_rows() -> None:
    document = parse_document(SHARED / "cases/files/torque.md")
    tables = [e for e in document.elements if e.kind == "table"]

    assert len(tables) == CASES["C07"]["expect"]["tables_found"]
    assert document.text[tables[0].span.start : tables[0].span.end].count("\n") == 61


def test_the_pdf_case_reads_ligatures_as_letters_and_says_what_is_a_scan() -> None:
    text = parse_document(SHARED / "cases/files/ligatures.pdf").text

    assert all(flat(gold) in " ".join(text.split()) for gold in CASES["C19"]["input"]["gold"])
    assert parse_document(SHARED / "cases/files/scan_only.pdf").warnings[0].code == "no_text_layer"


def test_the_docx_case_shows_everything_once_and_in_order() -> None:
    document = parse_document(SHARED / "cases/files/merged_and_box.docx")
    expected = CASES["C20"]["expect"]
    places = [document.text.index(words) for words in expected["order"]]

    assert {words: document.text.count(words) for words in expected["count_in_text"]} == expected["count_in_text"]
    assert headings(document) == expected["headings"]
    assert sum(element.kind == "table" for element in document.elements) == expected["tables_found"]
    assert places == sorted(places)


def test_the_utf16_case_is_what_an_editor_shows() -> None:
    document = parse_document(SHARED / "cases/files/notes_utf16.txt")

    assert document.text.strip() == CASES["C21"]["expect"]["notes_utf16.txt"]["text"].strip()


@pytest.mark.parametrize(
    ("name", "most"),
    [("files/commonmark_spec.md", 3.0), ("files/one_line_99k.txt", 1.0), ("benchmarks/chroma/docs/finance.md", 3.0)],
)
def test_a_large_file_takes_little_time(name: str, most: float) -> None:
    began = time.process_time()
    document = parse_document(SHARED / name)

    assert time.process_time() - began < most
    assert document.elements


def test_the_merged_and_nested_tables_are_laid_out_as_the_page_shows_them() -> None:
    nested = parse_document(SHARED / "files/nested_and_merged_tables.docx").text

    assert "| d | e f g&t h | i |" in nested
    assert "| a | b |  |\n| --- | --- | --- |\n|  | c | d |\n| e |  |  |" in nested


def test_a_long_specification_has_only_its_own_headings() -> None:
    document = parse_document(SHARED / "files/commonmark_spec.md")

    assert document.text.startswith("# Introduction")
    assert headings(document)[:3] == [[1, "Introduction"], [2, "What is Markdown?"], [2, "Why is a spec needed?"]]
    assert not any("foo" in title for _, title in headings(document))
