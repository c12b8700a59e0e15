"""`chunklab run`: its screen, and how it refuses unusable inputs: in one line, and leaving nothing behind."""

import argparse
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from worlds import QUESTIONS, Run, World

from chunklab_core.stages import all_stages
from flows import cli
from flows.commands.run import _ALL_RETRIEVERS, _overrides, add_options

ROOT = Path(__file__).resolve().parents[3]

# One process for all calls: starting Python takes longer than refusing.
RUN_ALL = """
import contextlib, io, json, sys
from flows import cli
outcomes = []
for arguments in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.run(arguments)
        except SystemExit as end:
            status = end.code
    loaded = [name for name in ("prefect", "torch") if name in sys.modules]
    outcomes.append([status, out.getvalue(), err.getvalue(), loaded])
json.dump(outcomes, sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    out: str
    err: str
    loaded: list[str]


def run_all(calls: list[list[str]]) -> list[Outcome]:
    ended = subprocess.run(
        [sys.executable, "-c", RUN_ALL],
        input=json.dumps(calls),
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return [Outcome(*each) for each in json.loads(ended.stdout)]


def with_questions(questions: object) -> Callable[[World], list[str]]:
    """Arguments with a questions file of this content."""

    def write(world: World) -> list[str]:
        text = questions if isinstance(questions, str) else json.dumps({"questions": questions})
        (world.folder / "questions.yaml").write_text(text, encoding="utf-8")
        return world.arguments()

    return write


def with_setting(*settings: str) -> Callable[[World], list[str]]:
    return lambda world: world.arguments(*(part for setting in settings for part in ("--set", setting)))


def with_strategy(name: str, **params: Any) -> Callable[[World], list[str]]:
    return lambda world: world.arguments(strategies=[{"name": name, "params": params}])


def with_config(text: str) -> Callable[[World], list[str]]:
    def write(world: World) -> list[str]:
        (world.folder / "config.yaml").write_text(text, encoding="utf-8")
        return world.arguments("--config", str(world.folder / "config.yaml"))

    return write


def with_documents(**texts: str) -> Callable[[World], list[str]]:
    """Arguments with a folder of just these files; `__` stands for a dot in their names."""

    def write(world: World) -> list[str]:
        folder = world.folder / "others"
        folder.mkdir()
        for name, text in texts.items():
            (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
        return world.arguments("--docs", str(folder))

    return write


def with_file_in_the_path(of: str) -> Callable[[World], list[str]]:
    def write(world: World) -> list[str]:
        (world.folder / "taken").write_text("", encoding="utf-8")
        return world.arguments(of, str(world.folder / "taken" / "below"))

    return write


def without(option: str) -> Callable[[World], list[str]]:
    def cut(world: World) -> list[str]:
        arguments = world.arguments()
        at = arguments.index(option)
        return arguments[:at] + arguments[at + 2 :]

    return cut


CARD = QUESTIONS[0]
REFUSED: dict[str, tuple[Callable[[World], list[str]], list[str]]] = {
    "no such folder": (lambda w: w.arguments("--docs", "nowhere"), ["The folder nowhere does not exist", "--docs"]),
    "empty folder": (with_documents(), ["is empty"]),
    "unsupported files": (with_documents(a__csv="1", b__exe="2"), ["a.csv", "Markdown"]),
    "no questions file": (lambda w: w.arguments("--questions", "nowhere.yaml"), ["nowhere.yaml"]),
    "an empty questions file": (with_questions(""), ["has no questions"]),
    "no questions": (with_questions([]), ["has no questions"]),
    "no gold at all": (with_questions([{"id": "a", "query": "b"}]), ["gold"]),
    "duplicate ids": (with_questions([CARD, CARD]), ["card", "2"]),
    "a document that is not there": (with_questions([{**CARD, "documents": ["refund.md"]}]), ["'refunds.md'"]),
    "broken questions": (with_questions("questions: [a: b: c"), ["questions.yaml"]),
    "unknown strategy": (with_strategy("recursiv"), ["'recursiv'", "'recursive'"]),
    "unknown parameter": (with_strategy("fixed", chunk_sise=9), ["chunk_sise", "chunk_size"]),
    "overlap as large as the chunk": (with_strategy("fixed", chunk_size=10, overlap=10), ["overlap", "10"]),
    "overlap larger than the chunk": (with_strategy("recursive", chunk_size=10, overlap=11), ["overlap", "11"]),
    "chunks of zero tokens": (with_strategy("fixed", chunk_size=0), ["chunk_size is 0"]),
    "chunks of negative size": (with_strategy("structure", max_tokens=-5), ["max_tokens is -5"]),
    "a size that is no number": (with_setting("eval.fuzzy_threshold=.nan"), ["eval.fuzzy_threshold", "nan"]),
    "unknown retriever": (with_setting("retrieval.mode=bm52"), ["bm52", "'bm25'"]),
    "unknown key": (with_setting("retrieval.topk=5"), ["'retrieval.topk'", "'retrieval.top_k'"]),
    "k of zero": (with_setting("retrieval.top_k=0"), ["retrieval.top_k", "0"]),
    "negative k1": (with_setting("retrieval.bm25.k1=-1"), ["retrieval.bm25.k1", "-1"]),
    "a setting without a value": (with_setting("retrieval.top_k"), ["--set"]),
    "no such config": (lambda w: w.arguments("--config", "nowhere.yaml"), ["nowhere.yaml"]),
    "a folder as config": (lambda w: w.arguments("--config", str(w.docs)), ["docs"]),
    "a broken config": (with_config("retrieval: [unclosed"), ["config.yaml"]),
    "a config that is no mapping": (with_config("- a\n- b\n"), ["config.yaml", "mapping"]),
    "a report below a file": (with_file_in_the_path("--out"), ["taken", "--out"]),
    "a report in place of a file": (lambda w: w.arguments("--out", str(w.folder / "stub.py")), ["stub.py", "--out"]),
    "a cache below a file": (with_file_in_the_path("--cache-dir"), ["taken", "--cache-dir"]),
    "no such model": (lambda w: w.arguments(model="nosuch/model"), ["'nosuch/model'", "all-MiniLM-L6-v2"]),
    "no such plug-in": (lambda w: w.arguments(model="nowhere.py:Stub"), ["nowhere.py"]),
    "no such plug-in chunker": (with_strategy("nowhere.py:Chunker"), ["nowhere.py"]),
    "another runner": (lambda w: w.arguments("--runner", "dask"), ["--runner", "'dask'", "threads"]),
    "unknown stage": (lambda w: w.arguments("--refresh", "chunks"), ["--refresh", "'chunks'", "chunk"]),
    "unknown option": (lambda w: w.arguments("--questoins", "x"), ["--questoins"]),
    "an option cut short": (lambda w: w.arguments("--quie"), ["--quie"]),
    "questions alone": (without("--docs"), ["--docs is missing"]),
    "documents alone": (without("--questions"), ["--questions is missing"]),
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[World, Outcome]]:
    folder = tmp_path_factory.mktemp("refusals")
    worlds = {case: World(folder / case.replace(" ", "-")).write() for case in REFUSED}
    outcomes = run_all([REFUSED[case][0](world) for case, world in worlds.items()])
    return {case: (world, each) for (case, world), each in zip(worlds.items(), outcomes, strict=True)}


@pytest.mark.parametrize("case", REFUSED)
def test_unusable_inputs_are_refused_in_one_line(refusals: dict[str, tuple[World, Outcome]], case: str) -> None:
    world, outcome = refusals[case]

    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("chunklab: ")
    assert outcome.err.count("\n") == 1
    assert [fragment for fragment in REFUSED[case][1] if fragment not in outcome.err] == []
    assert outcome.loaded == []
    assert not (world.folder / "out").exists()
    kept = {path.name for path in (world.cache / "results").glob("*")}
    assert not kept & {*all_stages(), "inputs"}


def test_help_shows_the_question_file_examples_and_the_status_codes() -> None:
    (outcome,) = run_all([["--help"]])

    assert (outcome.status, outcome.err, outcome.loaded) == (0, "", [])
    for part in ("examples:", "python -m flows.evaluate --docs", "gold_snippets:", "report.json", "status:\n  0 "):
        assert part in outcome.out


# ---------------------------------------------------------------- runs


def call(*arguments: str) -> tuple[int, str, str]:
    """Status, standard output and standard error of a run in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.run(arguments)
    return status, out.getvalue(), err.getvalue()


@pytest.mark.prefect
def test_quiet_prints_nothing_and_a_plain_run_one_screen_with_the_path_of_the_report(world: World) -> None:
    assert call("--quiet", *world.arguments()) == (0, "", "")

    status, out, err = call(*world.arguments())

    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == f"Report: {world.folder / 'out' / 'report.json'}"
    assert "fixed/hybrid" in out


@pytest.mark.prefect
def test_json_is_the_report_and_nothing_else(world: World) -> None:
    status, out, err = call("--json", *world.arguments())

    assert (status, err) == (0, "")
    assert out == (world.folder / "out" / "report.json").read_text(encoding="utf-8")
    assert json.loads(out)["schema_version"] == 1


@pytest.mark.prefect
def test_a_run_without_cache_finds_the_same_and_keeps_nothing(
    first: tuple[World, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, scratch = World(tmp_path / "world").write(), tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    run = world.run("--no-cache")

    assert run.figures == first[1].figures
    assert not world.cache.exists()
    assert list(scratch.iterdir()) == []


@pytest.mark.prefect
def test_keywords_alone_need_no_model(prefect_backend: str, tmp_path: Path) -> None:
    world = World(tmp_path).write()
    arguments = world.arguments("--set", "retrieval.mode=bm25", model="nosuch/model", strategies=[{"name": "fixed"}])
    arguments.remove("--compare-retrievers")

    status, out, err = call("--json", *arguments)

    assert (status, err) == (0, "")
    assert [(cell["cell"], cell["model"]) for cell in json.loads(out)["cells"]] == [("fixed/bm25", None)]


@pytest.mark.prefect
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def __call__(self, texts): return [0.0, 1.0]", "broken.py:Broken returned an array of shape (2,)"),
        ("def __init__(self): raise OSError('weights are gone')", "cannot be loaded: OSError: weights are gone"),
    ],
)
def test_a_model_that_fails_in_the_middle_ends_in_one_line_without_a_report(
    prefect_backend: str, tmp_path: Path, body: str, message: str
) -> None:
    world = World(tmp_path).write()
    (tmp_path / "broken.py").write_text(f"class Broken:\n    {body}\n", encoding="utf-8")

    status, out, err = call(*world.arguments(model=f"{tmp_path / 'broken.py'}:Broken"))

    assert (status, out) == (2, "")
    assert err.startswith("chunklab: ")
    assert message in err.splitlines()[0]
    assert not (tmp_path / "out").exists()


def interrupted(tmp_path: Path, environment: dict[str, str], whole_group: bool) -> tuple[int, str, str, World]:
    """Status, output, errors and world of a run that is interrupted while it embeds; a terminal reaches the group."""
    world = World(tmp_path).write()
    stub = (tmp_path / "stub.py").read_text(encoding="utf-8")
    (tmp_path / "slow.py").write_text(
        f"{stub}\n\nclass Slow(Stub):\n    def __call__(self, texts):\n        found = super().__call__(texts)\n"
        "        __import__('time').sleep(3)\n        return found\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "flows.evaluate", *world.arguments(model=f"{tmp_path / 'slow.py'}:Slow")]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes) as running:
        deadline = time.monotonic() + 180
        parsed = world.cache / "results" / "parse"
        while not ((tmp_path / "slow.seen").exists() and parsed.exists()) and time.monotonic() < deadline:
            time.sleep(0.05)
        (os.killpg if whole_group else os.kill)(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=30)
    return running.returncode, out, err, world


@pytest.mark.prefect
def test_an_interrupt_ends_in_one_line_and_keeps_finished_results(prefect_backend: str, tmp_path: Path) -> None:
    status, out, err, world = interrupted(tmp_path, {**os.environ, "PREFECT_API_URL": prefect_backend}, False)

    assert (status, out) == (130, "")
    assert err == "chunklab: Stopped. Finished results are safe; the next run reuses them.\n"
    assert not (tmp_path / "out").exists()
    parsed = world.cache / "results" / "parse"
    assert [path for path in parsed.rglob("*") if path.is_file() and len(path.name) == 64]


@pytest.mark.slow
@pytest.mark.prefect
def test_an_interrupt_that_ends_the_temporary_server_too_ends_the_run_soon(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    (tmp_path / "home").mkdir()
    status, out, err, _ = interrupted(tmp_path, {**environment, "PREFECT_HOME": str(tmp_path / "home")}, True)

    assert (status, out) == (130, "")
    assert err == "chunklab: Stopped. Finished results are safe; the next run reuses them.\n"


@pytest.mark.parametrize(
    ("arguments", "compared"),
    [
        ([], True),  # the example as it is
        (["--set", "eval.seed=1"], True),
        (["--set", "retrieval.top_k=3"], True),
        (["--set", "retrieval.mode=bm25"], False),  # the user's setting wins
        (["--set", "retrieval.compare=[bm25]"], False),
        (["--config", "mine.yaml"], False),
        (["--docs", "mine"], False),
        (["--docs", "mine", "--compare-retrievers"], True),
    ],
)
def test_the_example_compares_retrievers_unless_the_user_says_which(arguments: list[str], compared: bool) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)

    assert (_ALL_RETRIEVERS in _overrides(parser.parse_args(arguments))) is compared
