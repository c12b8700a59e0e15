"""The Markdown pages of the project, for tests."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.md")],
    key=lambda path: path.relative_to(ROOT).as_posix(),
)
README = ROOT / "README.md"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path, language: str = "") -> list[str]:
    """The fenced blocks of a page in one language, in order."""
    return [body for name, body in _FENCE.findall(read(path)) if name == language]


def block(path: Path, beginning: str, language: str = "") -> str:
    """The one fenced block that begins with these words."""
    (found,) = [body for body in blocks(path, language) if body.startswith(beginning)]
    return found


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a page as rows of cells; the first row holds the titles."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    return [[_cells(row) for row in table.splitlines() if not set(row) <= set("|-: ")] for table in found]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]
