"""The command line: `chunklab COMMAND`, and `python -m flows.evaluate` for `chunklab run`."""

import argparse
import contextlib
import importlib
import io
import logging
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from chunklab_core.errors import ChunklabError, did_you_mean
from flows import status

COMMANDS = {
    "run": "compare strategies on your documents and questions",
    "cache": "show, check, prune or clear the cache",
}
"""Each command with one line about it; its module is `flows.commands.NAME`."""

_DESCRIPTION = """\
chunklab compares chunking strategies and retrievers on your own documents and questions,
and tells you whether the difference between them is real.
"""
_EPILOG = """\
examples:
  chunklab run --docs handbook/ --questions questions.yaml
      compare the default strategies on your documents
  chunklab run --help
      all options of a command, with examples
"""
_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: (--[\w-]+)")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Lists commands without a line for their placeholder."""

    def _format_action(self, action: argparse.Action) -> str:
        lines = super()._format_action(action)
        return lines.partition("\n")[2] if action.nargs == argparse.PARSER else lines


class _Parser(argparse.ArgumentParser):
    """Accepts options by their full names only, and reports a wrong one in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Help, **options)

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        """Refuses unknown options here, so that the message names the right command."""
        parsed, unknown = super().parse_known_args(*arguments, **options)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        """Ends the process with status 2."""
        unknown = _UNKNOWN_OPTION.match(message)
        if unknown:
            message = f"unknown option {unknown[1]}{did_you_mean(unknown[1], self._option_string_actions)}"
        end = "" if message.endswith((".", "?")) else "."
        self.exit(status.UNUSABLE, f"chunklab: {message.removeprefix('argument ')}{end} See: {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """`python -m flows.evaluate`; ends the process."""
    _leave(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """One evaluation from command-line arguments; returns its status."""
    parser = _Parser(prog="python -m flows.evaluate")
    command = _command("run")
    command.add_options(parser)
    return _guarded(command, parser.parse_args(arguments))


def console_script(arguments: Sequence[str] | None = None) -> None:
    """The installed command `chunklab`; ends the process."""
    parser = _Parser(prog="chunklab", description=_DESCRIPTION, epilog=_EPILOG)
    commands = parser.add_subparsers(title="commands", dest="command", metavar="command")
    for name, summary in COMMANDS.items():
        _command(name).add_options(commands.add_parser(name, help=summary))
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        _leave(status.UNUSABLE)
    _leave(_guarded(_command(options.command), options))


def _command(name: str) -> Any:
    return importlib.import_module(f"flows.commands.{name.replace('-', '_')}")


def _leave(ended: int) -> NoReturn:
    """Ends the process; immediately after an interrupt, because Prefect would wait for a server that is gone."""
    if ended == status.STOPPED:
        from flows.progress import leave_at_once

        leave_at_once()
    sys.exit(ended)


def _guarded(command: Any, options: argparse.Namespace) -> int:
    """Runs a command and returns its status; a mistake of the user gives one line, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show must not end the run
    try:
        with _messages_shown(logging.ERROR if options.quiet else logging.WARNING):
            ended: int = command.run(options)
            return ended
    except ChunklabError as error:
        print(f"chunklab: {' '.join(str(error).split())}", file=sys.stderr)  # noqa: T201
        return status.UNUSABLE
    except KeyboardInterrupt:
        return status.STOPPED
    except Exception:  # noqa: BLE001 - a bug of ours, shown in full, with a status of its own
        traceback.print_exc()
        print("chunklab: This is a bug in chunklab. Finished results are safe.", file=sys.stderr)  # noqa: T201
        return status.FAULT


@contextlib.contextmanager
def _messages_shown(level: int) -> Iterator[None]:
    """Sends our own log to standard error while it lasts, line by line, without Prefect's handlers and format."""
    handler = logging.StreamHandler()
    handler.setLevel(level)
    loggers = [logging.getLogger(name) for name in ("chunklab_core", "flows")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.propagate = True
