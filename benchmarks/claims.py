"""Compares published figures with ours, whether they agree or not.

Why: a reader who knows the published figures first wants to know whether they appear here too. Only figures for the
same corpus or the same model are compared, and every difference in the conditions is stated.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from chunklab_core.select.bootstrap import ci95

Json = dict[str, Any]

_EXAMPLE_ORDER = ("fixed", "recursive", "structure", "semantic_no_floor", "semantic")
_QASPER_ORDER = ("recursive", "semantic", "structure", "semantic_no_floor", "fixed")
_EXAMPLE_BEST, _QASPER_BEST = 0.721, 0.386
_BM25 = {"fixed": 0.898, "recursive": 0.873, "semantic": 0.912, "semantic_no_floor": 0.920, "structure": 0.929}
_GAIN = {"fixed": 0.140, "recursive": 0.098, "semantic": 0.124, "semantic_no_floor": 0.163, "structure": 0.116}
_QASPER_GAIN_REAL = {"semantic", "semantic_no_floor"}

_INTRO = """\
## Published claims beside these figures

The metrics page of the chunklab project, whose definitions these metrics follow, publishes figures for two of the
sets. Where its figure is for bge-small-en-v1.5 and ours for all-MiniLM-L6-v2, only the direction can be compared.
"""


def claims(reports: Mapping[str, Json]) -> str:
    """The section on published claims, for the sets that were run."""
    parts = [_INTRO]
    if "chunklab_example" in reports:
        parts += [_dense_order(reports["chunklab_example"]), _gains(reports["chunklab_example"])]
    if "qasper" in reports:
        parts.append(_qasper(reports["qasper"]))
    return "\n".join(_wrapped(line) for part in parts for line in part.split("\n"))


def _wrapped(line: str) -> str:
    """A list item as the page shows it; everything else as it is."""
    if not line.startswith("- "):
        return line
    return textwrap.fill(line, 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _dense_order(report: Json) -> str:
    recall = _recall(report, "dense")
    published = f"{', '.join(_EXAMPLE_ORDER)}; first with {_EXAMPLE_BEST:.3f}"
    best = max(recall, key=lambda strategy: recall[strategy])
    gap = recall[best] - recall["fixed"]
    sentence = (
        "fixed comes first here too"
        if best == "fixed"
        else f"fixed does not come first here: {best} does, {gap:.3f} above it"
    )
    return f"""\
### Example corpus, dense, all-MiniLM-L6-v2: order by recall@5

- Published: {published}.
- Here: {_ordered(recall)}.
- {sentence[0].upper()}{sentence[1:]}; the order {"is the same" if _order(recall) == _EXAMPLE_ORDER else "differs"}.
"""


def _gains(report: Json) -> str:
    dense, bm25, hybrid = (_recall(report, retriever) for retriever in ("dense", "bm25", "hybrid"))
    rows, real = [], 0
    for strategy in _GAIN:
        low, high = _interval_of_gain(report, strategy)
        real += low > 0
        rows.append(
            f"| {strategy} | {dense[strategy]:.3f} | {bm25[strategy]:.3f} | {_BM25[strategy]:.3f} "
            f"| {hybrid[strategy]:.3f} | {hybrid[strategy] - dense[strategy]:+.3f} | {low:+.3f} to {high:+.3f} "
            f"| {_GAIN[strategy]:+.3f} |"
        )
    improved = sum(hybrid[strategy] > dense[strategy] for strategy in _GAIN)
    table = "\n".join(rows)
    return f"""\
### Example corpus: hybrid against dense, recall@5

Published, with bge-small-en-v1.5: hybrid is better for every strategy, and no interval includes 0. Here: better for
{improved} of 5, with an interval above 0 for {real} of 5. The chunks of fixed, recursive and structure depend on no
model, so their BM25 figures can be compared directly.

| strategy | dense | bm25 | bm25, published | hybrid | hybrid - dense | 95 % CI | published gain |
|---|---|---|---|---|---|---|---|
{table}
"""


def _qasper(report: Json) -> str:
    recall = _recall(report, "dense")
    real = {strategy for strategy in recall if _interval_of_gain(report, strategy)[0] > 0}
    best = max(recall, key=lambda strategy: recall[strategy])
    gains = ", ".join(
        f"{strategy} {gain:+.3f} ({low:+.3f} to {high:+.3f})"
        for strategy in recall
        for gain in [_recall(report, "hybrid")[strategy] - recall[strategy]]
        for low, high in [_interval_of_gain(report, strategy)]
    )
    return f"""\
### QASPER, dense, all-MiniLM-L6-v2: order by recall@5

The published figures are for another selection of papers, so the figures themselves need not agree.

- Published: {", ".join(_QASPER_ORDER)}; first with {_QASPER_BEST:.3f}.
- Here: {_ordered(recall)}. {"Recursive comes first here too." if best == "recursive" else f"Here {best} comes first."}
- Published, with bge-small-en-v1.5: hybrid is better than dense beyond chance for {_listed(_QASPER_GAIN_REAL)} only.
- Here, hybrid - dense with its 95 % interval: {gains}. Beyond chance: {_listed(real)}.
"""


def _recall(report: Json, retriever: str) -> dict[str, float]:
    """By strategy, in alphabetical order."""
    found = {cell["strategy"]: cell["recall_at_k"] for cell in report["cells"] if cell["retriever"] == retriever}
    return dict(sorted(found.items()))


def _order(recall: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(recall, key=lambda strategy: -recall[strategy]))


def _ordered(recall: Mapping[str, float]) -> str:
    return ", ".join(f"{strategy} {recall[strategy]:.3f}" for strategy in _order(recall))


def _listed(names: set[str]) -> str:
    return " and ".join(sorted(names)) or "none"


def _interval_of_gain(report: Json, strategy: str) -> tuple[float, float]:
    """Percentile bootstrap of the mean difference per question, hybrid minus dense."""
    rows = {cell["retriever"]: cell["per_question"] for cell in report["cells"] if cell["strategy"] == strategy}
    pairs = zip(rows["hybrid"], rows["dense"], strict=True)
    interval = ci95([one["recall"] - other["recall"] for one, other in pairs])
    if interval is None:
        raise ValueError(f"{strategy} has no scored question.")
    return interval
