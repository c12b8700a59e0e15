"""The numbers and bullets that a word processor draws before list items and headings.

Why: they appear on the page ("2.1 Scope", "3. Close the valve") and in readers' questions, but not in the file. It
holds only which list a paragraph belongs to, and each list's pattern; so the numbers are counted here.

Source: ECMA-376 part 1, section 17.9 (numbering).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunklab_core.parse.docx_inline import W, value

if TYPE_CHECKING:
    from lxml.etree import _Element

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


@dataclass(slots=True)
class Numbering:
    """Counts through one document; call `marker` for each numbered paragraph once, in reading order."""

    root: _Element
    _levels: dict[str, dict[int, _Element]] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _lists: dict[str, str] = field(default_factory=dict)
    _overrides: dict[str, dict[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for abstract in self.root.findall(f"{W}abstractNum"):
            levels = {int(level.get(f"{W}ilvl", "0")): level for level in abstract.findall(f"{W}lvl")}
            self._levels[abstract.get(f"{W}abstractNumId", "")] = levels
        for number in self.root.findall(f"{W}num"):
            num_id = number.get(f"{W}numId", "")
            self._lists[num_id] = value(number.find(f"{W}abstractNumId"))
            self._overrides[num_id] = {
                int(override.get(f"{W}ilvl", "0")): _whole(value(start), 1)
                for override in number.findall(f"{W}lvlOverride")
                if (start := override.find(f"{W}startOverride")) is not None
            }

    def marker(self, num_id: str, level: int) -> str:
        """The marker of the next paragraph of this list at this level; empty where the list is unknown.

        A bullet of any shape is `-`.
        """
        abstract = self._lists.get(num_id)
        if abstract is None or level not in self._levels.get(abstract, {}):
            return ""
        counts = self._counts.setdefault(abstract, {})
        self._advance(abstract, counts, num_id, level)
        definition = self._levels[abstract][level]
        if value(definition.find(f"{W}numFmt")) == "bullet":
            return "-"
        pattern = value(definition.find(f"{W}lvlText"))
        return re.sub(r"%([1-9])", lambda match: self._written(abstract, int(match[1]) - 1), pattern).strip()

    def _advance(self, abstract: str, counts: dict[int, int], num_id: str, level: int) -> None:
        for upper in range(level):
            counts.setdefault(upper, self._start(abstract, upper))
        restart = self._overrides.get(num_id, {}).pop(level, None)
        if restart is not None:
            counts[level] = restart
        else:
            counts[level] = counts[level] + 1 if level in counts else self._start(abstract, level)
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]

    def _start(self, abstract: str, level: int) -> int:
        definition = self._levels[abstract].get(level)
        return 1 if definition is None else _whole(value(definition.find(f"{W}start")), 1)

    def _written(self, abstract: str, level: int) -> str:
        definition = self._levels[abstract].get(level)
        count = self._counts[abstract].get(level, 1)
        return written(count, "" if definition is None else value(definition.find(f"{W}numFmt")))


def written(count: int, style: str) -> str:
    """A count in a list's style: `lowerRoman` 4 is iv, `upperLetter` 28 is BB; other styles in digits."""
    if style == "none":
        return ""
    if style == "decimalZero":
        return f"{count:02}"
    if style.endswith("Roman") and 0 < count < 4000:
        return _cased(_roman(count), style)
    if style.endswith("Letter") and count > 0:
        return _cased(chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1), style)
    return str(count)


def _roman(count: int) -> str:
    parts = []
    for size, sign in _ROMAN:
        times, count = divmod(count, size)
        parts.append(sign * times)
    return "".join(parts)


def _cased(text: str, style: str) -> str:
    return text.upper() if style.startswith("upper") else text


def _whole(text: str, default: int) -> int:
    return int(text) if text.lstrip("-").isdecimal() else default
