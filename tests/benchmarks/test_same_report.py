"""Two reports are the same but for wording, keys and the record of the run."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.same_report import differences, main

REPORT: dict[str, Any] = {
    "provenance": {"seed": 0, "corpus_digest": "ab", "run": {"started": "noon"}},
    "cells": [{"cell": "fixed/bm25", "recall_at_k": 0.5, "model": None, "undefined": {"model": "no model"}}],
    "warnings": [{"code": "few_questions", "message": "Few."}],
}


def changed(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(REPORT), **changes}


@pytest.mark.parametrize(
    "new",
    [
        REPORT,
        changed(provenance={"seed": 0, "corpus_digest": "cd", "run": {}}),
        changed(warnings=[{"code": "few_questions", "message": "Too few."}]),
        changed(cells=[{**REPORT["cells"][0], "undefined": {"model": "bm25 uses none"}}]),
    ],
)
def test_wording_keys_and_the_record_of_the_run_are_ignored(new: Any) -> None:
    assert list(differences(REPORT, new)) == []


@pytest.mark.parametrize(
    ("new", "difference"),
    [
        (changed(cells=[{**REPORT["cells"][0], "recall_at_k": 0.25}]), "cells[0].recall_at_k: 0.5, now 0.25"),
        (changed(cells=[{**REPORT["cells"][0], "undefined": {}}]), "cells[0].undefined.model: gone"),
        (changed(cells=[]), "cells: 1 entries, now 0"),
        (changed(extra=1), "extra: added"),
        (dict(reversed(REPORT.items())), "top level: keys in another order"),
        (changed(provenance={**REPORT["provenance"], "seed": False}), "provenance.seed: 0, now False"),
    ],
)
def test_every_other_difference_is_named(new: Any, difference: str) -> None:
    assert list(differences(REPORT, new)) == [difference]


def test_the_exit_status_shows_whether_they_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(REPORT))
    new.write_text(json.dumps(changed(cells=[])))

    assert (main(str(old), str(old)), main(str(old), str(new))) == (0, 1)
    assert capsys.readouterr().out.splitlines()[-1] == "cells: 1 entries, now 0"
