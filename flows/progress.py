"""Shows on standard error how far the stages are, once a stage takes longer than a moment, and stops them on Ctrl-C."""

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

_STOPPED = "chunklab: Stopped. Finished results are safe; the next run reuses them."

_SHOWN_AFTER = 1.0  # seconds
_PATIENCE = 4.0  # seconds that Prefect has to end a run in an orderly way
_SOURCE = "chunklab_core.progress"


class _PatientProgress(Progress):
    """Draws a bar only after its stage has taken a moment, so that quick stages do not flicker."""

    def get_renderables(self) -> Iterator[RenderableType]:
        for task in self.tasks:
            task.visible = (task.elapsed or 0.0) > _SHOWN_AFTER
        yield from super().get_renderables()


class _StoppedError(Exception):
    """The user has interrupted the run; ends a stage at the next step that it reports."""


class _Stop(logging.Handler):
    """Ends stages when the user interrupts: Prefect waits for running tasks, and one may need another hour."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = threading.Event()
        self.patience = threading.Timer(_PATIENCE, leave_at_once)
        self.patience.daemon = True

    @property
    def wanted(self) -> bool:
        """Whether the user has interrupted the run; any error after that is part of stopping."""
        return self._wanted.is_set()

    def emit(self, record: logging.LogRecord) -> None:
        if self.wanted:
            raise _StoppedError(record.getMessage())

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Handles SIGINT like Python's own handler; the second time it ends the process immediately."""
        if self.wanted:
            leave_at_once()
        self._wanted.set()
        self.patience.start()
        sys.stderr = io.StringIO()  # Prefect prints an error there for every message that its server does not accept
        signal.default_int_handler(number, frame)


def leave_at_once() -> None:
    """Ends the process without waiting for Prefect, whose temporary server has received the same Ctrl-C.

    Nothing is lost: every result is written in one step, so a run may end anywhere.
    """
    below_bar = "\n" if sys.__stderr__ and sys.__stderr__.isatty() else ""
    print(below_bar + _STOPPED, file=sys.__stderr__, flush=True)
    module = sys.modules.get("prefect.server.api.server")
    servers = list(module.SubprocessASGIServer._instances.values()) if module else []
    for server in servers:
        if server.server_process:
            server.server_process.kill()
    os._exit(status.STOPPED)


class _Bars(logging.Handler):
    """Draws the progress that the stages report in their log records."""

    def __init__(self, bars: Progress, waiting_for: str | None) -> None:
        super().__init__()
        self._bars = bars
        self._drawn: dict[tuple[str, str], TaskID] = {}
        self._waiting = bars.add_task(waiting_for, total=None, visible=False) if waiting_for else None

    def emit(self, record: logging.LogRecord) -> None:
        stage, label, done, total = record.chunklab  # type: ignore[attr-defined]
        key = (stage, label)
        if self._waiting is not None:
            self._bars.remove_task(self._waiting)
            self._waiting = None
        if done >= total:
            if key in self._drawn:
                self._bars.remove_task(self._drawn.pop(key))
            return
        if key not in self._drawn:
            self._drawn[key] = self._bars.add_task(f"{stage} {label}", visible=False)
        self._bars.update(self._drawn[key], completed=done, total=total)


@contextmanager
def progress_shown(quiet: bool, waiting_for: str | None = None) -> Iterator[_Stop]:
    """Shows a bar for each stage that takes its time; draws nothing if `quiet` or if standard error is no terminal.

    An interrupt ends the stages at their next step; the yielded object knows whether there was one. Use it in the main
    thread.

    Args:
        quiet: draw nothing.
        waiting_for: a bar without an end, until the first stage reports a step.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = quiet or not console.is_terminal
    with _PatientProgress(*columns, console=console, transient=True, disable=hidden) as bars:
        source, stop = logging.getLogger(_SOURCE), _Stop()
        source.setLevel(logging.INFO)
        source.propagate = False
        source.handlers = [stop, _Bars(bars, waiting_for)]
        handler, stderr = signal.signal(signal.SIGINT, stop.interrupt), sys.stderr
        try:
            yield stop
        finally:
            stop.patience.cancel()
            sys.stderr = stderr
            signal.signal(signal.SIGINT, handler)
            source.handlers = []
