"""The questions file: the questions and the passages that answer them, exactly as typed.

Why: gold is text, so a word that is lost while reading makes a wrong figure for all strategies alike, and no
comparison shows it. So ids and texts stay as typed, and a file that leaves anything to guess is an error that names the
question, the line and the remedy.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from chunklab_core.errors import ConfigError, did_you_mean
from chunklab_core.inputs.yaml import YamlText, is_null, line_of, read_text
from chunklab_core.records.questions import Question
from chunklab_core.text import fold

_FIELDS = ("id", "query", "gold_snippets", "tags", "documents", "principals", "query_variants", "reviewed")
_NOT_YET = ("principals", "query_variants")
_WORD = re.compile(r"[^\W_]")
_SLOT_REMEDY = "Each slot needs at least one passage; write the passage, or remove the slot."
_TEXT_REMEDY = "Put the text in quotes: YAML reads a colon and a space, or a bracket at the beginning, differently."
_SHAPE = "Write `questions:` and below it a list of {id, query, gold_snippets}."


def load_questions(path: Path) -> tuple[Question, ...]:
    """All questions of a file, in its order; those without gold have no slots.

    Raises:
        ConfigError: one line that names the file, the question and the line, with the remedy.
    """
    return questions_from_text(read_text(path), str(path))


def questions_from_text(text: str, source: str = "questions") -> tuple[Question, ...]:
    """The questions of a YAML text; messages begin with `source`. See `load_questions`."""
    yaml_text = YamlText(source, text)
    items = _list_of_questions(yaml_text)
    questions, seen = [], dict[str, tuple[int, int]]()
    for number, node in enumerate(items, start=1):
        name = _name(number, node)
        question = _Reader(yaml_text, name).question(node)
        first = seen.setdefault(question.question_id, (number, line_of(node)))
        if first[0] != number:
            raise ConfigError(
                f"{yaml_text.where(node, name)}: question {first[0]} on line {first[1]} has the same id. "
                "Give each question its own id."
            )
        questions.append(question)
    if not any(question.slots for question in questions):
        raise ConfigError(
            f"{source}: no question has gold_snippets, so nothing can be scored. "
            "Copy the passages that answer a question into its gold_snippets."
        )
    return tuple(questions)


def _list_of_questions(yaml_text: YamlText) -> list[Node]:
    root = yaml_text.compose()
    if root is None or is_null(root):
        raise ConfigError(f"{yaml_text.source} has no questions. {_SHAPE}")
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
        raise ConfigError(f"{yaml_text.source} has no questions. {_SHAPE}")
    if not isinstance(items, SequenceNode):
        raise ConfigError(
            f"{yaml_text.where(items)}: `questions` is {_kind(items)}, not a list. Begin each question with a dash."
        )
    return yaml_text.items(items)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one question; messages call it `name`."""

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
                guess = did_you_mean(key, _FIELDS, closeness=0)
                raise self._error(key_node, f"unknown key {key!r}", "Remove or rename it.", guess)
            values[key] = value_node
        return values

    def _slots(self, node: Node | None) -> tuple[tuple[str, ...], ...]:
        if node is None or is_null(node):
            return ()
        if not isinstance(node, SequenceNode):
            raise self._error(node, f"gold_snippets is {_kind(node)}, not a list", "Begin each passage with a dash.")
        return tuple(
            self._slot(item, f"slot {at} of gold_snippets")
            for at, item in enumerate(self.yaml_text.items(node, self.name), start=1)
        )

    def _slot(self, node: Node, what: str) -> tuple[str, ...]:
        if not isinstance(node, SequenceNode):
            return (self._text(node, what, _SLOT_REMEDY),)
        if not node.value:
            raise self._error(node, f"{what} is empty", _SLOT_REMEDY)
        wordings = enumerate(self.yaml_text.items(node, self.name), start=1)
        return tuple(self._text(item, f"wording {at} of {what}", _SLOT_REMEDY) for at, item in wordings)

    def _text(self, node: Node, what: str, remedy: str) -> str:
        """A text to search or match: NFC with \\n line ends, and not blank."""
        word = self._word(node, what, remedy)
        if isinstance(node, ScalarNode) and self.yaml_text.is_cut_at_comma(node):
            raise self._error(node, f"{what} ends at a comma inside a number", "Put the whole text in quotes.")
        if not _WORD.search(word) and not fold(word).strip(" \t\n\r|"):
            raise self._error(node, f"{what} is empty", remedy)
        return unicodedata.normalize("NFC", word.replace("\r\n", "\n").replace("\r", "\n"))

    def _word(self, node: Node, what: str, remedy: str = "Write its text.") -> str:
        """A scalar exactly as typed."""
        if not isinstance(node, ScalarNode):
            raise self._error(node, f"{what} is {_kind(node)}, not text", _TEXT_REMEDY)
        if is_null(node) and node.value:
            raise self._error(node, f"{what} is {node.value}", "Put it in quotes if you mean the word itself.")
        self.yaml_text.check_scalar(node, self.name)
        if not node.value.strip():
            raise self._error(node, f"{what} is empty", remedy)
        word: str = node.value
        return word

    def _words(self, node: Node | None, what: str) -> tuple[str, ...]:
        if node is None or is_null(node):
            return ()
        if not isinstance(node, SequenceNode):
            raise self._error(node, f"{what} is {_kind(node)}, not a list", f"Write `{what}: [one, another]`.")
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

    def _error(self, node: Node, problem: str, remedy: str, guess: str = ".") -> ConfigError:
        return ConfigError(f"{self.yaml_text.where(node, self.name)}: {problem}{guess} {remedy}")


def _name(number: int, node: Node) -> str:
    """The name of a question in messages: its number, and its id if it has one."""
    typed = node.value if isinstance(node, MappingNode) else []
    ids = [value.value for key, value in typed if key.value == "id" and isinstance(value, ScalarNode)]
    shown = "".join(character if character.isprintable() else "?" for character in "".join(ids[:1])[:60])
    return f'question {number} ("{shown}")' if shown else f"question {number}"


def _kind(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, SequenceNode) else "one text"
