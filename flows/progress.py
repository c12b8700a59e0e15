"""Shows how far the stages are, on standard error, once a stage has taken longer than a moment."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

_SHOWN_AFTER = 1.0  # seconds
_SOURCE = "chunklab_core.progress"


class _PatientProgress(Progress):
    """Bars that are drawn only once their stage has taken a moment, so that quick stages do not flicker by."""

    def get_renderables(self) -> Iterator[RenderableType]:
        for task in self.tasks:
            task.visible = (task.elapsed or 0.0) > _SHOWN_AFTER
        yield from super().get_renderables()


class _Bars(logging.Handler):
    """Draws the progress that the stages tell in their log records."""

    def __init__(self, bars: Progress) -> None:
        super().__init__()
        self._bars = bars
        self._drawn: dict[tuple[str, str], TaskID] = {}

    def emit(self, record: logging.LogRecord) -> None:
        stage, label, done, total = record.chunklab  # type: ignore[attr-defined]
        key = (stage, label)
        if done >= total:
            if key in self._drawn:
                self._bars.remove_task(self._drawn.pop(key))
            return
        if key not in self._drawn:
            self._drawn[key] = self._bars.add_task(f"{stage} {label}", visible=False)
        self._bars.update(self._drawn[key], completed=done, total=total)


@contextmanager
def progress_shown(quiet: bool) -> Iterator[None]:
    """While it lasts, stages that take their time show a bar; nothing is drawn where output is no terminal or quiet."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = quiet or not console.is_terminal
    with _PatientProgress(*columns, console=console, transient=True, disable=hidden) as bars:
        source, handler = logging.getLogger(_SOURCE), _Bars(bars)
        source.setLevel(logging.INFO)
        source.propagate = False
        source.addHandler(handler)
        try:
            yield
        finally:
            source.removeHandler(handler)
