"""The text of docs/statistics.md around the figures of `benchmarks.calibrate`."""

from __future__ import annotations

from collections.abc import Sequence

RATES_HEAD = ("world", "runs", "ours", "plain gate", "required of ours")
CLAIMS_HEAD = ("claim of the reference", "published", "here")

_INTRO = """\
# How far the verdict can be trusted

`make calibrate` writes this page. It simulates comparisons whose true answer is known, lets the verdict judge each of
them, and counts how often it is right. It takes some minutes on two cores. Each share uses {resamples:,} resamples, a
tenth of a real run. This command made the figures below:

```
{command}
```

## Four shares, and why one is not enough

A winner needs 0.90 or more in every share that applies, and at least 15 scored questions.

- `p_best`: would this cell still lead with other questions from the same pool? Guards against a lead that depends on a
  few questions.
- `p_best_shrunk`: how likely is it the best, given that it was picked as the leader? Guards against luck: one of
  several equal cells always leads, and resampling the same questions repeats its luck.
- `p_best_by_document` (10 documents or more): would it still lead with other documents? Guards against a lead that
  comes from one long document with many questions.
- `p_best_balanced` (if cells are ranked by `balanced`): does it lead when the cost of the retrieved text counts? Guards
  against winning by returning more text.

Questions that belong together (near-duplicates, or one label in `groups`) are drawn together and count as one. Cells
that are equal on every question count as one entrant, judged by the sum of their shares.

**`p_best_shrunk`** comes from a hierarchical model (Gelman et al., *Bayesian Data Analysis*, 5.4). The observed mean
recalls are the true ones plus noise. The covariance of the noise comes from the questions, including their pairing. The
true recalls are spread around a common mean. The size of the spread, tau, is unknown, so the model integrates over it,
with a half-normal prior of scale 0.1 and a probability of 0.05 for no difference at all. If a lead is small compared
with its noise, the model attributes most of it to luck. A single estimate of tau would not work: it would be too large
as often as too small, and a large tau discounts nothing. The 0.05 is an addition to a plain half-normal prior. Without
it, the model separates two equal cells more often the more questions there are, because a model without equal cells
finds a better one in the end.

With few questions the observed noise is too small, above all if only a few of them separate two cells. The model pulls
it towards the noise between equal cells, as if 20 draws had shown that noise. Beyond 100 questions this has hardly any
effect.

A cell far below the leader (0.2 or more, and as good in under 0.1 % of resamples) is left out of the model. It shows
nothing about the spread of good cells, and adding it must not change the verdict on the others.

## When a cell is ruled out

A cell is ruled out only if both of these are true. First, it is not in the smallest set of cells whose `p_best` add up
to 0.95. Second, it scores at least as well as the leader in under min(0.025, 0.10 / (K - 1)) of resamples, where K is
the number of entrants. The second share is computed exactly (convolution), because it is in the tail of a distribution.
Its limit falls with K: among 60 cells, some are far below a lucky leader by chance, and the best of all may be one of
them. The limit applies step by step (Holm 1979): the lowest share is compared with 0.10 / (K - 1), the next one with
0.10 / (K - 2), and so on, until a cell stays in play. Otherwise each additional cell, however bad, would lower the
limit for all others and bring some of them back into play.

## Rates

Each entry is a share of runs with its standard error. The plain gate names the leader the winner if `p_best` is 0.90 or
more, counts every question as one, and rules out at 0.025.
"""

_CLAIMS = """\
## Published claims beside these figures

The metrics page of the chunklab project, the origin of the plain gate, publishes these figures. It does not state how
far apart the true recalls were in its simulation. That matters: the plain gate is right as often as published only if
they are far apart.
"""

_END = """\
## How to read the rates

- Over a mixture of comparisons, about one `winner` in twenty is wrong. Between two exactly equal cells, at most one run
  in twelve names a winner; the plain gate names one in every four or five runs.
- The price is power: with a true gap of 0.10 and 129 questions, more runs end without a winner. Such a run names the
  cells in play and the cheapest of them, which then costs little recall.
- The simulated worlds have outcomes of 0 or 1, one kind of pairing, and questions drawn independently or in known
  groups. Real questions may depend on one another in unknown ways, and no share accounts for that.
"""


def page(rates: Sequence[Sequence[str]], claims: Sequence[Sequence[str]], command: str, resamples: int) -> str:
    """The whole page."""
    intro = _INTRO.format(command=command, resamples=resamples)
    return "\n".join([intro, _table(RATES_HEAD, rates), "", _CLAIMS, _table(CLAIMS_HEAD, claims), "", _END])


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines))
