"""Runs the public question sets and writes docs/benchmarks.md.

Why: a tool that decides whether a difference is real has to publish its own figures, each with its command, and show
which published claims it reproduces and which it does not.

    python -m benchmarks.tables [--sets FOLDER] [--only NAME] [--cache-dir DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.claims import claims
from chunklab_core.cache.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
SETS = "../shared/benchmarks"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """One public question set: the name of its folder, and what a reader should know about it."""

    name: str
    title: str
    about: str


QUESTION_SETS = (
    QuestionSet(
        "chunklab_example",
        "The example corpus of the chunklab project",
        "Five fictional documents (three Markdown, a PDF, a DOCX) with questions by their author, who reuses the "
        "words of the documents, which favours BM25. MIT licence.",
    ),
    QuestionSet(
        "chroma",
        "Chroma's general evaluation",
        "Five long texts without headings (chat logs, filings, medical articles, a speech, encyclopedia text) with "
        "generated questions. Its published figures are shares of tokens, so they cannot be compared with these.",
    ),
    QuestionSet(
        "qasper",
        "QASPER, ten papers",
        "Research papers with headings. The authors of the questions had read only title and abstract. A gold passage "
        "is a whole paragraph. CC BY 4.0.",
    ),
    QuestionSet(
        "privacy_qa",
        "PrivacyQA, as in LegalBench-RAG",
        "Seven privacy policies in plain text. The gold is long, up to 5,197 characters, and some of it fits in no "
        "chunk of the default size. So the recall covers only gold that can be found whole.",
    ),
)

_HEAD = """\
# Benchmarks

`make bench` writes this page by running the commands below. Each question set is a folder with `docs/` and
`questions.yaml` in `../shared/benchmarks`, which is not part of the repository. Every run compares the five default
strategies with the three retrievers and all-MiniLM-L6-v2, the bundled model, at k = 5. Figures are means over the
scored questions; [metrics.md](metrics.md) defines them. Rows are ranked by `balanced`, with ruled-out cells last.

The runs used a {cores}-core machine without an accelerator, which had other work to do. So CPU seconds are more
reliable than elapsed seconds. Apart from rounding in the model, ranks and shares do not depend on the machine.
"""

_TABLE_HEAD = """\
| cell | recall@5 | 95 % CI | hit | MRR | precision | tokens | efficiency | balanced | P(best) | standing |
|---|---|---|---|---|---|---|---|---|---|---|"""


def main() -> int:
    """Returns 0 if the page was written, 1 if a set was missing or left out."""
    options = _options()
    folder = ROOT / options.sets
    wanted = [each for each in QUESTION_SETS if options.only in (None, each.name)]
    runs = {}
    with _cache_folder(options.cache_dir) as cache:
        for each in wanted:
            if not (folder / each.name / "questions.yaml").is_file():
                print(f"{each.name}: skipped, {options.sets}/{each.name}/questions.yaml is missing.", file=sys.stderr)
                continue
            runs[each.name] = [_run(each, options.sets, cache, again) for again in (False, True)]
    page = _page(runs)
    if len(runs) < len(QUESTION_SETS):
        print(page)
        print(f"{PAGE.relative_to(ROOT)} is unchanged: not all sets were run.", file=sys.stderr)
        return 1
    write_atomically(PAGE, [page.encode()])
    print(f"Written: {PAGE.relative_to(ROOT)}", file=sys.stderr)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description="Writes docs/benchmarks.md.")
    parser.add_argument("--sets", default=SETS, metavar="FOLDER", help=f"folder of the question sets [{SETS}]")
    parser.add_argument(
        "--only", choices=[each.name for each in QUESTION_SETS], help="print one section and write nothing"
    )
    parser.add_argument("--cache-dir", metavar="DIR", help="folder of the cache [an empty one, to measure a first run]")
    return parser.parse_args()


@contextmanager
def _cache_folder(given: str | None) -> Iterator[Path]:
    if given:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory(prefix="chunklab-bench-") as folder:
        yield Path(folder)


# ---------------------------------------------------------------- running


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation: its report and its seconds, including the start of Prefect and its server."""

    report: Json
    wall_seconds: float
    cpu_seconds: float


def command(name: str, sets: str = SETS) -> list[str]:
    """Arguments for `python` that evaluate a question set."""
    folder = f"{sets}/{name}"
    inputs = ["--docs", f"{folder}/docs", "--questions", f"{folder}/questions.yaml"]
    return ["-m", "flows.evaluate", *inputs, "--compare-retrievers"]


def _run(each: QuestionSet, sets: str, cache: Path, again: bool) -> Run:
    print(f"{each.name}: {'second' if again else 'first'} run ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="chunklab-bench-") as out:
        arguments = [*command(each.name, sets), "--cache-dir", str(cache), "--out", out]
        begun, cpu_begun = time.monotonic(), cpu_of_children()
        subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        wall, cpu = time.monotonic() - begun, cpu_of_children() - cpu_begun
        report = json.loads((Path(out) / "report.json").read_text(encoding="utf-8"))
    print(f"{each.name}: {wall:.0f} s", file=sys.stderr, flush=True)
    return Run(report, wall, cpu)


def cpu_of_children() -> float:
    """CPU seconds of all finished child processes."""
    spent = os.times()
    return spent.children_user + spent.children_system


# ---------------------------------------------------------------- writing


def _page(runs: Mapping[str, Sequence[Run]]) -> str:
    sections = [_section(each, runs[each.name]) for each in QUESTION_SETS if each.name in runs]
    compared = claims({name: pair[0].report for name, pair in runs.items()})
    return "\n".join([_HEAD.format(cores=os.cpu_count()), *sections, compared])


def _section(each: QuestionSet, pair: Sequence[Run]) -> str:
    report = pair[0].report
    chunks = {health["strategy"]: health["n_chunks"] for health in report["health"]}
    counts = "Chunks: " + ", ".join(f"{strategy} {count:,}" for strategy, count in chunks.items())
    lines = [
        f"## {each.title}",
        "",
        _wrapped(each.about),
        "",
        "```",
        " ".join(["python", *command(each.name)]),
        "```",
        "",
        _wrapped(f"{report['questions']['scored']} scored questions, {len(report['documents'])} documents. {counts}."),
        "",
        _TABLE_HEAD,
        *(_row(cell, report["verdict"]) for cell in report["cells"]),
        "",
        _wrapped(f"Verdict: {_verdict(report)}"),
        "",
        *(_what_it_took(name, run) for name, run in zip(("First run", "Second run"), pair, strict=True)),
        "",
    ]
    return "\n".join(lines)


def _row(cell: Json, verdict: Json) -> str:
    low, high = cell["ci95"]
    figures = [
        cell["cell"],
        _share(cell["recall_at_k"]),
        f"{low:.2f} to {high:.2f}",
        *(_share(cell[name]) for name in ("hit_rate_at_k", "mrr", "precision_at_k")),
        f"{cell['retrieved_tokens_at_k']:,.0f}",
        _share(cell["context_efficiency"]),
        _share(cell["balanced"]),
        _share(verdict["p_best"][cell["cell"]]),
        "ruled out" if cell["cell"] in verdict["ruled_out"] else "in play",
    ]
    return f"| {' | '.join(figures)} |"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _verdict(report: Json) -> str:
    verdict = report["verdict"]
    return f"{verdict['status']}. {' '.join(verdict['reasons'])}".replace("'", "`")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def _what_it_took(name: str, run: Run) -> str:
    stages = run.report["provenance"]["run"]["stages"].values()
    reused, made = (sum(stage[kind] for stage in stages) for kind in ("reused", "run"))
    return (
        f"- {name}: {run.wall_seconds:,.0f} s, {run.cpu_seconds:,.0f} CPU s; "
        f"{reused} of {reused + made} stage results reused."
    )


if __name__ == "__main__":
    sys.exit(main())
