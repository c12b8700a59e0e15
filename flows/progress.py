"""Shows how far the stages are, on standard error, once a stage has taken longer than a moment; and stops them."""

import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from flows import status

_STOPPED = "chunklab: stopped; what was finished is kept for the next run."

_SHOWN_AFTER = 1.0  # seconds
_PATIENCE = 4.0  # seconds that Prefect has to end a run in order
_SOURCE = "chunklab_core.progress"


class _PatientProgress(Progress):
    """Bars that are drawn only once their stage has taken a moment, so that quick stages do not flicker by."""

    def get_renderables(self) -> Iterator[RenderableType]:
        for task in self.tasks:
            task.visible = (task.elapsed or 0.0) > _SHOWN_AFTER
        yield from super().get_renderables()


class _StoppedError(Exception):
    """The user has interrupted the run; ends a stage at the next step that it tells."""


class _Stop(logging.Handler):
    """Ends stages when the user interrupts: Prefect waits for those that run, and one may have an hour to go."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = threading.Event()
        self.patience = threading.Timer(_PATIENCE, leave_at_once)
        self.patience.daemon = True

    @property
    def wanted(self) -> bool:
        """Whether the user has interrupted the run; what fails from then on is a part of stopping."""
        return self._wanted.is_set()

    def emit(self, record: logging.LogRecord) -> None:
        if self.wanted:
            raise _StoppedError(record.getMessage())

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Takes the place of Python's own handler of SIGINT, and does what that one does; the second time, at once."""
        if self.wanted:
            leave_at_once()
        self._wanted.set()
        self.patience.start()
        sys.stderr = io.StringIO()  # Prefect complains there of each message that its server no longer takes
        signal.default_int_handler(number, frame)


def leave_at_once() -> None:
    """Ends the process without waiting for Prefect, whose temporary server has gone with the same key press.

    Nothing is lost: what is kept is written in one step each, so that a run may end anywhere.
    """
    on_a_bar = "\n" if sys.__stderr__ and sys.__stderr__.isatty() else ""
    print(on_a_bar + _STOPPED, file=sys.__stderr__, flush=True)
    module = sys.modules.get("prefect.server.api.server")
    servers = list(module.SubprocessASGIServer._instances.values()) if module else []
    for server in servers:
        if server.server_process:
            server.server_process.kill()
    os._exit(status.STOPPED)


class _Bars(logging.Handler):
    """Draws the progress that the stages tell in their log records."""

    def __init__(self, bars: Progress) -> None:
        super().__init__()
        self._bars = bars
        self._drawn: dict[tuple[str, str], TaskID] = {}
        self._starting: TaskID | None = bars.add_task("starting Prefect", total=None, visible=False)

    def emit(self, record: logging.LogRecord) -> None:
        stage, label, done, total = record.chunklab  # type: ignore[attr-defined]
        key = (stage, label)
        if self._starting is not None:
            self._bars.remove_task(self._starting)
            self._starting = None
        if done >= total:
            if key in self._drawn:
                self._bars.remove_task(self._drawn.pop(key))
            return
        if key not in self._drawn:
            self._drawn[key] = self._bars.add_task(f"{stage} {label}", visible=False)
        self._bars.update(self._drawn[key], completed=done, total=total)


@contextmanager
def progress_shown(quiet: bool) -> Iterator[_Stop]:
    """While it lasts, stages that take their time show a bar; nothing is drawn where output is no terminal or quiet.

    An interrupt ends the stages at their next step; what is yielded says whether there was one. For the main thread.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = quiet or not console.is_terminal
    with _PatientProgress(*columns, console=console, transient=True, disable=hidden) as bars:
        source, stop = logging.getLogger(_SOURCE), _Stop()
        source.setLevel(logging.INFO)
        source.propagate = False
        source.handlers = [stop, _Bars(bars)]
        before, errors = signal.signal(signal.SIGINT, stop.interrupt), sys.stderr
        try:
            yield stop
        finally:
            stop.patience.cancel()
            sys.stderr = errors
            signal.signal(signal.SIGINT, before)
            source.handlers = []
