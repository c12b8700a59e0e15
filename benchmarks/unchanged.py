"""Times a second run over many small documents of which none has changed.

Why: a run in which nothing has changed is the one that users wait for most often, and what it costs grows with the
number of documents, not with the work that is left to do.

    python -m benchmarks.unchanged [--documents 10000] [--folder FOLDER]

Each run has a process of its own. The first fills the cache, the second is measured: in process, by the command line,
and beside them a flow of as many tasks that do nothing, which is what Prefect takes for itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
N_QUESTIONS = 50
_SYLLABLES = ("ba", "co", "di", "fu", "ga", "hi", "jo", "ku", "la", "mi", "no", "pe", "ra", "si", "to", "vu")

_STUB = '''\
"""An embedder without a model: hashed words."""

import zlib

import numpy as np


class Stub:
    def __call__(self, texts):
        rows = np.full((len(texts), 64), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % 64] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
'''

_IN_PROCESS = """\
import sys
from chunklab_core.pipeline import evaluate
from chunklab_core.report import write_report
from pathlib import Path
report = evaluate("docs", "questions.yaml", "config.yaml", cache="cache")
write_report(report, Path("out"))
stages = report.provenance.run.stages.values()
print(sum(each.run for each in stages), "made,", sum(each.reused for each in stages), "reused")
"""

_EMPTY_TASKS = """\
import sys
import flows
from flows.server import history_kept, wait_until_recorded
from prefect import flow, task
from prefect.task_runners import ThreadPoolTaskRunner

@task(persist_result=False)
def nothing(number):
    return number

@flow(task_runner=ThreadPoolTaskRunner(max_workers=8), persist_result=False)
def empty(n):
    for each in [nothing.submit(number) for number in range(n)]:
        each.result()

with history_kept():
    state = empty(int(sys.argv[1]), return_state=True)
    wait_until_recorded(state.state_details.flow_run_id, int(sys.argv[1]))
"""


def write_world(folder: Path, n_documents: int) -> None:
    """Documents of 100 to 200 words, questions with their answers, five strategies, and an embedder for two of them."""
    dice = random.Random(0)
    words = ["".join(dice.choices(_SYLLABLES, k=dice.randint(1, 4))) for _ in range(5_000)]
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    questions = []
    for number in range(n_documents):
        sentences = _sentences(dice, words)
        (folder / "docs" / f"note_{number:05}.md").write_text(_document(number, sentences), encoding="utf-8")
        if len(questions) < N_QUESTIONS:
            gold = dice.choice(sentences)
            query = " ".join(gold.strip(".").split()[2:8])
            questions.append({"id": f"q{number}", "query": query, "gold_snippets": [gold]})
    (folder / "questions.yaml").write_text(json.dumps({"questions": questions}), encoding="utf-8")
    (folder / "stub.py").write_text(_STUB, encoding="utf-8")
    (folder / "config.yaml").write_text(json.dumps(_config()), encoding="utf-8")


def _sentences(dice: random.Random, words: Sequence[str]) -> list[str]:
    n_words, made = dice.randint(100, 200), []
    while sum(len(sentence.split()) for sentence in made) < n_words:
        made.append(" ".join(dice.choices(words, k=dice.randint(8, 16))).capitalize() + ".")
    return made


def _document(number: int, sentences: Sequence[str]) -> str:
    half = len(sentences) // 2
    parts = [" ".join(sentences[:half]), " ".join(sentences[half:])]
    return f"# Note {number}\n\n{parts[0]}\n\n## More\n\n{parts[1]}\n"


def _config() -> dict[str, Any]:
    stub = {"model": "stub.py:Stub"}
    return {
        "embedding": stub,
        "retrieval": {"mode": "bm25"},
        "strategies": [
            {"name": "fixed"},
            {"name": "recursive"},
            {"name": "semantic", "params": stub},
            {"name": "semantic_no_floor", "params": stub},
            {"name": "structure"},
        ],
    }


def measure(command: Sequence[str], folder: Path) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak memory in MB of a command that must succeed, without those of its server.

    Raises:
        SystemExit: the command failed; its messages stand on standard error.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PREFECT_HOME": str(folder / "prefect")}
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *command], cwd=folder, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}.")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _run(folder: Path, n_documents: int) -> None:
    write_world(folder, n_documents)
    by_line = ["-m", "flows.evaluate", "--docs", "docs", "--questions", "questions.yaml", "--config", "config.yaml"]
    commands = {
        "first run, in process": ["-c", _IN_PROCESS],
        "unchanged, in process": ["-c", _IN_PROCESS],
        "first by the command line (reads what is kept)": [*by_line, "--cache-dir", "cache", "--quiet"],
        "unchanged, by the command line": [*by_line, "--cache-dir", "cache", "--quiet"],
        "as many tasks that do nothing": ["-c", _EMPTY_TASKS, "28"],
    }
    print(f"{n_documents:,} documents, {N_QUESTIONS} questions, {len(_config()['strategies'])} strategies")
    for name, command in commands.items():
        seconds, cpu_seconds, megabytes = measure(command, folder)
        print(f"{name}: {seconds:.1f} s, {cpu_seconds:.1f} CPU s, {megabytes:,.0f} MB", flush=True)


def main() -> None:
    """Runs the benchmark in a folder that is kept if it is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="kept after the run; a temporary one by default")
    options = parser.parse_args()
    if options.folder:
        _run(options.folder.absolute(), options.documents)
        return
    with tempfile.TemporaryDirectory() as folder:
        _run(Path(folder), options.documents)


if __name__ == "__main__":
    main()
