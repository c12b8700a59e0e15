"""What the statistics of a large comparison take: 60 cells, 1,000 questions, 100,000 resamples.

Why: a share is only used while nobody waits for it, and resamples of a large field can fill the memory.

    python -m benchmarks.select_speed
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np

from chunklab_core.select import probability_best
from chunklab_core.select.covariance import covariance_of_means
from chunklab_core.select.hierarchy import posterior
from chunklab_core.select.rule_out import tails_against_leader
from chunklab_core.select.whole_units import in_whole_units

CELLS, QUESTIONS, RESAMPLES, TIMES = 60, 1000, 100_000, 3


def main() -> int:
    """Prints the median seconds of each part, and the most memory that was held beyond the start."""
    scores = np.random.default_rng(0).integers(0, 4, (CELLS, QUESTIONS)) / 3
    scores = scores[np.argsort(-scores.mean(axis=1), kind="stable")]
    begun = _peak_mib()
    parts: dict[str, Callable[[], object]] = {
        f"shares of {RESAMPLES:,} resamples": lambda: probability_best(scores, RESAMPLES),
        f"exact tails of {CELLS - 1} rivals": lambda: tails_against_leader(in_whole_units(scores), seed=0),
        f"model, {RESAMPLES:,} draws": lambda: posterior(
            scores.mean(axis=1), covariance_of_means(scores, np.ones(QUESTIONS))
        ).shares(RESAMPLES, seed=0),
    }
    print(f"{CELLS} cells, {QUESTIONS:,} questions; median of {TIMES}")
    for name, part in parts.items():
        wall, cpu = _seconds(part)
        print(f"{name:32s} {wall:6.2f} s {cpu:6.2f} CPU s  at most {_peak_mib() - begun:4.0f} MiB so far")
    return 0


def _seconds(part: Callable[[], object]) -> tuple[float, float]:
    spent = []
    for _ in range(TIMES):
        wall, cpu = time.perf_counter(), time.process_time()
        part()
        spent.append((time.perf_counter() - wall, time.process_time() - cpu))
    return sorted(spent)[TIMES // 2]


def _peak_mib() -> float:
    """Most memory held so far, in MiB (kernels count in KiB, macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


if __name__ == "__main__":
    sys.exit(main())
