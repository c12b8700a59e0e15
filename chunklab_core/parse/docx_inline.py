"""The words of one paragraph of a DOCX file, as the page shows them.

Why: a paragraph is a tree of runs, links, changes, fields and drawings. Deleted text, the formula of a field and the
copy for old programs are in the file but not on the page; the words of a link or of a text box are on the page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_BOX = f"{W}txbxContent"
_NOTES = {f"{W}footnoteReference": "footnotes", f"{W}endnoteReference": "endnotes"}
_SIGNS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_TEXTS = {f"{W}t", f"{_M}t"}

# Deleted and moved-away text, properties, instructions of fields, the reading aid over a word.
NOT_SHOWN = {f"{W}{name}" for name in ("del", "moveFrom", "delText", "pPr", "rPr", "instrText", "delInstrText", "rt")}


@dataclass(slots=True)
class Inline:
    """The content of a paragraph: its own words, the text boxes anchored in it, and the notes it refers to."""

    parts: list[str] = field(default_factory=list)
    boxes: list[_Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words, without white space around them."""
        return "".join(self.parts).strip()


def value(node: _Element | None) -> str:
    """The `w:val` of a property, or an empty string."""
    return "" if node is None else node.get(f"{W}val", "")


def is_on(node: _Element | None) -> bool:
    """Whether a switch is present and not turned off."""
    return node is not None and value(node) not in ("0", "false", "off")


def read_inline(node: _Element, into: Inline) -> None:
    """Adds what `node` shows to `into`."""
    for child in shown_children(node):
        tag = child.tag
        if tag in _TEXTS:
            into.parts.append(child.text or "")
        elif tag in _SIGNS:
            into.parts.append(_SIGNS[tag])
        elif tag == f"{W}sym":
            into.parts.append(_symbol(child))
        elif tag == _BOX:
            into.boxes.append(child)
        elif tag in _NOTES:
            into.notes.append((_NOTES[tag], child.get(f"{W}id", "")))
        elif not (tag == f"{W}r" and is_on(child.find(f"{W}rPr/{W}vanish"))):
            read_inline(child, into)


def shown_children(node: _Element) -> list[_Element]:
    """The children that the page shows: the first of several alternatives, and nothing that was deleted."""
    if node.tag == f"{_MC}AlternateContent":
        choice = node.find(f"{_MC}Choice")
        chosen = choice if choice is not None else node.find(f"{_MC}Fallback")
        return [] if chosen is None else [chosen]
    return [child for child in node if isinstance(child.tag, str) and child.tag not in NOT_SHOWN]


def _symbol(node: _Element) -> str:
    """A character given by its number; empty for a font's private sign, which has no Unicode character."""
    try:
        code = int(node.get(f"{W}char", ""), 16)
    except ValueError:
        return ""
    return "" if 0xE000 <= code <= 0xF8FF or 0xD800 <= code <= 0xDFFF or not 31 < code < 0x110000 else chr(code)
