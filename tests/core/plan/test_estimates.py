"""Estimates come from earlier work on the same machine."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chunklab_core.cache import runs
from chunklab_core.cache.run_records import Effort, RunRecord
from chunklab_core.cache.store import Ref
from chunklab_core.plan.estimates import History

EMBED = {"stage": "embed", "label": "a", "ref": "embed/1", "parameters": {"model": {"digest": "m"}}}
SELECT = {"stage": "select", "label": "all", "ref": "select/1", "parameters": {}}
START = datetime(2026, 3, 1, tzinfo=UTC)


def record(node: Mapping[str, Any], seconds: float, new: int | None, machine: str = "") -> RunRecord:
    """A run that took two seconds and made one result."""
    items = {} if new is None else {"shelf": new}
    effort = Effort(Ref(node["ref"]), seconds, items, items)
    return RunRecord(
        run_id="1",
        machine=machine or runs.this_machine(),
        started=START,
        ended=START + timedelta(seconds=2),
        how="done",
        inputs=Ref("inputs/1"),
        refs=(Ref(node["ref"]),),
        explained={"nodes": [node]},
        made=(effort,),
    )


def seconds_of(history: History, node: Mapping[str, Any], n_new: int | None) -> float | None:
    return history.seconds(node["stage"], node["parameters"], n_new)


def test_an_estimate_is_on_the_line_through_earlier_work() -> None:
    history = History([record(EMBED, 3.0, 10), record(EMBED, 5.0, 30)])  # 2 s to load the model, 0.1 s a text

    assert seconds_of(history, EMBED, 20) == pytest.approx(4.0)
    assert seconds_of(history, EMBED, 100) == pytest.approx(12.0)
    assert seconds_of(history, EMBED, 601) is None  # more than 20 times the largest earlier work
    assert seconds_of(history, {**EMBED, "parameters": {"model": {"digest": "other"}}}, 20) is None


def test_earlier_work_of_one_size_gives_the_time_of_an_item() -> None:
    assert seconds_of(History([record(EMBED, 3.0, 10)]), EMBED, 20) == pytest.approx(6.0)


def test_a_stage_without_items_takes_the_median_time() -> None:
    history = History([record(SELECT, seconds, None) for seconds in (1.0, 2.0, 60.0)])

    assert seconds_of(history, SELECT, None) == 2.0


def test_so_does_a_stage_whose_items_are_not_counted() -> None:
    history = History([record(EMBED, seconds, 10) for seconds in (1.0, 2.0, 60.0)])

    assert seconds_of(history, EMBED, None) == 2.0


def test_work_on_another_machine_gives_no_estimate() -> None:
    history = History([record(SELECT, 1.0, None, machine="another")])

    assert not history
    assert seconds_of(history, SELECT, None) is None


def test_work_that_ran_in_parallel_is_expected_to_do_so_again() -> None:
    history = History([record(SELECT, 8.0, None)])  # eight seconds of work in two

    assert history.wall_seconds([8.0, 8.0]) == 8.0  # a quarter of 16 s, and no less than the longest
    assert history.wall_seconds([2.0] * 8) == 4.0
    assert History([]).wall_seconds([3.0, 4.0]) == 7.0


def test_the_time_of_a_run_without_work_is_part_of_every_run() -> None:
    nothing = replace(record(SELECT, 0.0, None), made=())  # two seconds for nothing

    assert History([nothing]).wall_seconds([3.0]) == 5.0
    assert History([nothing, record(SELECT, 1.0, None)]).wall_seconds([3.0]) == 5.0
