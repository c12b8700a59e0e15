"""The reported faults, each with its input and right values: `../shared/cases`, which is not part of the project."""

from pathlib import Path
from typing import Any

import pytest
import yaml

_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "cases"
_FILE = _FOLDER / "cases.yaml"
FILES = _FOLDER / "files"

needs_cases = pytest.mark.skipif(not _FILE.is_file(), reason="needs ../shared/cases beside the repository")
CASES: dict[str, dict[str, Any]] = (
    {case["id"]: case for case in yaml.safe_load(_FILE.read_text(encoding="utf-8"))} if _FILE.is_file() else {}
)


def given(case: str) -> Any:
    return CASES[case]["input"]


def expected(case: str) -> Any:
    return CASES[case]["expect"]


def written_out(text: str | dict[str, Any]) -> str:
    """A text, or a description of a long one: a part, another part many times, and a last part."""
    if isinstance(text, str):
        return text
    return text.get("before", "") + text.get("repeat", "") * text.get("times", 0) + text.get("then", "")
