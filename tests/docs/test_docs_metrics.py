"""docs/metrics.md: its examples are right, and it names every figure of a report."""

import doctest

from pages import ROOT, read

from chunklab_core.records.health import Health
from chunklab_core.records.report import CellAtK
from chunklab_core.score import METRICS

PAGE = ROOT / "docs" / "metrics.md"


def test_the_examples_give_the_results_shown() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)

    assert result.attempted >= 8
    assert result.failed == 0


def test_every_metric_and_health_figure_is_explained() -> None:
    figures = {*METRICS, *CellAtK.__slots__, *Health.__slots__} - {"k", "metrics", "strategy", "path_shortened"}

    assert {figure for figure in figures if f"`{figure}`" not in read(PAGE)} == set()
