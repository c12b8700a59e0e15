"""The questions file: what is asked, and the passages that answer it, exactly as they were typed.

Why: gold is text, so a word that is lost while reading is a wrong figure for every strategy alike, which no
comparison shows. Ids and texts therefore stay as typed, and a file that leaves anything to guess is refused
with the question, the line and what to write instead.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from chunklab_core.errors import ConfigError, nearest
from chunklab_core.inputs.yaml import YamlText, is_null, line_of, read_text
from chunklab_core.records.questions import Question
from chunklab_core.text import fold

_FIELDS = ("id", "query", "gold_snippets", "tags", "documents", "principals", "query_variants", "reviewed")
_NOT_YET = ("principals", "query_variants")
_WORD = re.compile(r"[^\W_]")
_SLOT_ADVICE = "Each slot needs at least one passage; write the passage, or remove the slot."
_TEXT_ADVICE = (
    "Put the text in quotes: a colon and a blank, or a bracket at the beginning, make YAML read it otherwise."
)
_SHAPE = "Write `questions:` and below it a list of {id, query, gold_snippets}."


def load_questions(path: Path) -> tuple[Question, ...]:
    """All questions of a file, in its order; those without gold have no slots.

    Raises:
        ConfigError: one line that names the file, the question and the line, and says what to write instead.
    """
    return questions_from_text(read_text(path), str(path))


def questions_from_text(text: str, source: str = "questions") -> tuple[Question, ...]:
    """The questions of a YAML text; `source` stands in messages. See `load_questions`."""
    yaml_text = YamlText(source, text)
    items = _list_of_questions(yaml_text)
    questions, seen = [], dict[str, tuple[int, int]]()
    for number, node in enumerate(items, start=1):
        name = _name(number, node)
        question = _Reader(yaml_text, name).question(node)
        first = seen.setdefault(question.question_id, (number, line_of(node)))
        if first[0] != number:
            raise ConfigError(
                f"{yaml_text.where(node, name)}: the id is already that of question {first[0]} on line {first[1]}. "
                "Give each question an id of its own."
            )
        questions.append(question)
    if not any(question.slots for question in questions):
        raise ConfigError(
            f"{source}: no question has gold_snippets, so nothing can be scored. "
            "Copy the passages that answer a question into its gold_snippets."
        )
    return tuple(questions)


def question_from_mapping(stored: Mapping[str, Any]) -> Question:
    """A question that was kept as plain JSON types (`dataclasses.asdict`), as it was."""
    slots = tuple(tuple(wordings) for wordings in stored["slots"])
    return Question(
        **{**stored, "slots": slots, "tags": tuple(stored["tags"]), "documents": tuple(stored["documents"])}
    )


def _list_of_questions(yaml_text: YamlText) -> list[Node]:
    root = yaml_text.compose()
    if root is None or is_null(root):
        raise ConfigError(f"{yaml_text.source} holds no questions. {_SHAPE}")
    if not isinstance(root, MappingNode):
        raise ConfigError(f"{yaml_text.where(root)}: the file does not begin with `questions:`. {_SHAPE}")
    items: Node | None = None
    for key, key_node, value_node in yaml_text.entries(root):
        if key != "questions":
            raise ConfigError(
                f"{yaml_text.where(key_node)}: unknown key {key!r}. The only key at this level is 'questions'. {_SHAPE}"
            )
        items = value_node
    if items is None or is_null(items) or (isinstance(items, SequenceNode) and not items.value):
        raise ConfigError(f"{yaml_text.source} holds no questions. {_SHAPE}")
    if not isinstance(items, SequenceNode):
        raise ConfigError(f"{yaml_text.where(items)}: `questions` is no list. Begin each question with a dash.")
    return yaml_text.items(items)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one question; `name` is how messages call it."""

    yaml_text: YamlText
    name: str

    def question(self, node: Node) -> Question:
        if not isinstance(node, MappingNode):
            raise self._error(node, f"the question is {_kind(node)}", "Write it as {id, query, gold_snippets}.")
        values = self._values(node)
        for key in ("id", "query"):
            if key not in values:
                raise self._error(node, f"{key} is missing", f"Write `{key}:` and its text.")
        return Question(
            question_id=self._word(values["id"], "id"),
            query=self._text(values["query"], "query", "Write its text."),
            slots=self._slots(values.get("gold_snippets")),
            tags=self._words(values.get("tags"), "tags"),
            documents=tuple(
                unicodedata.normalize("NFC", name) for name in self._words(values.get("documents"), "documents")
            ),
            reviewed=self._truth(values.get("reviewed"), "reviewed"),
        )

    def _values(self, node: MappingNode) -> Mapping[str, Node]:
        values: dict[str, Node] = {}
        for key, key_node, value_node in self.yaml_text.entries(node, self.name):
            if key in _NOT_YET:
                raise self._error(key_node, f"{key} is not available yet", "Remove it.")
            if key not in _FIELDS:
                near = nearest(key, _FIELDS)
                raise self._error(key_node, f"unknown key {key!r}", f"The nearest known key is {near!r}.")
            values[key] = value_node
        return values

    def _slots(self, node: Node | None) -> tuple[tuple[str, ...], ...]:
        if node is None or is_null(node):
            return ()
        if not isinstance(node, SequenceNode):
            raise self._error(node, f"gold_snippets is {_kind(node)} and not a list", "Begin each passage with a dash.")
        return tuple(
            self._slot(item, f"slot {at} of gold_snippets")
            for at, item in enumerate(self.yaml_text.items(node, self.name), start=1)
        )

    def _slot(self, node: Node, what: str) -> tuple[str, ...]:
        if not isinstance(node, SequenceNode):
            return (self._text(node, what, _SLOT_ADVICE),)
        if not node.value:
            raise self._error(node, f"{what} is empty", _SLOT_ADVICE)
        wordings = enumerate(self.yaml_text.items(node, self.name), start=1)
        return tuple(self._text(item, f"wording {at} of {what}", _SLOT_ADVICE) for at, item in wordings)

    def _text(self, node: Node, what: str, advice: str) -> str:
        """Text to be searched or matched: NFC with \\n line ends, and something to read in it."""
        word = self._word(node, what, advice)
        if isinstance(node, ScalarNode) and self.yaml_text.is_cut_at_comma(node):
            raise self._error(node, f"{what} ends at a comma inside a number", "Put the whole text in quotes.")
        if not _WORD.search(word) and not fold(word).strip(" \t\n\r|"):
            raise self._error(node, f"{what} is empty", advice)
        return unicodedata.normalize("NFC", word.replace("\r\n", "\n").replace("\r", "\n"))

    def _word(self, node: Node, what: str, advice: str = "Write its text.") -> str:
        """A scalar exactly as it was typed."""
        if not isinstance(node, ScalarNode):
            raise self._error(node, f"{what} is {_kind(node)} and not text", _TEXT_ADVICE)
        if is_null(node) and node.value:
            raise self._error(node, f"{what} is {node.value}", "Write it in quotes if the word itself is meant.")
        self.yaml_text.check_scalar(node, self.name)
        if not node.value.strip():
            raise self._error(node, f"{what} is empty", advice)
        word: str = node.value
        return word

    def _words(self, node: Node | None, what: str) -> tuple[str, ...]:
        if node is None or is_null(node):
            return ()
        if not isinstance(node, SequenceNode):
            raise self._error(node, f"{what} is {_kind(node)} and not a list", f"Write `{what}: [one, another]`.")
        return tuple(
            self._word(item, f"entry {at} of {what}")
            for at, item in enumerate(self.yaml_text.items(node, self.name), start=1)
        )

    def _truth(self, node: Node | None, what: str) -> bool:
        if node is None:
            return False
        if isinstance(node, ScalarNode) and not node.style and node.value in ("true", "false"):
            return bool(node.value == "true")
        shown = repr(node.value) if isinstance(node, ScalarNode) else _kind(node)
        raise self._error(node, f"{what} is {shown}", "Write true or false.")

    def _error(self, node: Node, found: str, advice: str) -> ConfigError:
        return ConfigError(f"{self.yaml_text.where(node, self.name)}: {found}. {advice}")


def _name(number: int, node: Node) -> str:
    """How messages call a question: its number, and its id wherever in the question it stands."""
    typed = node.value if isinstance(node, MappingNode) else []
    ids = [value.value for key, value in typed if key.value == "id" and isinstance(value, ScalarNode)]
    shown = "".join(character if character.isprintable() else "?" for character in "".join(ids[:1])[:60])
    return f'question {number} ("{shown}")' if shown else f"question {number}"


def _kind(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, SequenceNode) else "one text"
