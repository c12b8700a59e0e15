import json
from dataclasses import asdict

from chunklab_core.records.questions import Gold, Question, gold_from_mapping


def test_gold_is_the_part_of_a_question_that_scoring_needs_and_comes_back_from_json() -> None:
    question = Question("a", "Why?", (("x", "y"), ("z",)), ("short",), ("a.md",), reviewed=True)

    assert question.gold == Gold("a", (("x", "y"), ("z",)), ("a.md",))
    assert gold_from_mapping(json.loads(json.dumps(asdict(question.gold)))) == question.gold
