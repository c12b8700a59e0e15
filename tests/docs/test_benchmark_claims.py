"""The section on published claims agrees with the reports, whatever they contain."""

from typing import Any

from benchmarks import claims

STRATEGIES = ("fixed", "recursive", "semantic", "semantic_no_floor", "structure")


def claimed(**reports: dict[str, Any]) -> str:
    """The section as one line."""
    return " ".join(claims.claims(reports).split())


def report(dense: dict[str, list[float]], hybrid: dict[str, list[float]]) -> dict[str, Any]:
    cells = []
    for retriever, recalls in (("dense", dense), ("bm25", dense), ("hybrid", hybrid)):
        for strategy in STRATEGIES:
            values = recalls.get(strategy, [0.0, 0.0, 0.0, 0.0])
            rows = [{"recall": value} for value in values]
            mean = sum(values) / len(values)
            cells.append({"strategy": strategy, "retriever": retriever, "recall_at_k": mean, "per_question": rows})
    return {"cells": cells}


def test_a_reproduced_claim_is_reported_as_such() -> None:
    dense = {"fixed": [1.0, 1.0, 1.0, 0.0], "recursive": [1.0, 0.0, 0.0, 0.0]}
    hybrid = {strategy: [1.0, 1.0, 1.0, 1.0] for strategy in STRATEGIES}
    section = claimed(chunklab_example=report(dense, hybrid))

    assert "Here: fixed 0.750, recursive 0.250" in section
    assert "Fixed comes first here too" in section
    assert "better for 5 of 5" in section
    assert "| structure | 0.000 | 0.000 | 0.929 | 1.000 | +1.000 | +1.000 to +1.000 | +0.116 |" in section


def test_a_claim_that_is_not_reproduced_is_reported_as_such() -> None:
    dense = {"recursive": [1.0, 1.0, 1.0, 1.0], "fixed": [1.0, 0.0, 0.0, 0.0]}
    section = claimed(chunklab_example=report(dense, dense), qasper=report(dense, dense))

    assert "Fixed does not come first here: recursive does, 0.750 above it; the order differs" in section
    assert "better for 0 of 5, with an interval above 0 for 0 of 5" in section
    assert "Recursive comes first here too." in section
    assert "Beyond chance: none." in section


def test_an_interval_that_reaches_zero_is_not_beyond_chance() -> None:
    dense = {"fixed": [0.0, 0.0, 0.0, 0.0]}
    hybrid = {"fixed": [1.0, 0.0, 0.0, 0.0], "semantic": [1.0, 1.0, 1.0, 1.0]}
    section = claimed(qasper=report(dense, hybrid))

    assert "fixed +0.250 (+0.000 to" in section
    assert "Beyond chance: semantic." in section
