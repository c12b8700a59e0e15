"""Shows how far the stages are, on standard error, once a stage has taken longer than a moment; and stops them."""

import logging
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

_SHOWN_AFTER = 1.0  # seconds
_SOURCE = "chunklab_core.progress"


class _StoppedError(Exception):
    """The user has interrupted the run; ends a stage at the next step that it tells."""


class _Stop(logging.Handler):
    """Ends stages when the user interrupts: Prefect waits for those that run, and one may have an hour to go."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if self._wanted.is_set():
            raise _StoppedError(record.getMessage())

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Takes the place of Python's own handler of SIGINT, and does what that one does."""
        self._wanted.set()
        signal.default_int_handler(number, frame)


class _Bars(logging.Handler):
    """Draws the progress that the stages tell in their log records."""

    def __init__(self, bars: Progress) -> None:
        super().__init__()
        self._bars = bars
        self._begun: dict[tuple[str, str], float] = {}
        self._shown: dict[tuple[str, str], TaskID] = {}

    def emit(self, record: logging.LogRecord) -> None:
        stage, label, done, total = record.chunklab  # type: ignore[attr-defined]
        key = (stage, label)
        begun = self._begun.setdefault(key, time.monotonic())
        if key not in self._shown:
            if done >= total or time.monotonic() - begun < _SHOWN_AFTER:
                return
            self._shown[key] = self._bars.add_task(f"{stage} {label}", total=total)
        self._bars.update(self._shown[key], completed=done, total=total)
        if done >= total:
            self._bars.remove_task(self._shown.pop(key))


@contextmanager
def progress_shown(quiet: bool) -> Iterator[None]:
    """While it lasts, stages that take their time show a bar; nothing is drawn where output is no terminal or quiet.

    An interrupt ends the stages at their next step. For the main thread only.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bars:
        source, stop = logging.getLogger(_SOURCE), _Stop()
        source.setLevel(logging.INFO)
        source.propagate = False
        source.handlers = [stop, _Bars(bars)]
        before = signal.signal(signal.SIGINT, stop.interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
            source.handlers = []
