"""Shows how far the stages are, on standard error, once a stage has taken longer than a moment."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

_SHOWN_AFTER = 1.0  # seconds
_SOURCE = "chunklab_core.progress"


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
    """While it lasts, stages that take their time show a bar; nothing is drawn where output is no terminal or quiet."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bars:
        source, handler = logging.getLogger(_SOURCE), _Bars(bars)
        source.setLevel(logging.INFO)
        source.propagate = False
        source.addHandler(handler)
        try:
            yield
        finally:
            source.removeHandler(handler)
