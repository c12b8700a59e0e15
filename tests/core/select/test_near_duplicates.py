"""Near-duplicate questions: what is one question, what is not, and that a set of rewordings counts its facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.inputs.questions import load_questions
from chunklab_core.records.questions import Question
from chunklab_core.select import select_winner
from chunklab_core.select.near_duplicates import Place, group_questions
from chunklab_core.text import fold

BENCHMARKS = Path(__file__).parents[3] / ".." / "shared" / "benchmarks"
needs_benchmarks = pytest.mark.skipif(
    not BENCHMARKS.is_dir(), reason="needs ../shared/benchmarks beside the repository"
)

WORDINGS = (
    "{}",
    "Quick question: {}",
    "A customer wants to know this. {}",
    "I looked everywhere and found nothing on it: {}",
    "{} Where is that written down?",
    "For the onboarding notes: {}",
)


def groups_of(questions: Sequence[Question], places: Sequence[Sequence[Place | None]]) -> tuple[str, ...]:
    return group_questions([each.query for each in questions], [each.gold for each in questions], places)


def asked(query: str, *gold: str, name: str = "", documents: tuple[str, ...] = ()) -> Question:
    return Question(name or f"{query} {gold}", query, tuple((each,) for each in gold), documents=documents)


def are_one(
    one: Question, other: Question, places: tuple[tuple[Place | None, ...], tuple[Place | None, ...]] | None = None
) -> bool:
    unknown = [[None] * len(question.slots) for question in (one, other)]
    labels = groups_of([one, other], places or unknown)
    return labels[0] == labels[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How long is the refund period?", "how long is the refund period"),
        ("How long is the refund period?", "How long is the refund period, please?"),
        ("What is the refund period?", "The refund period is what?"),
        ("Which plans include backups?", "Which plan includes backup?"),
        ("Wie lang ist die Frist?", "wie lang ist die Frist"),
        ("返金の期限はいつですか？", "返金の期限はいつですか"),
    ],
)
def test_the_same_words_are_one_question_whatever_is_gold(one: str, other: str) -> None:
    assert are_one(asked(one, "The period ends in May."), asked(other, "It is the law of the land."))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How long is the refund period in France?", "How long is the refund period in Spain?"),
        ("What was the revenue in 2019?", "What was the revenue in 2020?"),
        ("What does error E4012 mean?", "What does error E4013 mean?"),
        ("Is 5 % allowed?", "Is 5 allowed?"),
        ("Who may write C++?", "Who may write C#?"),
        ("How long is the trial?", "How long is the lease?"),
        ("Who is the director?", "Who was the director?"),
        ("Where is the office?", "When is the office?"),
        ("How do I move from monthly to yearly?", "How do I move from yearly to monthly?"),
        ("Does the firm of Alice own that of Bob?", "Does the firm of Bob own that of Alice?"),
        ("What is in plan A?", "What is in the plan?"),
        ("Is it allowed?", "Is it not allowed?"),
        ("返金の期限はいつですか", "返品の期限はいつですか"),
    ],
)
def test_other_figures_names_and_words_are_other_questions(one: str, other: str) -> None:
    assert not are_one(asked(one, "The period ends in May."), asked(other, "It is the law of the land."))


def test_equal_gold_is_one_question_however_it_is_asked() -> None:
    one, other = (
        asked("How fast is it?", "Refunds  take five\ndays."),
        asked("When do I get it back?", "refunds take FIVE days."),
    )

    assert are_one(one, other)


def test_interchangeable_wordings_of_a_slot_are_equal_gold() -> None:
    one = Question("1", "How fast is it?", (("Refunds take five days.", "You wait five days for a refund."),))

    assert are_one(one, asked("When do I get it back?", "You wait five days for a refund."))


def test_gold_that_is_shared_in_part_is_no_equal_gold() -> None:
    one = asked("Who sees my data?", "Partners see your data.")

    assert not are_one(one, asked("What about my data?", "Partners see your data.", "We keep it for ten years."))


def test_short_gold_tells_nothing() -> None:
    assert not are_one(asked("How long is the refund period?", "30 days"), asked("How long is the trial?", "30 days"))


def test_equal_gold_that_counts_in_other_documents_is_other_gold() -> None:
    boilerplate = "Either party may end this contract with a notice of 30 days."
    one = asked("What is the notice of Acme?", boilerplate, documents=("acme.md",))

    assert not are_one(one, asked("What is the notice of Bolt?", boilerplate, documents=("bolt.md",)))
    assert are_one(one, asked("How is it ended?", boilerplate, documents=("acme.md",)))


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        (("a", 0, 100), ("a", 0, 100), True),
        (("a", 0, 100), ("a", 50, 150), True),  # half of each
        (("a", 0, 100), ("a", 51, 151), False),
        (("a", 0, 100), ("a", 20, 70), True),  # half of the longer
        (("a", 0, 100), ("a", 20, 69), False),  # a sentence in a section
        (("a", 0, 100), ("b", 0, 100), False),
    ],
)
def test_places_are_alike_that_overlap_by_half_of_the_longer(first: Place, second: Place, is_one: bool) -> None:
    one, other = (
        asked("How fast is it?", "Refunds take five days."),
        asked("When is it mine?", "It takes five days in all."),
    )

    assert are_one(one, other, ((first,), (second,))) is is_one
    assert are_one(other, one, ((second,), (first,))) is is_one


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("How long are audit logs kept?", "How long are audit logs retained?", True),
        ("How long are audit logs kept?", "How long exactly are the audit logs kept here?", True),
        ("How long are audit logs kept?", "How long are error logs retained?", False),  # two words
        ("How long do we keep logs in France?", "How long do we keep logs in Spain?", False),  # names
        ("How long do we keep 10 logs?", "How long do we keep 20 logs?", False),
        ("Audit logs?", "Error logs?", False),  # hardly a word in common
    ],
)
def test_one_word_may_differ_where_gold_has_a_part_in_common(one: str, other: str, is_one: bool) -> None:
    short, long = (
        asked(one, "kept for seven years"),
        asked(other, "Audit logs are kept for seven years, and then deleted."),
    )
    inside: tuple[tuple[Place | None, ...], ...] = ((("a", 15, 35),), (("a", 0, 54),))

    assert are_one(short, long, (inside[0], inside[1])) is is_one
    assert not are_one(short, long)  # where the places are not known, nothing is in common


def test_what_is_linked_by_a_chain_is_one_group_named_by_its_smallest_id() -> None:
    chain = [
        asked("How fast is it?", "Refunds take five days.", name="m"),
        asked("When do I get it back?", "Refunds take five days.", name="z"),
        asked("when do i get it back", "The money is yours within a week.", name="b"),
        asked("Who pays?", "The seller pays for everything.", name="a"),
    ]

    assert groups_of(chain, [[None]] * 4) == ("b", "b", "b", "a")
    assert groups_of(chain[::-1], [[None]] * 4) == ("a", "b", "b", "b")


def test_questions_without_gold_and_without_words_are_grouped_too() -> None:
    assert groups_of([], []) == ()
    assert groups_of([Question("1", "???", ()), Question("2", "!!!", ())], [(), ()]) == ("1", "2")


def test_places_have_to_fit_the_slots() -> None:
    with pytest.raises(ValueError, match="one place or None a slot"):
        groups_of([asked("How fast is it?", "Refunds take five days.")], [()])


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), min_size=1, max_size=12))
def test_groups_by_place_are_those_of_the_slow_definition(bounds: list[tuple[int, int]]) -> None:
    questions = [asked(f"{chr(97 + at)}lpha", f"gold number {at} of this world") for at in range(len(bounds))]
    places = [("a", start, start + length) for start, length in bounds]
    labels = groups_of(questions, [(place,) for place in places])

    group = list(range(len(bounds)))
    for _ in bounds:  # the slow way: every pair, again and again, until nothing moves
        for i, (_, a, b) in enumerate(places):
            for j, (_, c, d) in enumerate(places):
                if 2 * (min(b, d) - max(a, c)) >= max(b - a, d - c):
                    group[i] = group[j] = min(group[i], group[j])
    assert [labels.index(label) for label in labels] == [group.index(each) for each in group]


@needs_benchmarks
def test_rewordings_count_their_facts_and_have_the_status_of_the_facts() -> None:
    facts = load_questions(BENCHMARKS / "chunklab_example" / "questions.yaml")[:20]
    reworded = [
        Question(f"{fact.question_id}/{at}", wording.format(fact.query), fact.slots)
        for at, wording in enumerate(WORDINGS)
        for fact in facts
    ]
    labels = groups_of(reworded, [[None] * len(question.slots) for question in reworded])

    assert len(labels) == 120
    assert Counter(Counter(labels).values()) == {6: 20}
    scores = np.array(
        [[1] * 14 + [0] * 6, [1] * 10 + [0] * 4 + [1] * 2 + [0] * 4], dtype=float
    )  # 4 for one, 2 for other
    copied = np.tile(scores, 6)
    told, untold, of_facts = select_winner(copied, groups=labels), select_winner(copied), select_winner(scores)
    assert (told.status, told.p_best) == (of_facts.status, of_facts.p_best)
    assert (of_facts.status, untold.status) == ("undecided", "winner")


@needs_benchmarks
@pytest.mark.parametrize(
    ("name", "n_questions", "fewest", "largest"),
    [("chunklab_example", 129, 128, 2), ("chroma", 472, 445, 3), ("qasper", 44, 38, 4), ("privacy_qa", 194, 110, 12)],
)
def test_ordinary_sets_are_not_merged(name: str, n_questions: int, fewest: int, largest: int) -> None:
    """privacy_qa asks many questions of one passage: 98 of its 194 share their whole gold with another one."""
    questions = load_questions(BENCHMARKS / name / "questions.yaml")
    sizes = Counter(groups_of(questions, _places(BENCHMARKS / name / "docs", questions)))

    assert len(questions) == n_questions
    assert fewest <= len(sizes) < n_questions
    assert max(sizes.values()) <= largest


def _places(folder: Path, questions: tuple[Question, ...]) -> list[list[Place | None]]:
    """Where gold stands word for word, in documents that are text."""
    texts = {path.name: _plain(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.[mt][dx]*"))}

    def place(gold: str) -> Place | None:
        starts = ((name, text.find(gold)) for name, text in texts.items())
        return next(((name, start, start + len(gold)) for name, start in starts if start >= 0), None)

    return [[place(_plain(slot[0])) for slot in question.slots] for question in questions]


def _plain(text: str) -> str:
    return " ".join(fold(text).split())


def test_ten_thousand_questions_of_one_pattern_take_seconds() -> None:
    names = [f"Name{chr(97 + at % 26)}{chr(97 + at // 26 % 26)}{chr(97 + at // 676)}" for at in range(10_000)]
    questions = [
        asked(f"How long is the refund period for {name}?", f"The refund period for {name}.") for name in names
    ]
    began = process_time()
    labels = groups_of(questions, [[("a", 30 * at, 30 * at + 25)] for at in range(10_000)])

    assert len(set(labels)) == 10_000
    assert process_time() - began < 10  # about one; every pair would take minutes
