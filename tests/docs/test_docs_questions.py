"""docs/questions.md: its question file is valid, and its examples of matching are right."""

from dataclasses import fields

import pytest
import yaml
from pages import ROOT, blocks, read, tables

from chunklab_core.inputs.questions import questions_from_text
from chunklab_core.records.questions import Question
from chunklab_core.score.gold import contains

PAGE = ROOT / "docs" / "questions.md"
EXAMPLES = [example for body in blocks(PAGE, "yaml") if body.startswith("- gold") for example in yaml.safe_load(body)]


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{each['gold'][:20]}-{each['found']}" for each in EXAMPLES])
def test_the_snippet_is_found_or_not_as_the_page_says(example: dict[str, object]) -> None:
    assert contains(str(example["gold"]), str(example["chunk"])) is example["found"]


def test_the_page_shows_both_outcomes() -> None:
    assert [example["found"] for example in EXAMPLES].count(True) >= 5
    assert [example["found"] for example in EXAMPLES].count(False) >= 5


def test_the_question_file_has_the_slots_that_the_page_counts() -> None:
    (file,) = [body for body in blocks(PAGE, "yaml") if body.startswith("questions:")]
    refund, cancel = questions_from_text(file)

    assert [len(slot) for slot in refund.slots] == [1]
    assert [len(slot) for slot in cancel.slots] == [1, 2]
    assert cancel.documents == ("terms.md",)
    assert cancel.reviewed


def test_the_table_names_every_key() -> None:
    (keys,) = tables(read(PAGE))
    ours = {"question_id": "id", "slots": "gold_snippets"}

    assert {row[0].strip("`") for row in keys[1:]} == {ours.get(f.name, f.name) for f in fields(Question)}
