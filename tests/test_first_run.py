"""The bundled example: complete, answerable from its own documents, and built from the sources beside it."""

import importlib.util
import re
import zipfile
from pathlib import Path

import pytest

from chunklab_core.inputs.questions import load_questions
from chunklab_core.parse import parse_document
from chunklab_core.text import fold

EXAMPLE = Path(__file__).parents[1] / "examples" / "first_run"
DOCS = EXAMPLE / "docs"
NAMES = ["handbook.md", "minutes.txt", "service_manual.pdf", "tariffs.docx"]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {name: plain(parse_document(DOCS / name, DOCS).text) for name in NAMES}


def plain(text: str) -> str:
    without_outer_pipes = re.sub(r"(?m)^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$", "", text)
    return " ".join(fold(without_outer_pipes).split())


def test_it_has_one_document_in_each_of_four_formats() -> None:
    assert sorted(path.name for path in DOCS.iterdir()) == NAMES


def test_all_25_questions_are_scored_and_some_have_two_slots_or_interchangeable_wordings() -> None:
    questions = load_questions(EXAMPLE / "questions.yaml")

    assert len({question.question_id for question in questions}) == 25
    assert all(question.slots for question in questions)
    assert sum(len(question.slots) > 1 for question in questions) == 3
    assert sum(len(slot) > 1 for question in questions for slot in question.slots) == 4


def test_every_wording_of_the_gold_is_in_exactly_one_document(texts: dict[str, str]) -> None:
    wordings = [w for question in load_questions(EXAMPLE / "questions.yaml") for slot in question.slots for w in slot]
    places = {wording: [name for name, text in texts.items() if plain(wording) in text] for wording in wordings}

    assert {wording: found for wording, found in places.items() if len(found) != 1} == {}
    assert {name for found in places.values() for name in found} == set(NAMES)


def test_the_committed_files_are_what_the_build_script_makes(tmp_path: Path) -> None:
    pytest.importorskip("reportlab", reason="needs the extra 'examples': pip install -e '.[examples]'")
    spec = importlib.util.spec_from_file_location("first_run_build", EXAMPLE / "build.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    script.build(tmp_path)

    assert (tmp_path / "service_manual.pdf").read_bytes() == (DOCS / "service_manual.pdf").read_bytes()
    assert members(tmp_path / "tariffs.docx") == members(DOCS / "tariffs.docx")  # packed bytes depend on zlib


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}
