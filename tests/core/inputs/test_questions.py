import unicodedata
from pathlib import Path

import pytest

from chunklab_core.errors import ConfigError
from chunklab_core.inputs.questions import load_questions, questions_from_text
from chunklab_core.records.questions import Question

SHARED = Path(__file__).parents[3] / ".." / "shared"


def one(body: str) -> Question:
    return questions_from_text(f"questions:\n- id: a\n  query: Why?\n  gold_snippets: [x]\n{body}", "q.yaml")[-1]


def test_every_field_is_read() -> None:
    questions = questions_from_text(
        """
questions:
  - id: refund
    query: How long do refunds take?
    gold_snippets:
      - five days
      - - no cash
        - vouchers only
    tags: [short, 2024]
    documents: [fees/refunds.md]
    reviewed: true
  - id: open
    query: Why?
""",
        "q.yaml",
    )

    assert questions == (
        Question(
            "refund",
            "How long do refunds take?",
            (("five days",), ("no cash", "vouchers only")),
            ("short", "2024"),
            ("fees/refunds.md",),
            reviewed=True,
        ),
        Question("open", "Why?", ()),
    )


@pytest.mark.parametrize("typed", ["0123", "1.0e+3", "2026-03-01", "yes", "007", "12:30", "1_000", "0x1F", "-5", ".5"])
def test_ids_queries_and_gold_stay_as_typed(typed: str) -> None:
    question = one(f"- id: {typed}\n  query: {typed}\n  gold_snippets: [{typed}]\n")

    assert (question.question_id, question.query, question.slots) == (typed, typed, ((typed,),))


def test_texts_are_nfc_with_plain_line_ends_and_ids_stay_as_typed() -> None:
    decomposed = unicodedata.normalize("NFD", "café")
    question = one(f'- id: {decomposed}\n  query: {decomposed}\n  gold_snippets: ["{decomposed}\\r\\nau lait"]\n')

    assert question == Question(decomposed, "café", (("café\nau lait",),))


@pytest.mark.parametrize("gold", ["", "  gold_snippets: []\n", "  gold_snippets:\n", "  gold_snippets: null\n"])
def test_a_question_without_gold_is_kept_without_slots(gold: str) -> None:
    assert one(f"- id: b\n  query: How?\n{gold}").slots == ()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("- id: b\n  query: How?\n  gold_snippets: [x, '']\n",
         r'^q\.yaml, question 2 \("b"\), line 7: slot 2 of gold_snippets is empty\. '
         r"Each slot needs at least one passage; write the passage, or remove the slot\.$"),
        ("- id: b\n  query: How?\n  gold_snippets:\n  - \n", 
         r'question 2 \("b"\), line 8: slot 1 of gold_snippets is empty'),
        ("- id: b\n  query: How?\n  gold_snippets: [[]]\n", r"slot 1 of gold_snippets is empty"),
        ("- id: b\n  query: How?\n  gold_snippets: [[x, ' ']]\n", r"wording 2 of slot 1 of gold_snippets is empty"),
        ("- id: b\n  query: How?\n  gold_snippets: ['\u200b']\n", r"slot 1 of gold_snippets is empty"),
        ("- id: b\n  query: How?\n  gold_snippets: ['|']\n", r"slot 1 of gold_snippets is empty"),
        ("- id: b\n  query: How?\n  gold_snippets: [[[x]]]\n", 
         r"wording 1 of slot 1 of gold_snippets is a list, not text"),
        ("- id: b\n  query: How?\n  gold_snippets:\n  - Note: five days\n", 
         r"slot 1 .* is a mapping, not text\. .*quotes"),
        ("- id: b\n  query: How?\n  gold_snippets: five days\n", 
         r"gold_snippets is one text, not a list\. .*dash"),
        ("- id: b\n  query: How?\n  gold_snippets: [NULL]\n", r"slot 1 of gold_snippets is NULL\. .*quotes"),
        ("- id: b\n  query: ' '\n", r'line 6: query is empty\. Write its text'),
        ("- id: b\n  query:\n", r"line 6: query is empty"),
        ("- id: b\n  query: null\n", r"query is null\. .*quotes"),
        ("- id: b\n  query: [a]\n", r"query is a list, not text"),
        ("- id: b\n", r'question 2 \("b"\), line 5: query is missing'),
        ("- query: How?\n", r"question 2, line 5: id is missing"),
        ("- id: ''\n  query: How?\n", r"question 2, line 5: id is empty"),
        ("- id: b\n  query: Is rule #5 valid?\n", 
         r'question 2 \("b"\), line 6: YAML reads the text after .Is rule. as a comment'),
        ("- id: b\n  query: &c is a sign\n", r"line 6: YAML reads .&c. as a name .* & in quotes"),
        ("- id: b\n  query: How?\n  gold_snippets: [at 1,000 units]\n",
         r"slot 1 of gold_snippets ends at a comma inside a number\. Put the whole text in quotes"),
        ("- id: b\n  query: !!int 5\n", r'question 2 \("b"\), line 6: unsupported tag'),
        ("- id: a\n  query: How?\n", r'question 2 \("a"\), line 5: question 1 on line 2 has the same id'),
        ("- id: b\n  query: How?\n  query: When?\n", 
         r'question 2 \("b"\), line 7: the key .query. is written twice, first on line 6'),
        ("- id: b\n  querry: How?\n", 
         r'question 2 \("b"\), line 6: unknown key .querry.; did you mean .query.\?'),
        ("- id: b\n  query: How?\n  principals: [x]\n", r"principals is not available yet"),
        ("- id: b\n  query: How?\n  query_variants: [x]\n", r"query_variants is not available yet"),
        ("- id: b\n  query: How?\n  tags: short\n", r"tags is one text, not a list"),
        ("- id: b\n  query: How?\n  documents: ['']\n", r"entry 1 of documents is empty"),
        ("- id: b\n  query: How?\n  reviewed: yes\n", r"reviewed is 'yes'\. Write true or false"),
        ("- just text\n", r"question 2, line 5: the question is one text"),
    ],
)  # fmt: skip
def test_an_unusable_question_is_named_in_one_line(body: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        one(body)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"^q\.yaml has no questions\. Write `questions:`"),
        ("questions:\n", r"has no questions"),
        ("questions: []\n", r"has no questions"),
        ("questions: {a: b}\n", r"line 1: `questions` is a mapping, not a list"),
        ("- id: a\n", r"line 1: the file does not begin with `questions:`"),
        ("question: []\n", r"line 1: unknown key 'question'"),
        ("questions: [{id: a, query: b}]\n", r"no question has gold_snippets, so nothing can be scored"),
        ("questions:\n- id: a\n  query: Fee: none?\n", r"^q\.yaml, line 3: this is not valid YAML .* quotes"),
    ],
)
def test_a_file_without_usable_questions_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        questions_from_text(text, "q.yaml")


def test_an_escape_sequence_in_an_id_never_reaches_a_message() -> None:
    with pytest.raises(ConfigError) as caught:
        one('- id: "\\e[31mred"\n  query: ""\n')

    assert "\x1b" not in str(caught.value)


def test_json_is_yaml_too() -> None:
    text = '{"questions": [{"id": "a", "query": "Why?", "gold_snippets": ["x: y"]}]}'

    assert questions_from_text(text) == (Question("a", "Why?", (("x: y",),)),)


@pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="the shared cases are not beside this checkout")
def test_reported_faults_of_yaml_files_do_not_happen_here() -> None:
    files = SHARED / "cases" / "files"

    with pytest.raises(ConfigError, match=r"line 4: the key 'query' is written twice"):
        load_questions(files / "duplicate_key.yaml")
    assert [question.question_id for question in load_questions(files / "typed_ids.yaml")] == [
        "0123", "1.0e+3", "2026-03-01",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("corpus", "n_questions"), [("chunklab_example", 129), ("chroma", 472), ("qasper", 44), ("privacy_qa", 194)]
)
def test_public_question_files_are_read_completely(corpus: str, n_questions: int) -> None:
    path = SHARED / "benchmarks" / corpus / "questions.yaml"
    if not path.is_file():
        pytest.skip("the shared benchmarks are not beside this checkout")

    questions = load_questions(path)

    assert len(questions) == n_questions
    assert all(question.slots for question in questions)


def test_names_of_documents_are_composed_as_ids_are() -> None:
    text = "questions:\n- id: a\n  query: Where?\n  gold_snippets: [Here.]\n  documents: [cafe\u0301.md]\n"

    assert questions_from_text(text)[0].documents == ("caf\u00e9.md",)
