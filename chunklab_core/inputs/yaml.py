"""YAML as it was typed: nothing is dropped, and no text becomes a number, a truth value or a date.

Why: the usual reader follows YAML 1.1, where `0123` is 83, `no` is false, `2026-03-01` is a date, and the first of two
equal keys is lost silently. An evaluation of a question that lost its words is worse than none. So this module uses
PyYAML's parser without its guesses. Plain scalars follow the core schema of YAML 1.2, and less: only `true`, `false`,
`null`, decimal integers and decimal floats are more than text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from chunklab_core.errors import ConfigError

Scalar = str | int | float | bool | None
Value = Scalar | Sequence["Value"] | Mapping[str, "Value"]
KeyPath = tuple[str | int, ...]

_UNTAGGED = "untagged"
_TAGS = {ScalarNode: _UNTAGGED, SequenceNode: "tag:yaml.org,2002:seq", MappingNode: "tag:yaml.org,2002:map"}
_KNOWN_TAGS = {*_TAGS.values(), "tag:yaml.org,2002:str"}
_MAX_DEPTH = 40
_MAX_VALUES = 100_000  # far more than any settings need; a few lines of nested aliases expand to billions
_NULL = re.compile(r"(?:null|Null|NULL|~|)\Z")
_TRUTH = {word: word[0] in "tT" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})\Z")
_FLOAT = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z|[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z"
)
_ANCHOR = re.compile(r"&([^\s,\[\]{}]+)")
_GLUED_COMMA = re.compile(r"(?<=\d),(?=\d)")
_GLUED_COMMENT = re.compile(r"[ \t]+#[^\s#!]")
_ADVICE = (
    ("mapping values are not allowed", "Put text that contains a colon and a space in quotes."),
    (
        "cannot start any token",
        "Indent with spaces, not tabs; put text that begins with a special character in quotes.",
    ),
    ("tab character", "Indent with spaces, not tabs."),
    ("alphabetic or numeric", "Put a text that begins with * or & in quotes."),
    ("alias", "Put a text that begins with * in quotes."),
    ("end of stream", "Close the quotes or brackets that are open here."),
    ("another document", "Keep one document in the file: remove the line with three dashes."),
    ("", "Check the indentation here, and put text with special characters in quotes."),
)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, without a byte order mark.

    Raises:
        ConfigError: the file cannot be read, or is in another encoding.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"Cannot read {path} ({error.strerror or error}). Give the path of a YAML file.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: the text is not UTF-8. Save the file as UTF-8.") from None


def load(text: str, source: str) -> tuple[Value, dict[KeyPath, int]]:
    """The typed value of a YAML text (None where it is empty), and the line, from 1, of every key and list entry.

    Raises:
        ConfigError: the text is not YAML, a key appears twice, or a value has a kind that would be a guess.
    """
    reader = YamlText(source, text)
    root, lines = reader.compose(), dict[KeyPath, int]()
    return (None if root is None else _typed(reader, root, (), lines)), lines


def is_null(node: Node) -> bool:
    """Whether nothing was typed, or a plain `null` or `~`."""
    return isinstance(node, ScalarNode) and _is_plain(node) and bool(_NULL.match(node.value))


@dataclass(frozen=True, slots=True)
class YamlText:
    """One YAML text and its name: reads nodes, and names their places in messages."""

    source: str
    text: str

    def compose(self) -> Node | None:
        """The root node, or None for a text without content. Scalars stay as typed."""
        try:
            root: Node | None = _Loader(self.text).get_single_node()
        except yaml.YAMLError as error:
            raise ConfigError(_syntax_message(error, self)) from None
        except RecursionError:
            raise ConfigError(f"{self.source}: values are nested too deeply to be read. Write them flat.") from None
        return root

    def where(self, node: Node, name: str = "") -> str:
        """The place of a node, first in a message: file, `name` (such as a question's) and line."""
        return f"{self.source}, {name}, line {line_of(node)}" if name else f"{self.source}, line {line_of(node)}"

    def entries(self, node: MappingNode, name: str = "") -> Iterator[tuple[str, Node, Node]]:
        """Key, key node and value node of a mapping whose keys are plain words, each once."""
        self.check_tag(node, name)
        first: dict[str, Node] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise ConfigError(
                    f"{self.where(key_node, name)}: a key is a list or a mapping. "
                    "Put a text that begins with { or [ in quotes."
                )
            key = key_node.value
            if key in first:
                raise ConfigError(
                    f"{self.where(key_node, name)}: the key {key!r} is written twice, first on line "
                    f"{line_of(first[key])}. Keep one of the two."
                )
            first[key] = key_node
            yield key, key_node, value_node

    def items(self, node: SequenceNode, name: str = "") -> list[Node]:
        """The entries of a list."""
        self.check_tag(node, name)
        return list(node.value)

    def check_tag(self, node: Node, name: str = "") -> None:
        """Refuses a tag for a type that is never made here."""
        if node.tag not in _KNOWN_TAGS:
            raise ConfigError(
                f"{self.where(node, name)}: unsupported tag {node.tag!r}. Remove it, or put the text in quotes."
            )

    def check_scalar(self, node: ScalarNode, name: str = "") -> None:
        """Refuses what would silently change the text: a tag, an unused anchor, a comment without a space after #."""
        self.check_tag(node, name)
        anchor = _ANCHOR.match(self.text, node.start_mark.index) if node.start_mark is not None else None
        if anchor and not re.search(rf"\*{re.escape(anchor[1])}(?![^\s,\]}}])", self.text):
            raise ConfigError(
                f"{self.where(node, name)}: YAML reads {_short(anchor[0])} as a name and drops it. "
                "Put a text that begins with & in quotes."
            )
        if _is_plain(node) and node.value and self._is_cut_by_comment(node):
            raise ConfigError(
                f"{self.where(node, name)}: YAML reads the text after {_short(node.value)} as a comment. Put the whole "
                "text in quotes if the # belongs to it; write a space after the # of a comment."
            )

    def is_cut_at_comma(self, node: ScalarNode) -> bool:
        """Whether a list in brackets cuts this text inside a number: `[1,000 units]` holds two texts."""
        end = node.end_mark
        return _is_plain(node) and end is not None and bool(_GLUED_COMMA.match(self.text, end.index))

    def _is_cut_by_comment(self, node: ScalarNode) -> bool:
        end = node.end_mark
        return bool(_GLUED_COMMENT.match(self.text, end.index)) if end is not None else False


def line_of(node: Node) -> int:
    """The line, from 1, on which a node begins."""
    return node.start_mark.line + 1 if node.start_mark is not None else 1


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The parser alone: no scalar is resolved, so a tag that is not `untagged` was typed."""

    def resolve(self, kind: type[Node], *_: object) -> str:
        """The tag of a node that was typed without one."""
        return _TAGS[kind]


def _is_plain(node: ScalarNode) -> bool:
    return not node.style and node.tag == _UNTAGGED


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _typed(reader: YamlText, node: Node, path: KeyPath, lines: dict[KeyPath, int]) -> Value:
    if len(path) > _MAX_DEPTH:
        raise ConfigError(
            f"{reader.where(node)}: values are nested more than {_MAX_DEPTH} levels deep. Write them flat."
        )
    if len(lines) > _MAX_VALUES:
        raise ConfigError(
            f"{reader.where(node)}: the file holds more than {_MAX_VALUES:,} values once all aliases are expanded. "
            "Write it without aliases of aliases."
        )
    lines.setdefault(path, line_of(node))
    if isinstance(node, MappingNode):
        values: dict[str, Value] = {}
        for key, key_node, value_node in reader.entries(node):
            lines[(*path, key)] = line_of(key_node)
            values[key] = _typed(reader, value_node, (*path, key), lines)
        return values
    if isinstance(node, SequenceNode):
        return [_typed(reader, item, (*path, index), lines) for index, item in enumerate(reader.items(node))]
    return _typed_scalar(reader, node) if isinstance(node, ScalarNode) else None


def _typed_scalar(reader: YamlText, node: ScalarNode) -> Scalar:
    reader.check_scalar(node)
    text: str = node.value
    if not _is_plain(node):
        return text
    if _NULL.match(text):
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    if _INTEGER.match(text):
        return int(text)
    if _FLOAT.match(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def _syntax_message(error: yaml.YAMLError, reader: YamlText) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
    mark, begun = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    line = mark.line if mark is not None else reader.text.count("\n", 0, getattr(error, "position", 0))
    line = min(line, max(0, len(reader.text.splitlines()) - 1))
    since = f", {error.context} that begins on line {begun.line + 1}" if begun and begun.line < line else ""  # type: ignore[attr-defined]
    advice = next(text for word, text in _ADVICE if word in problem)
    return f"{reader.source}, line {line + 1}: this is not valid YAML ({problem}{since}). {advice}"
