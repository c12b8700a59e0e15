"""The command line: `chunklab run` and `python -m flows.evaluate`."""

import argparse
import contextlib
import gc
import importlib
import io
import json
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from chunklab_core.cache.fallback import default_cache_dir, usable_cache
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.runs import about_to_begin
from chunklab_core.cache.store import Store
from chunklab_core.errors import ChunklabError, ConfigError
from chunklab_core.stages import all_stages
from flows import status
from flows.cache import add_options as add_cache_options
from flows.cache import run as run_cache
from flows.cache import typed_path

if TYPE_CHECKING:
    from chunklab_core.records.report import Report
    from flows.settings import EvaluationSettings

_EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "first_run"
_ALL_RETRIEVERS = "retrieval.compare=[dense, bm25, hybrid]"
_SAY_WHICH = ("retrieval", "retrieval.mode", "retrieval.compare")

_DESCRIPTION = """\
Compares chunking strategies, and retrievers, on your own documents and questions, and says whether any
difference is real. Without arguments it evaluates the bundled example: three retrievers, five strategies.
"""

_EPILOG = """\
examples:
  python -m flows.evaluate
      the bundled example
  python -m flows.evaluate --docs handbook/ --questions questions.yaml
      your documents; dense retrieval, the five default strategies
  python -m flows.evaluate --docs handbook/ --questions questions.yaml --compare-retrievers --set retrieval.top_k=8
      every strategy under dense, bm25 and hybrid, judged at 8 chunks
  python -m flows.evaluate --docs handbook/ --questions questions.yaml --plan
      what that would run and why; nothing is run

questions.yaml:
  questions:
    - id: refunds
      query: How long does a refund take?
      gold_snippets: [Refunds reach the card within 14 days.]

status: 0 done, 2 the input cannot be used (one line says why), 70 a fault of chunklab, 130 stopped by Ctrl-C
"""


class _Parser(argparse.ArgumentParser):
    """Options are known by their whole names only, and what is wrong with them is said in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Ends the process with status 2."""
        self.exit(status.UNUSABLE, f"chunklab: {message}. See: {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and ends the process with its status."""
    _leave(run(sys.argv[1:] if arguments is None else arguments))


def console_script(arguments: Sequence[str] | None = None) -> None:
    """The installed command `chunklab`: its first word is the command."""
    parser = _Parser(prog="chunklab", description="Is the difference between chunking strategies real?")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    _add_options(commands.add_parser("run", help="compare strategies on documents and questions", **_texts()))
    add_cache_options(commands.add_parser("cache", help="what the cache holds, whether it is whole, what can go"))
    options = parser.parse_args(arguments)
    if options.command == "cache":
        quiet = options.doing == "verify"  # it lists itself what the log would say one by one
        _leave(_guarded(partial(run_cache, options), quiet=quiet))
    _leave(_evaluate_guarded(options))


def _leave(ended: int) -> NoReturn:
    """Ends the process; after an interrupt at once, for Prefect would wait for a server that has gone."""
    if ended == status.STOPPED:
        from flows.progress import leave_at_once

        leave_at_once()
    sys.exit(ended)


def run(arguments: Sequence[str]) -> int:
    """One evaluation from command-line arguments; its status."""
    parser = _Parser(prog="python -m flows.evaluate", **_texts())
    _add_options(parser)
    return _evaluate_guarded(parser.parse_args(arguments))


def _texts() -> dict[str, Any]:
    return {
        "description": _DESCRIPTION,
        "epilog": _EPILOG,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--docs",
        metavar="PATH",
        type=typed_path,
        help="folder of documents (Markdown, text, PDF, DOCX), or one document",
    )
    add("--questions", metavar="FILE", type=typed_path, help="questions with the passages that answer them (YAML)")
    add("--config", metavar="FILE", type=typed_path, help="settings (YAML); see docs/configuration.md")
    add(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="overrides",
        help="one setting, as YAML; wins over the file",
    )
    add("--compare-retrievers", action="store_true", help="every strategy under dense, bm25 and hybrid")
    add("--out", metavar="DIR", type=typed_path, help="folder for report.json [chunklab_report]")
    add(
        "--refresh",
        metavar="STAGE",
        action="append",
        default=[],
        choices=sorted(all_stages()),
        help="run a stage again, whatever the cache holds",
    )
    add("--plan", action="store_true", help="print what would run, why and for how long, and run nothing")
    add("--no-cache", action="store_true", help="reuse nothing and keep nothing")
    add(
        "--cache-dir",
        metavar="DIR",
        type=typed_path,
        help="folder of the cache [CHUNKLAB_CACHE, else the system's cache folder]",
    )
    add("--runner", choices=["threads"], default="threads", help="what the tasks run on [threads]")
    add("--quiet", action="store_true", help="print nothing but errors")
    add("--json", action="store_true", help="print report.json instead of the tables")


def _evaluate_guarded(options: argparse.Namespace) -> int:
    """The status of an evaluation."""
    return _guarded(partial(_evaluate, options), quiet=options.quiet)


def _guarded(work: Callable[[], int], *, quiet: bool = False) -> int:
    """The status of what was asked for; the user's mistakes end in one line, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show is no reason to end
    try:
        with _messages_shown(logging.ERROR if quiet else logging.WARNING):
            return work()
    except ChunklabError as error:
        print(f"chunklab: {' '.join(str(error).split())}", file=sys.stderr)  # noqa: T201
        return status.UNUSABLE
    except KeyboardInterrupt:
        return status.STOPPED
    except Exception:  # noqa: BLE001 - a fault of ours, shown whole, under a status of its own
        traceback.print_exc()
        print("chunklab: this is a fault of chunklab; what was finished is kept.", file=sys.stderr)  # noqa: T201
        return status.FAULT


def _evaluate(options: argparse.Namespace) -> int:
    from chunklab_core.inputs.settings import load_config
    from chunklab_core.report.folder import check_output
    from chunklab_core.stages.prepare import prepare

    docs, questions = _inputs(options)
    overrides = _overrides(options)
    config = load_config(Path(options.config) if options.config else None, overrides)
    out = Path(options.out or config.output.dir)
    check_output(out)
    # What a plug-in prints is no part of the report.
    with _cache_folder(options) as cache, contextlib.redirect_stdout(sys.stderr):
        prepared = prepare(docs, questions, config, open_store(cache))
        if options.plan:
            text = _planned(options, open_store(cache), prepared)
        else:
            from flows.settings import EvaluationSettings

            settings = EvaluationSettings(
                docs=str(docs),
                questions=str(questions),
                config=options.config,
                overrides=overrides,
                out=str(out),
                refresh=options.refresh,
                cache_dir=str(cache),
                prepared=prepared,
            )
            with about_to_begin(open_store(cache)):
                text = _found(options, _run_flow(options, settings), out)
    if options.json or not options.quiet:
        print(text)  # noqa: T201
    return status.DONE


def _planned(options: argparse.Namespace, store: Store, prepared: Ref) -> str:
    """What would run, as text or JSON; nothing is run."""
    from chunklab_core.graph import nodes
    from chunklab_core.plan.plan import make_plan, plan_to_mapping
    from chunklab_core.plan.text import plan_text

    plan = make_plan(store, prepared, nodes(store, prepared), options.refresh)
    if options.no_cache:
        plan = replace(plan, steps=tuple(replace(step, reasons=("--no-cache",)) for step in plan.steps))
    return json.dumps(plan_to_mapping(plan), indent=1, ensure_ascii=False) if options.json else plan_text(plan)


def _found(options: argparse.Namespace, report: "Report", out: Path) -> str:
    from chunklab_core.report.console import render
    from chunklab_core.report.json import report_to_json

    return report_to_json(report).rstrip("\n") if options.json else render(report, out / "report.json")


def _run_flow(options: argparse.Namespace, settings: "EvaluationSettings") -> "Report":
    """Runs the flow with its history kept; an error of the flow comes out as it was raised inside.

    So Prefect need not print it as well, with its traceback, for every task that waited; it stands in the history.
    """
    if os.environ.get("PREFECT_LOGGING_LEVEL") == "WARNING":  # what we set; whoever asks for another level sees it all
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    from flows.progress import progress_shown
    from flows.server import history_kept, wait_until_recorded

    with progress_shown(options.quiet) as stop, _prefect_imported(), history_kept():
        from flows.evaluate import evaluate

        try:
            state = evaluate(settings, return_state=True)
            report: Report = state.result()
        except Exception as error:
            if stop.wanted:
                raise KeyboardInterrupt from error
            raise
        stages = report.provenance.run.stages.values()
        if state.state_details.flow_run_id:
            wait_until_recorded(state.state_details.flow_run_id, 1 + sum(s.reused + s.run for s in stages))
    return report


@contextlib.contextmanager
def _prefect_imported() -> Iterator[None]:
    """Imports it without looking for garbage: there is none, and looking for it takes a sixth of the time."""
    if "prefect" not in sys.modules and gc.isenabled():
        gc.disable()
        try:
            importlib.import_module("flows.evaluate")
            gc.freeze()
        finally:
            gc.enable()
    yield


def _overrides(options: argparse.Namespace) -> list[str]:
    """The settings typed, with the retrievers compared: where that is asked for, or for the example as it is."""
    typed = list(options.overrides)
    says_which = any(setting.partition("=")[0].strip() in _SAY_WHICH for setting in typed)
    as_it_is = options.docs is None and options.config is None and not says_which
    return [*typed, _ALL_RETRIEVERS] if options.compare_retrievers or as_it_is else typed


def _inputs(options: argparse.Namespace) -> tuple[Path, Path]:
    if options.docs is None and options.questions is None:
        return _bundled_example()
    missing = [name for name in ("docs", "questions") if getattr(options, name) is None]
    if missing:
        raise ConfigError(f"--{missing[0]} is missing: an evaluation needs both --docs and --questions.")
    return Path(options.docs), Path(options.questions)


def _bundled_example() -> tuple[Path, Path]:
    """The example of the repository; an installation without the repository does not have it."""
    if not _EXAMPLE.is_dir():
        raise ConfigError(
            "The bundled example is part of the repository and is not installed. Give --docs and --questions."
        )
    return _EXAMPLE / "docs", _EXAMPLE / "questions.yaml"


@contextlib.contextmanager
def _messages_shown(level: int) -> Iterator[None]:
    """While it lasts, our own log goes to standard error, line by line, past Prefect's handlers and their format."""
    handler = logging.StreamHandler()
    handler.setLevel(level)
    ours = [logging.getLogger(name) for name in ("chunklab_core", "flows")]
    for logger in ours:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger in ours:
            logger.removeHandler(handler)
            logger.propagate = True


@contextlib.contextmanager
def _cache_folder(options: argparse.Namespace) -> Iterator[Path]:
    if not options.no_cache:
        with usable_cache(Path(options.cache_dir) if options.cache_dir else default_cache_dir()) as cache:
            yield cache
        return
    with tempfile.TemporaryDirectory(prefix="chunklab-") as folder:
        yield Path(folder)
