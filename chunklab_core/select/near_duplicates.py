"""Near-duplicate questions: one question in several wordings, grouped so that resamples draw them together.

Why: twenty facts in six wordings each are twenty questions and look like a hundred and twenty. A search that finds the
passage for one wording mostly finds it for the others, so resamples that treat them as independent are far too sure.
Grouping questions that differ would waste evidence, so a different figure, name or word of content keeps questions
apart. Two questions are near-duplicates if any of these is true:

- The gold is the same: each slot of one matches a slot of the other. Two slots match if they share a wording after
  folding, or if their places in a document overlap by at least half of the longer. A sentence in a section that is
  gold for another question is no match: the section counts as found only as a whole, which says little about the
  sentence. Gold that counts in other documents is different gold; gold as short as "30 days" answers too many
  questions to show anything.
- The wording is the same: the same words, apart from case, punctuation, plural s and words without content. The search
  is then the same, whatever the gold is. The order of words counts only where it changes the meaning: with words of
  direction (from monthly to yearly), two names, or two figures.
- The wording differs in one word of content that is neither figure nor name (kept, retained), the questions share at
  least three other words, and the gold has a part in common: a matching slot, or an overlap of half of the shorter
  place.

The search works with keys and sorted places; it never compares every question with every other.

Source: Harman, How effective is suffixing? (1991), table 1, for the plural s of English; Garcia-Molina, Ullman and
Widom, Database Systems (2008), section 21.7, for finding similar records by keys and the transitive closure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import regex

from chunklab_core.records.questions import Question
from chunklab_core.text import fold

Place = tuple[str, int, int]  # document, start, end

_ENOUGH = 0.5  # of the longer of two places
_SHORT = 16  # bytes of folded gold in UTF-8: 16 Latin letters, 5 Han characters
_WORDS_IN_COMMON = 3
_EMPTY_WORDS = frozenset({"a", "an", "the", "is", "are", "do", "does", "what", "which", "please", "exactly"})
_DIRECTIONS = frozenset({"to", "from", "into", "than", "before", "after", "by", "over", "under", "versus", "vs"})
_EDGES = "\"'`“”„«»‘’¿¡()[]{}。、？！，：；?!,:;…"
_POSSESSIVE = regex.compile(r"['’]s$")
_DIGIT = regex.compile(r"\p{N}")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as it is compared; `fixed`: a figure or a name, which no other word can replace."""

    text: str
    fixed: bool


def group_questions(questions: Sequence[Question], places: Sequence[Sequence[Place | None]]) -> tuple[str, ...]:
    """One label a question; near-duplicates, and their near-duplicates in turn, share one.

    Args:
        questions: in any order.
        places: the place of the gold, for each question and slot: (document, start, end), or None if unknown.

    Returns:
        The smallest id of each question's group.

    Raises:
        ValueError: places are given for more or fewer questions or slots than there are.
    """
    if [len(row) for row in places] != [len(question.slots) for question in questions]:
        raise ValueError("places has another shape than the questions; expected one place or None a slot.")
    slots, long_slots = _matching_slots(questions, places)
    words = [_words(question.query) for question in questions]
    same: dict[Hashable, list[int]] = defaultdict(list)
    for at, (question, gold) in enumerate(zip(questions, slots, strict=True)):
        same["wording", _wording_key(question.query, words[at])].append(at)
        if not long_slots.isdisjoint(gold):
            same["gold", frozenset(gold)].append(at)
    pairs = [(group[0], other) for group in same.values() for other in group[1:]]
    root = _closure(len(questions), [*pairs, *_one_word_apart(words, slots, long_slots, places)])
    names: dict[int, str] = {}
    for at, question in enumerate(questions):
        names[root[at]] = min(names.get(root[at], question.question_id), question.question_id)
    return tuple(names[at] for at in root)


def _matching_slots(
    questions: Sequence[Question], places: Sequence[Sequence[Place | None]]
) -> tuple[list[list[int]], set[int]]:
    """A number for each question and slot that matching slots share, and the numbers of slots with long gold."""
    owners = [(question, slot) for question in questions for slot in question.slots]
    place_of = [place for row in places for place in row]
    same: dict[Hashable, list[int]] = defaultdict(list)
    long: list[int] = []
    for number, (question, slot) in enumerate(owners):
        wordings = [" ".join(fold(wording).split()) for wording in slot]
        for wording in wordings:
            same[wording, frozenset(question.documents)].append(number)
        if min(len(wording.encode()) for wording in wordings) >= _SHORT:
            long.append(number)
            if place := place_of[number]:
                same[place].append(number)
    pairs = [(numbers[0], other) for numbers in same.values() for other in numbers[1:]]
    first = {place: same[place][0] for place in place_of if place and place in same}
    pairs += [(first[one], first[other]) for one, other in _overlapping(first, of_longer=True)]
    root = _closure(len(owners), pairs)
    numbers = iter(root)
    return [[next(numbers) for _ in question.slots] for question in questions], {root[number] for number in long}


def _overlapping(places: Iterable[Place], *, of_longer: bool) -> Iterator[tuple[Place, Place]]:
    """Pairs of places of one document that overlap by at least half of the longer or of the shorter one."""
    ordered = sorted(places)
    for index, one in enumerate(ordered):
        doc_id, start, end = one
        last = end - _ENOUGH * (end - start) if of_longer else end  # where the other one may begin at most
        for after in range(index + 1, len(ordered)):
            other = ordered[after]
            if other[0] != doc_id or other[1] > last:
                break
            lengths = end - start, other[2] - other[1]
            if min(end, other[2]) - other[1] >= _ENOUGH * (max(lengths) if of_longer else min(lengths)):
                yield one, other


def _words(query: str) -> list[_Word]:
    """The words with content, in their order."""
    typed = [stripped for part in query.split() if (stripped := part.strip(_EDGES).rstrip("."))]
    words = []
    for at, part in enumerate(typed):
        named = at > 0 and part[0].isupper()
        figure = bool(_DIGIT.search(part))
        plain = _POSSESSIVE.sub("", fold(part))
        if figure or plain not in _EMPTY_WORDS or (named and len(plain) == 1):  # plan A is not a plan
            words.append(_Word(plain if named or figure else _singular(plain), named or figure))
    return words


def _singular(word: str) -> str:
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies") and not word.endswith(("aies", "eies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("us", "ss")) else word


def _wording_key(query: str, words: Sequence[_Word]) -> tuple[str, ...]:
    texts = tuple(word.text for word in words)
    ordered = sum(word.fixed for word in words) > 1 or not _DIRECTIONS.isdisjoint(texts)
    return (texts if ordered else tuple(sorted(texts))) or ("", fold(query))


def _one_word_apart(
    words: Sequence[Sequence[_Word]],
    slots: Sequence[Sequence[int]],
    long_slots: set[int],
    places: Sequence[Sequence[Place | None]],
) -> Iterator[tuple[int, int]]:
    """Pairs of questions whose words differ by at most one, and whose gold has a part in common."""
    first_question: dict[Hashable, int] = {}
    question_at: dict[Hashable, dict[Place, int]] = defaultdict(dict)
    for question, gold in enumerate(slots):
        long_gold = [(slot, place) for slot, place in zip(gold, places[question], strict=True) if slot in long_slots]
        for rest, (slot, place) in product(_without_one(words[question]), long_gold):
            first = first_question.setdefault((rest, slot), question)
            if first != question:
                yield first, question
            if place:
                question_at[rest, place[0]].setdefault(place, question)
    for questions in question_at.values():
        for one, other in _overlapping(questions, of_longer=False):
            yield questions[one], questions[other]


def _without_one(words: Sequence[_Word]) -> Iterator[tuple[str, ...]]:
    """The words, and the words without each one that is neither figure nor name."""
    texts = sorted(word.text for word in words)
    free = {word.text for word in words if not word.fixed}
    for left in [texts, *([*texts[:at], *texts[at + 1 :]] for at, text in enumerate(texts) if text in free)]:
        if len(left) >= _WORDS_IN_COMMON:
            yield tuple(left)


def _closure(n_things: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """The number of each thing's group; things linked by a chain of pairs share a group.

    Source: Tarjan, Efficiency of a good but not linear set union algorithm (1975).
    """
    parent = list(range(n_things))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        parent[high] = low
    return [root(at) for at in range(n_things)]
