"""Measures how often the verdict is right where the truth is known, and writes docs/statistics.md.

Why: "90 % sure" is a claim about many runs, so it can be checked: simulate comparisons with a known best cell, let the
verdict judge each, and count. The plain gate, P(best) alone, judges the same comparisons.

    python -m benchmarks.calibrate [--runs SHARE] [--seed N] [--jobs N] [--print]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.statistics_page import page
from benchmarks.worlds import Scores, equal, mixture, one_better, reworded, twins, two_apart
from chunklab_core.cache.files import write_atomically
from chunklab_core.select import probability_best, select_winner
from chunklab_core.select.rule_out import ruled_out, tails_against_leader
from chunklab_core.select.whole_units import in_whole_units

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "statistics.md"
BAR = 0.90
RESAMPLES = 10_000  # a tenth of what a run takes, so that all of it takes minutes; shares are off by 0.003 at the bar
PLAIN_TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Truth:
    """One simulated comparison: what is seen, which cells are best in truth, and which questions go together."""

    scores: Scores
    best: tuple[int, ...] = ()
    groups: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class World:
    """A kind of comparison, how often it is drawn, and how."""

    name: str
    runs: int
    draw: Callable[[np.random.Generator], Truth]


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one comparison, by us and by the plain gate; `share` and `shrunk` are those of cell 0."""

    named: bool
    right: bool
    plain: float
    plain_right: bool
    best_out: bool
    plain_best_out: bool
    share: float
    shrunk: float


# ---------------------------------------------------------------- worlds


def _mixture(rng: np.random.Generator, apart: float | None = None) -> Truth:
    scores, best = mixture(rng, apart)
    return Truth(scores, (best,))


def _equal(rng: np.random.Generator, n_cells: int, n_questions: int) -> Truth:
    return Truth(equal(rng, n_cells, n_questions))


def _one_better(rng: np.random.Generator, n_cells: int, n_questions: int, gap: float) -> Truth:
    return Truth(one_better(rng, n_cells, n_questions, gap), (0,))


def _reworded(rng: np.random.Generator) -> Truth:
    scores, facts = reworded(rng)
    return Truth(scores, groups=facts)


def _twins(rng: np.random.Generator, single: bool) -> Truth:
    scores = twins(rng)
    return Truth(scores[1:], (0,)) if single else Truth(scores, (0, 1))


def _two_apart(rng: np.random.Generator, n_questions: int) -> Truth:
    return Truth(two_apart(rng, n_questions), (0,))


APART = (0.02, 0.05, 0.10, 0.12)
CONVERGENCE = (20, 100, 400, 1600)
EQUAL_SIZES = (15, 20, 30, 60, 129)
WORLDS = (
    World("mixture", 4000, _mixture),
    *(World(f"mixture {apart}", 1000, partial(_mixture, apart=apart)) for apart in APART),
    *(World(f"equal 2 {n}", 1000, partial(_equal, n_cells=2, n_questions=n)) for n in EQUAL_SIZES),
    *(World(f"equal 5 {n}", 1000, partial(_equal, n_cells=5, n_questions=n)) for n in (30, 129)),
    *(World(f"better {k}", 1000, partial(_one_better, n_cells=k, n_questions=129, gap=0.10)) for k in (2, 5)),
    World("reworded", 1000, _reworded),
    *(World(name, 300, partial(_twins, single=name == "single")) for name in ("twins", "single")),
    World("many", 300, partial(_one_better, n_cells=60, n_questions=30, gap=0.02)),
    *(World(f"apart {n}", 200, partial(_two_apart, n_questions=n)) for n in CONVERGENCE),
)


# ---------------------------------------------------------------- judging


def judge(world: World, seed: int, run: int) -> Judged:
    """One comparison of a world, drawn and judged. The same arguments give the same."""
    truth = world.draw(np.random.default_rng([seed, WORLDS.index(world), run]))
    verdict = select_winner(truth.scores, groups=truth.groups, seed=run, resamples=RESAMPLES)
    shares = probability_best(truth.scores, RESAMPLES, seed=run) if truth.groups else np.array(verdict.p_best)
    leader = int(truth.scores.mean(axis=1).argmax())
    return Judged(
        named=verdict.status == "winner",
        right=verdict.leader in truth.best,
        plain=float(shares[leader]),
        plain_right=leader in truth.best,
        best_out=any(cell in verdict.ruled_out for cell in truth.best),
        plain_best_out=world.name == "many" and _plain_rules_out(truth, shares),
        share=verdict.p_best[0],
        shrunk=verdict.p_best_shrunk[0],
    )


def _plain_rules_out(truth: Truth, shares: np.ndarray) -> bool:
    """Whether the best cell falls at a tail of 2.5 %, however many cells there are."""
    order = np.argsort(-truth.scores.mean(axis=1), kind="stable")
    tails = tails_against_leader(in_whole_units(truth.scores[order]), seed=0)
    return bool(set(truth.best) & set(order[ruled_out(shares[order], tails, PLAIN_TAIL)].tolist()))


def simulate(runs: float, seed: int, jobs: int, at_least: int = 10) -> dict[str, list[Judged]]:
    """A share of the runs of each world, and `at_least` so many, on `jobs` processes; their number changes nothing."""
    from joblib import Parallel, delayed

    work = [(world, run) for world in WORLDS for run in range(max(at_least, round(world.runs * runs)))]
    judged = Parallel(jobs, batch_size=20)(delayed(judge)(world, seed, run) for world, run in work)
    found: dict[str, list[Judged]] = {world.name: [] for world in WORLDS}
    for (world, _), one in zip(work, judged, strict=True):
        found[world.name].append(one)
    return found


# ---------------------------------------------------------------- counting

Row = tuple[str, str, str, str, str]  # world, runs, ours, plain gate, required of ours


def rows(found: Mapping[str, Sequence[Judged]]) -> Iterator[Row]:
    """The table of rates, ours beside the plain gate's."""
    mixed = found["mixture"]
    right = [one.right for one in mixed if one.named]
    plain = [one.plain_right for one in mixed if one.plain >= BAR]
    tuned = tuned_rate(mixed, float(np.mean(right)) if right else 1.0)
    yield "mixture: right, where one is named", _runs(mixed), _rate(right), _rate(plain), "at least 0.945"
    yield (
        "mixture: one is named (plain gate: its bar raised until it is right as often as ours)",
        _runs(mixed),
        _named(mixed),
        f"{tuned:.3f}",
        "no less often than the plain gate",
    )
    for name in (name for name in found if name.startswith("equal")):
        _, cells, n = name.split()
        required = "at most 0.08" if cells == "2" else "at most 0.01"
        yield f"{cells} equal cells, {n} questions: one is named", *_named_by_both(found[name]), required
    for cells, required in (("2", "at least 0.55"), ("5", "at least 0.25")):
        better = found[f"better {cells}"]
        yield f"{cells} cells, one better by 0.10, 129 questions: one is named", *_named_by_both(better), required
        by_us, by_plain = ([one.right for one in better if one.named], [one.right for one in better if _plain(one)])
        yield (
            f"{cells} cells, one better by 0.10: right, where named",
            _runs(better),
            _rate(by_us),
            _rate(by_plain),
            ("at least 0.98"),
        )
    again = found["reworded"]
    yield "2 equal cells, 20 facts in 6 wordings, groups given: one is named", *_named_by_both(again), "at most 0.06"
    single = found["single"]
    yield "a clear best cell alone: named", *_named_by_both(single), ""
    yield "the same cell twice: the pair is named", *_named_by_both(found["twins"]), "as often as alone, within 0.05"
    many = found["many"]
    ours, theirs = [one.best_out for one in many], [one.plain_best_out for one in many]
    yield (
        "60 cells, best by 0.02, 30 questions: the best is ruled out",
        _runs(many),
        _rate(ours),
        _rate(theirs),
        ("at most 0.08"),
    )


Claim = tuple[str, str, str]  # claim, published, here


def claims(found: Mapping[str, Sequence[Judged]]) -> Iterator[Claim]:
    """What the reference publishes of its gate, beside what comes out here."""
    for low, high, published in ((0.9, 1.01, "0.96"), (0.8, 0.9, "0.82")):
        here = [
            f"{_rate([one.plain_right for one in found[f'mixture {apart}'] if low <= one.plain < high])} at {apart}"
            for apart in APART
        ]
        band = f"P(best) {low:.2f} to {min(high, 1):.2f}: the leader is the best"
        yield band, published, "by the spread of true recalls: " + "; ".join(here)
    for n in CONVERGENCE:
        ones = found[f"apart {n}"]
        published = {20: "0.60", 1600: "0.99"}.get(n, "")
        share, shrunk = (np.mean([getattr(one, kind) for one in ones]) for kind in ("share", "shrunk"))
        claim = f"true recalls 0.60 and 0.55, {n:,} questions: mean share of the better one"
        yield claim, published, f"{share:.2f}; luck discounted {shrunk:.2f}"


def tuned_rate(judged: Sequence[Judged], accuracy: float) -> float:
    """How often the plain gate names one, with the lowest bar at which it is right at least so often."""
    ranked = sorted(judged, key=lambda one: -one.plain)
    right = np.cumsum([one.plain_right for one in ranked])
    enough = np.flatnonzero(right >= accuracy * np.arange(1, len(ranked) + 1))
    return (int(enough[-1]) + 1) / len(ranked) if len(enough) else 0.0


def _plain(one: Judged) -> bool:
    return one.plain >= BAR


def _named_by_both(judged: Sequence[Judged]) -> tuple[str, str, str]:
    return _runs(judged), _named(judged), _rate([_plain(one) for one in judged])


def _named(judged: Sequence[Judged]) -> str:
    return _rate([one.named for one in judged])


def _runs(judged: Sequence[Judged]) -> str:
    return f"{len(judged):,}"


def _rate(events: Sequence[bool]) -> str:
    """A rate and its standard error; a dash where nothing was counted."""
    if not events:
        return "-"
    rate = float(np.mean(events))
    return f"{rate:.3f} ± {np.sqrt(rate * (1 - rate) / len(events)):.3f}"


# ---------------------------------------------------------------- command


def main() -> int:
    """Status 0."""
    options = _options()
    found = simulate(options.runs, options.seed, options.jobs)
    command = f"python -m benchmarks.calibrate --runs {options.runs:g} --seed {options.seed}"
    text = page(list(rows(found)), list(claims(found)), command, RESAMPLES)
    print(text)
    if not options.print:
        write_atomically(PAGE, [text.encode()])
        print(f"Written: {PAGE.relative_to(ROOT)}", file=sys.stderr)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibrate", description="Writes docs/statistics.md.")
    parser.add_argument("--runs", type=float, default=1.0, metavar="SHARE", help="share of the runs of each world [1]")
    parser.add_argument("--seed", type=int, default=0, help="of all worlds [0]")
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="processes [one a core]")
    parser.add_argument("--print", action="store_true", help="write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
