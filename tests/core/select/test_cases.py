"""The reported fault of resampling equal and too few data, with its right values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from chunklab_core.select import probability_best, select_winner
from chunklab_core.select.bootstrap import ci95

CASES = Path(__file__).parents[3] / ".." / "shared" / "cases" / "cases.yaml"


def test_c17_equal_data_ties_and_one_question() -> None:
    if not CASES.exists():
        pytest.skip("needs ../shared/cases/cases.yaml beside the repository")
    c17 = next(one for one in yaml.safe_load(CASES.read_text(encoding="utf-8")) if one["id"] == "C17")
    values = c17["input"]["a"]["values"]
    equal = np.ones((2, 20))

    assert ci95([values["repeat"]] * values["times"]) == tuple(c17["expect"]["a"]["ci95"])
    assert probability_best(equal).tolist() == list(c17["expect"]["b"]["probability_best"].values())
    assert select_winner(equal).status == "tied"
    assert list(select_winner(equal).ruled_out) == c17["expect"]["b"]["ruled_out"]
    assert "few_questions" in {reason.code for reason in select_winner([[1.0], [0.0]]).reasons}
