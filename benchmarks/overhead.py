"""What a re-run in which nothing changed costs beyond Prefect itself.

Why: "only what changed runs again" is worth little where finding out that nothing changed takes seconds. Both sides
are whole commands in fresh processes, taken in turns on one machine, so that what else the machine does falls on both.

    python -m benchmarks.overhead [--docs PATH --questions FILE] [--cache-dir DIR] [--rounds N] [-- OPTION ...]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.tables import SETS, cpu_of_children
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.store import Store
from chunklab_core.graph import inputs_of, nodes
from chunklab_core.stages.stage import Node
from flows.server import answers  # importing `flows` also makes the settings of the command line, for both sides

ROOT = Path(__file__).resolve().parents[1]
_SERVER_WITHIN = 120.0  # seconds
_ASK_AGAIN_AFTER = 0.2  # seconds

_HEAD = """\
| | empty tasks, s | re-run, s | re-run adds, s | empty tasks, CPU s | re-run, CPU s | re-run adds, CPU s |
|---|---|---|---|---|---|---|"""


@dataclass(frozen=True, slots=True)
class Took:
    """What one process took with its children; a server that was there before is none of them."""

    wall_seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Side:
    """The two commands that are compared, each with what it took in every round."""

    empty: list[Took]
    rerun: list[Took]


def main() -> int:
    """Status 0; 1 where a re-run adds more than `--at-most` says."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="chunklab-overhead-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        cache = Path(options.cache_dir or folder / "cache").absolute()
        environment = _environment(folder)
        rerun = _rerun(options, cache, folder / "out")
        _say("filling the cache ...")
        _time(rerun, environment)
        empty = ["-m", "benchmarks.floor", str(_plan(cache, folder))]
        _time(empty, environment)  # writes Prefect's records of the empty tasks
        alone = _compare(empty, rerun, environment, options.rounds, "without a server")
        with _server(environment):
            served = _compare(empty, rerun, environment, options.rounds, "with a server")
    print(_HEAD)
    print(row("without a server", alone))
    print(row("with a running server", served))
    return int(options.at_most is not None and max(map(adds, (alone, served))) > options.at_most)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.overhead", description="What a re-run costs beyond Prefect itself."
    )
    example = f"{SETS}/chunklab_example"
    parser.add_argument("--docs", default=f"{example}/docs", metavar="PATH", help=f"[{example}/docs]")
    parser.add_argument("--questions", default=f"{example}/questions.yaml", metavar="FILE")
    parser.add_argument("--cache-dir", metavar="DIR", help="folder of the cache [an empty one, filled first]")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="runs of each side [7]")
    parser.add_argument("--at-most", type=float, metavar="SECONDS", help="status 1 where a re-run adds more")
    parser.add_argument("more", nargs="*", metavar="OPTION", help="options of flows.evaluate, after --")
    return parser.parse_args()


def _rerun(options: argparse.Namespace, cache: Path, out: Path) -> list[str]:
    inputs = ["--docs", options.docs, "--questions", options.questions, "--compare-retrievers"]
    return ["-m", "flows.evaluate", *inputs, "--cache-dir", str(cache), "--out", str(out), *options.more]


def _environment(folder: Path) -> dict[str, str]:
    """That of all processes: a history of their own, and the rest as the command line sets it."""
    ours = {
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_API_PORT": _free_port(),
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    }
    return {**{name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}, **ours}


def _plan(cache: Path, folder: Path) -> Path:
    """The tasks of the evaluation whose report lies in `folder`, as the empty flow reads them."""
    report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    stages = {stage: told["reused"] + told["run"] for stage, told in report["provenance"]["run"]["stages"].items()}
    store, kept = Store(cache), (cache / "results" / "inputs").rglob("*")
    plans = (tasks_of(nodes(store, Ref(f"inputs/{path.name}"))) for path in kept if path.is_file())
    # Another evaluation in this cache, with as many tasks of each stage, serves as well.
    tasks = next(each for each in plans if Counter(one["stage"] for one in each) == stages)
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"nodes": tasks, "records": str(folder / "records")}), encoding="utf-8")
    return plan


def tasks_of(work: Iterable[Node]) -> list[dict[str, Any]]:
    """Of each node its stage, its label, its reference, and the references of the nodes that it waits for."""
    known = {one.ref: one for one in work}
    return [
        {
            "stage": one.stage,
            "label": one.label,
            "ref": ref,
            "after": [each for each in dict.fromkeys(inputs_of(one)) if each in known],
        }
        for ref, one in known.items()
    ]


# ---------------------------------------------------------------- running


def _compare(
    empty: Sequence[str], rerun: Sequence[str], environment: Mapping[str, str], rounds: int, mode: str
) -> Side:
    """Both commands in turns; in every other round the second one is first."""
    side = Side([], [])
    for number in range(rounds):
        turns = [(side.empty, empty), (side.rerun, rerun)]
        for took, command in turns[:: -1 if number % 2 else 1]:
            took.append(_time(command, environment))
        _say(f"{mode}, round {number + 1}: {side.empty[-1].wall_seconds:.2f} s, {side.rerun[-1].wall_seconds:.2f} s")
    return side


def _time(command: Sequence[str], environment: Mapping[str, str]) -> Took:
    begun, cpu_begun = time.monotonic(), cpu_of_children()
    subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
    return Took(time.monotonic() - begun, cpu_of_children() - cpu_begun)


@contextlib.contextmanager
def _server(environment: Mapping[str, str]) -> Iterator[None]:
    """A Prefect server of our own, where the runs look for one."""
    port = environment["PREFECT_SERVER_API_PORT"]
    command = [sys.executable, "-m", "prefect", "server", "start", "--no-ui", "--port", port]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + _SERVER_WITHIN
            while not answers(f"http://127.0.0.1:{port}/api"):
                if server.poll() is not None or time.monotonic() > deadline:
                    sys.exit("The Prefect server does not start.")
                time.sleep(_ASK_AGAIN_AFTER)
            yield
        finally:
            server.terminate()


def _free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


# ---------------------------------------------------------------- telling


def adds(side: Side, kind: str = "wall_seconds") -> float:
    """Seconds that a re-run adds: the median over the rounds, in each of which both sides stand beside one another."""
    return median(getattr(r, kind) - getattr(e, kind) for e, r in zip(side.empty, side.rerun, strict=True))


def row(mode: str, side: Side) -> str:
    """One line of the table: wall seconds, then seconds of the processors."""
    figures = []
    for kind in ("wall_seconds", "cpu_seconds"):
        empty, rerun = (median(getattr(took, kind) for took in each) for each in (side.empty, side.rerun))
        figures += [empty, rerun, adds(side, kind)]
    return f"| {' | '.join([mode, *(f'{figure:.2f}' for figure in figures)])} |"


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
