"""The section on published claims says what the reports hold, whichever way that is."""

from typing import Any

from benchmarks.claims import claims

STRATEGIES = ("fixed", "recursive", "semantic", "semantic_no_floor", "structure")


def report(dense: dict[str, list[float]], hybrid: dict[str, list[float]]) -> dict[str, Any]:
    cells = []
    for retriever, recalls in (("dense", dense), ("bm25", dense), ("hybrid", hybrid)):
        for strategy in STRATEGIES:
            values = recalls.get(strategy, [0.0, 0.0, 0.0, 0.0])
            rows = [{"recall": value} for value in values]
            mean = sum(values) / len(values)
            cells.append({"strategy": strategy, "retriever": retriever, "recall_at_k": mean, "per_question": rows})
    return {"cells": cells}


def test_a_claim_that_comes_out_is_said_to() -> None:
    dense = {"fixed": [1.0, 1.0, 1.0, 0.0], "recursive": [1.0, 0.0, 0.0, 0.0]}
    hybrid = {strategy: [1.0, 1.0, 1.0, 1.0] for strategy in STRATEGIES}
    said = claims({"chunklab_example": report(dense, hybrid)})

    assert "Here: fixed 0.750, recursive 0.250" in said
    assert "Fixed comes first here too" in said
    assert "better for\n5 of 5" in said
    assert "| structure | 0.000 | 0.000 | 0.929 | 1.000 | +1.000 | +1.000 to +1.000 | +0.116 |" in said


def test_a_claim_that_does_not_is_said_not_to() -> None:
    dense = {"recursive": [1.0, 1.0, 1.0, 1.0], "fixed": [1.0, 0.0, 0.0, 0.0]}
    said = claims({"chunklab_example": report(dense, dense), "qasper": report(dense, dense)})

    assert "Fixed does not come first here: recursive does, 0.750 above it; the order differs" in said
    assert "better for\n0 of 5, with an interval above 0 for 0 of 5" in said
    assert "Recursive comes first here too." in said
    assert "Beyond chance: none." in said


def test_an_interval_that_reaches_zero_is_not_beyond_chance() -> None:
    dense = {"fixed": [0.0, 0.0, 0.0, 0.0]}
    hybrid = {"fixed": [1.0, 0.0, 0.0, 0.0], "semantic": [1.0, 1.0, 1.0, 1.0]}
    said = claims({"qasper": report(dense, hybrid)})

    assert "fixed +0.250 (+0.000 to" in said
    assert "Beyond chance: semantic." in said
