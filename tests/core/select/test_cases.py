"""The reported fault of resampling equal and too few data, with its right values."""

from __future__ import annotations

import numpy as np
from cases import expected, given, needs_cases

from chunklab_core.select import probability_best, select_winner
from chunklab_core.select.bootstrap import ci95


@needs_cases
def test_c17_equal_data_ties_and_one_question() -> None:
    values, expect = given("C17")["a"]["values"], expected("C17")
    equal = np.ones((2, 20))

    assert ci95([values["repeat"]] * values["times"]) == tuple(expect["a"]["ci95"])
    assert probability_best(equal).tolist() == list(expect["b"]["probability_best"].values())
    assert select_winner(equal).status == "tied"
    assert list(select_winner(equal).ruled_out) == expect["b"]["ruled_out"]
    assert "few_questions" in {reason.code for reason in select_winner([[1.0], [0.0]]).reasons}
