"""Compares two report.json files: equal in everything but wording, keys and the record of the run.

    python -m benchmarks.same_report OLD NEW

It prints every difference by its path, and exits with 1 where there is any. Two reports of the same inputs by two
versions of chunklab must not differ, whatever their sentences read like.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_IGNORED = re.compile(
    r"^(provenance\.run"
    r"|provenance\.(corpus_digest|questions_digest|models\[\d+\]\.digest)"
    r"|verdict\.reasons"
    r"|warnings\[\d+\]\.message"
    r"|documents\[\d+\]\.warnings\[\d+\]"
    r"|skipped\[\d+\]\.reason"
    r"|questions\.skipped\[\d+\]\.reason"
    r"|(.*\.)?undefined\.[^.]+)$"
)


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Every difference between two values of JSON, by its path; another order of the keys is one, too."""
    if _IGNORED.match(path):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _in_keys(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} entries, now {len(new)}"
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from differences(before, after, f"{path}[{index}]")
    elif old != new or type(old) is not type(new):
        yield f"{path}: {old!r}, now {new!r}"


def _in_keys(old: dict[str, Any], new: dict[str, Any], path: str) -> Iterator[str]:
    below = f"{path}." if path else ""
    yield from (f"{below}{key}: gone" for key in old if key not in new)
    yield from (f"{below}{key}: added" for key in new if key not in old)
    shared = [key for key in old if key in new]
    if shared != [key for key in new if key in old]:
        yield f"{path or 'top level'}: keys in another order"
    for key in shared:
        yield from differences(old[key], new[key], f"{below}{key}")


def main(old: str, new: str) -> int:
    """The exit status: 0 where the reports are the same, 1 where they differ, 2 where one cannot be read."""
    try:
        before, after = (json.loads(Path(path).read_text(encoding="utf-8")) for path in (old, new))
    except (OSError, ValueError) as error:
        print(f"Cannot read a report: {error}. Give the paths of two report.json files.", file=sys.stderr)
        return 2
    found = list(differences(before, after))
    print("\n".join(found) if found else "The same but for wording and the record of the run.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
