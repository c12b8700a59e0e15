"""The command `chunklab run`: one evaluation, or its plan."""

import argparse
import contextlib
import gc
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunklab_core.cache.fallback import default_cache_dir, usable_cache
from chunklab_core.cache.overlay import open_store
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.runs import about_to_begin
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError, did_you_mean
from chunklab_core.stages import all_stages
from flows import status
from flows.options import add_cache_dir, path
from flows.progress import progress_shown

if TYPE_CHECKING:
    from chunklab_core.records.report import Report

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "first_run"
_ALL_RETRIEVERS = "retrieval.compare=[dense, bm25, hybrid]"
_RETRIEVER_KEYS = ("retrieval", "retrieval.mode", "retrieval.compare")

_DESCRIPTION = """\
Compares chunking strategies and retrievers on your documents and questions, and tells you whether
the difference is real. Without --docs and --questions it evaluates the bundled example: five
strategies, each with three retrievers. The next run repeats only the work that a change
affects.
"""
_EPILOG = """\
examples:
  %(prog)s
      evaluate the bundled example
  %(prog)s --docs handbook/ --questions questions.yaml
      your documents, with dense retrieval and the five default strategies
  %(prog)s --docs handbook/ --questions questions.yaml --compare-retrievers --set retrieval.top_k=8
      every strategy with dense, bm25 and hybrid retrieval, scored on 8 chunks
  %(prog)s --docs handbook/ --questions questions.yaml --plan
      what such a run would do, and why

questions.yaml:
  questions:
    - id: refunds
      query: How long does a refund take?
      gold_snippets: [Refunds reach the card within 14 days.]

exit status:
  0    the run is finished
  2    an input cannot be used; one line explains what to change
  70   a bug in chunklab
  130  you stopped the run with Ctrl-C; finished results are kept
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `chunklab run`."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    _add_inputs(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--out", metavar="DIR", type=path, help="folder for report.json [chunklab_report]")
    group.add_argument(
        "--json", action="store_true", help="print report.json instead of the tables; with --plan, the plan as JSON"
    )
    group.add_argument("--quiet", action="store_true", help="print errors only")
    group = parser.add_argument_group("execution")
    group.add_argument("--plan", action="store_true", help="print what would run, why and for how long; run nothing")
    group.add_argument(
        "--refresh",
        metavar="STAGE",
        action="append",
        default=[],
        type=_stage,
        help=f"run a stage again even if the cache has its results; may be repeated ({', '.join(all_stages())})",
    )
    group.add_argument("--no-cache", action="store_true", help="reuse nothing and keep nothing")
    add_cache_dir(group)
    group.add_argument("--runner", choices=["threads"], default="threads", help="where the tasks run [threads]")


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("input").add_argument
    add("--docs", metavar="PATH", type=path, help="folder of documents (Markdown, text, PDF, DOCX), or one document")
    add("--questions", metavar="FILE", type=path, help="questions with the passages that answer them (YAML, see below)")
    add = parser.add_argument_group("settings").add_argument
    add("--config", metavar="FILE", type=path, help="settings (YAML), see docs/configuration.md")
    add(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="overrides",
        help="one setting, such as retrieval.top_k=8; overrides the file, may be repeated",
    )
    add("--compare-retrievers", action="store_true", help="run every strategy with dense, bm25 and hybrid retrieval")


def run(options: argparse.Namespace) -> int:
    """Evaluates, or plans an evaluation, and prints the result; returns the status."""
    from chunklab_core.report.folder import check_output
    from chunklab_core.stages.prepare import prepare, read_config

    docs, questions = _inputs(options)
    overrides = _overrides(options)
    config = read_config(options.config, overrides)
    out = Path(options.out or config.output.dir)
    check_output(out)
    # The output of a plug-in is no part of the report.
    with _cache_folder(options) as cache, contextlib.redirect_stdout(sys.stderr):
        store = open_store(cache)
        with progress_shown(options.quiet, "reading documents and questions"):
            prepared = prepare(docs, questions, config, store)
        if options.plan:
            text = _plan(options, store, prepared)
        else:
            inputs = {"docs": str(docs), "questions": str(questions), "overrides": overrides, "prepared": prepared}
            with about_to_begin(store):
                text = _rendered(options, _evaluate(options, inputs, out, cache), out)
    if options.json or not options.quiet:
        print(text)  # noqa: T201
    return status.DONE


def _stage(name: str) -> str:
    if name not in all_stages():
        raise argparse.ArgumentTypeError(f"unknown stage {name!r}{did_you_mean(name, all_stages())}")
    return name


# ---------------------------------------------------------------- inputs


def _inputs(options: argparse.Namespace) -> tuple[Path, Path]:
    """The documents and the questions; the bundled example if neither is given."""
    if options.docs is None and options.questions is None:
        if not _EXAMPLE.is_dir():
            raise ConfigError("The bundled example is not part of the installation. Give --docs and --questions.")
        return _EXAMPLE / "docs", _EXAMPLE / "questions.yaml"
    for name in ("docs", "questions"):
        if getattr(options, name) is None:
            raise ConfigError(f"--{name} is missing. Give both --docs and --questions.")
    return Path(options.docs), Path(options.questions)


def _overrides(options: argparse.Namespace) -> list[str]:
    """The settings given, plus all retrievers on request, or for the example if no setting names a retriever."""
    overrides = list(options.overrides)
    names_retriever = any(setting.partition("=")[0].strip() in _RETRIEVER_KEYS for setting in overrides)
    is_plain_example = options.docs is None and options.config is None and not names_retriever
    return [*overrides, _ALL_RETRIEVERS] if options.compare_retrievers or is_plain_example else overrides


@contextlib.contextmanager
def _cache_folder(options: argparse.Namespace) -> Iterator[Path]:
    if not options.no_cache:
        with usable_cache(Path(options.cache_dir) if options.cache_dir else default_cache_dir()) as cache:
            yield cache
        return
    with tempfile.TemporaryDirectory(prefix="chunklab-") as folder:
        yield Path(folder)


# ---------------------------------------------------------------- the plan and the report as text


def _plan(options: argparse.Namespace, store: Store, prepared: Ref) -> str:
    """What would run, as text or JSON; runs nothing."""
    from chunklab_core.graph import nodes
    from chunklab_core.plan.plan import make_plan
    from chunklab_core.plan.reasons import Reason
    from chunklab_core.plan.text import plan_text, plan_to_mapping

    with progress_shown(options.quiet, "planning"):
        plan = make_plan(store, prepared, nodes(store, prepared), options.refresh)
    if options.no_cache:
        plan = replace(plan, steps=tuple(replace(step, reasons=(Reason("no_cache"),)) for step in plan.steps))
    return json.dumps(plan_to_mapping(plan), indent=1, ensure_ascii=False) if options.json else plan_text(plan)


def _rendered(options: argparse.Namespace, report: "Report", out: Path) -> str:
    from chunklab_core.report.console import render
    from chunklab_core.report.json import report_to_json

    return report_to_json(report).rstrip("\n") if options.json else render(report, out / "report.json")


# ---------------------------------------------------------------- the flow


def _evaluate(options: argparse.Namespace, inputs: dict[str, Any], out: Path, cache: Path) -> "Report":
    """Runs the flow and keeps its history; raises an error of the flow as it was raised inside.

    So Prefect need not print the error too, with a traceback for every task that waited. The history has it.
    """
    from flows.settings import EvaluationSettings

    kept = {"config": options.config, "refresh": options.refresh, "out": str(out), "cache_dir": str(cache)}
    settings = EvaluationSettings(**inputs, **kept)
    if os.environ.get("PREFECT_LOGGING_LEVEL") == "WARNING":  # our own setting; with another level, Prefect prints all
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    from flows.server import history_kept, wait_until_recorded

    with progress_shown(options.quiet, "starting Prefect") as stop, _prefect_imported(), history_kept():
        from flows.evaluation import evaluate

        try:
            state = evaluate(settings, return_state=True)
            report: Report = state.result()
        except Exception as error:
            if stop.wanted:
                raise KeyboardInterrupt from error
            raise
        if state.state_details.flow_run_id:
            n_tasks = 1 + sum(stage.reused + stage.run for stage in report.provenance.run.stages.values())
            wait_until_recorded(state.state_details.flow_run_id, n_tasks)
    return report


@contextlib.contextmanager
def _prefect_imported() -> Iterator[None]:
    """Imports Prefect without garbage collection: there is no garbage yet, and collecting takes a sixth of the time."""
    if "prefect" not in sys.modules and gc.isenabled():
        gc.disable()
        try:
            importlib.import_module("flows.evaluation")
            gc.freeze()
        finally:
            gc.enable()
    yield
