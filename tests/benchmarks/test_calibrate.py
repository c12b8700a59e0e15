"""A small calibration runs, counts correctly, and writes the tables of docs/statistics.md."""

from __future__ import annotations

import re

import pytest

from benchmarks.calibrate import PAGE, Judged, claims, rows, simulate, tuned_rate
from benchmarks.statistics_page import CLAIMS_HEAD, RATES_HEAD, page

RATE = re.compile(r"^(-|[01]\.\d{3}( ± 0\.\d{3})?)$")


@pytest.fixture(scope="module")
def judged() -> dict[str, list[Judged]]:
    """Two comparisons of each world."""
    return simulate(runs=0.0, seed=5, jobs=1, at_least=2)


def tables(text: str) -> list[list[list[str]]]:
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()] for block in blocks]


def test_the_page_has_the_rows_and_columns_that_the_script_writes(judged: dict[str, list[Judged]]) -> None:
    fresh = page(list(rows(judged)), list(claims(judged)), command="python -m benchmarks.calibrate", resamples=100)

    for written, now, head in zip(
        tables(PAGE.read_text(encoding="utf-8")), tables(fresh), (RATES_HEAD, CLAIMS_HEAD), strict=True
    ):
        assert tuple(written[0]) == head
        assert [row[0] for row in written] == [row[0] for row in now]
        assert {len(row) for row in written} == {len(head)}


def test_every_rate_of_the_page_is_a_share() -> None:
    rates = tables(PAGE.read_text(encoding="utf-8"))[0][2:]

    assert [cell for row in rates for cell in row[2:4] if not RATE.match(cell)] == []


def test_the_rates_of_the_page_meet_their_bounds() -> None:
    """Each rate of ours is within the bound in the last column, give or take two standard errors."""
    for world, _, ours, _, required in tables(PAGE.read_text(encoding="utf-8"))[0][2:]:
        bound = re.match(r"at (least|most) ([\d.]+)", required)
        if bound is None:
            continue
        rate, error = map(float, ours.split(" ± "))
        beyond = (rate - float(bound[2])) * (1 if bound[1] == "least" else -1)
        assert beyond >= -2 * error, world


def test_the_same_seed_judges_the_same(judged: dict[str, list[Judged]]) -> None:
    assert simulate(runs=0.0, seed=5, jobs=1, at_least=2) == judged


def test_the_plain_gate_is_tuned_to_the_lowest_bar_that_is_right_often_enough() -> None:
    """By falling share: right, right, wrong, right, wrong; so 3 of the first 4 are right, and both of the first 2."""
    judged = [
        Judged(False, False, plain, right, False, False, 0.0, 0.0)
        for plain, right in ((0.9, True), (0.99, True), (0.8, False), (0.7, True), (0.6, False))
    ]

    assert tuned_rate(judged, 0.75) == pytest.approx(4 / 5)
    assert tuned_rate(judged, 1.0) == pytest.approx(2 / 5)
    assert tuned_rate(judged[2:3], 1.0) == 0.0
