"""Progress bars, and how an interrupt ends a stage."""

import logging
import signal

import pytest
from rich.progress import Progress

from flows.progress import _Bars, progress_shown


def test_after_an_interrupt_a_stage_ends_at_its_next_step() -> None:
    step, before = {"chunklab": ("embed", "fixed", 1, 9)}, signal.getsignal(signal.SIGINT)

    with progress_shown(quiet=True):
        logging.getLogger("chunklab_core.progress").info("embed fixed: 1 of 9", extra=step)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(Exception, match="embed fixed: 2 of 9"):
            logging.getLogger("chunklab_core.progress").info("embed fixed: 2 of 9", extra=step)

    assert signal.getsignal(signal.SIGINT) is before


def test_the_wait_is_shown_until_the_first_stage_reports_a_step() -> None:
    bars = Progress()
    handler = _Bars(bars, "starting Prefect")
    assert [task.description for task in bars.tasks] == ["starting Prefect"]

    for done in (0, 1):
        record = logging.makeLogRecord({"chunklab": ("embed", "fixed", done, 2)})
        handler.emit(record)
    assert [(task.description, task.completed, task.total) for task in bars.tasks] == [("embed fixed", 1, 2)]
    handler.emit(logging.makeLogRecord({"chunklab": ("embed", "fixed", 2, 2)}))
    assert bars.tasks == []
