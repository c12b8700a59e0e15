"""The text of docs/statistics.md around the figures of `benchmarks.calibrate`."""

from __future__ import annotations

from collections.abc import Sequence

RATES_HEAD = ("world", "runs", "ours", "plain gate", "asked of ours")
CLAIMS_HEAD = ("claim of the reference", "published", "here")

_INTRO = """\
# How far the verdict can be trusted

Written by `make calibrate`. It simulates comparisons of which the truth is known, lets the verdict judge each of them,
and counts how often it is right. It takes some minutes on two cores. Shares have {resamples:,} resamples here, a tenth
of a run's. These figures are those of

```
{command}
```

## Four shares, and why one is not enough

A winner is named when every share that applies is 0.90 or more, on at least 15 scored questions.

- `p_best`: had other questions been drawn from the same pool, would this cell still lead? Guards against a lead that
  hangs on a few questions.
- `p_best_shrunk`: how sure is it the best, given that it was picked as the leader? Guards against luck: of several
  equal cells one always leads, and resampling the same questions repeats its luck.
- `p_best_by_document` (10 documents or more): had other documents been drawn, would it still lead? Guards against a
  lead that comes from one long document with many questions.
- `p_best_balanced` (where cells are ranked by `balanced`): does it lead once its context is paid for? Guards against
  winning by returning more text.

Questions that belong together (near-duplicates, or one label in `groups`) are drawn together and count as one. Cells
that are equal on every question are one entrant, judged by the sum of their shares.

**`p_best_shrunk`** comes from a hierarchical model (Gelman et al., *Bayesian Data Analysis*, 5.4). The mean recalls
seen are the true ones plus noise, whose covariance is taken from the questions, pairing included. The true recalls lie
around a common mean; how far apart they lie, tau, is not known, so it is integrated over: a half-normal prior of scale
0.1, and 0.05 for no difference at all. A lead that is small beside its noise is then mostly put down to luck. One
estimate of tau put in its place would be too large as often as too small, and where it is too large nothing is
discounted. The 0.05 goes beyond a plain half-normal prior: without it two equal cells are parted more often the more
questions there are, for a model that holds no equals finds a better one in the end.

With few questions the noise seen is too small, most of all where few of them tell two cells apart. It is drawn towards
the noise that there would be between equals, as if that had been seen in 20 draws; beyond 100 questions this is hardly
felt.

A cell that is far below the leader (0.2 or more, and as good in under 0.1 % of resamples) is left out of the model:
it says nothing of how far good cells lie apart, and adding it must not change the verdict on the others.

## Ruled out, and when

A cell is ruled out on evidence against it, in two ways at once: it is not among the fewest cells whose `p_best` add up
to 0.95, and it scores at least as well as the leader in under min(0.025, 0.10 / (K - 1)) of resamples, K being the
number of entrants. That share is computed exactly (convolution), because it lies in a tail. The second bar falls
with K: of 60 cells, some lie far below a lucky leader by chance, and the best of all may be one of them. It is taken
in steps (Holm 1979): the lowest share is held against 0.10 / (K - 1), the next one against 0.10 / (K - 2), until one
stays. Otherwise one more cell, however bad, would lower the bar of all others and bring some of them back into play.

## Rates

Each cell shows a share of runs and its standard error. The plain gate names the leader when `p_best` is 0.90 or more,
counts every question as one, and rules out at 0.025.
"""

_CLAIMS = """\
## Published claims beside these figures

The metrics page of the chunklab project, from which the plain gate comes, publishes these figures. It does not say how
far apart the true recalls lay in its simulation, and that decides: the plain gate is right as often as published only
where they lie far apart.
"""

_END = """\
## Reading it

- `winner` is wrong in about one run of twenty over a mixture of comparisons; between two exactly equal cells it is
  named in at most one run of twelve, where the plain gate names one in four or five.
- The price is power: at a true gap of 0.10 and 129 questions more runs end without a winner. They end with the cells in
  play and the cheapest of them, which then costs little recall.
- The worlds have outcomes 0 or 1, one kind of pairing, and questions drawn independently or in known groups. Real
  questions may depend on one another in ways nobody typed; no share knows of that.
"""


def page(rates: Sequence[Sequence[str]], claims: Sequence[Sequence[str]], command: str, resamples: int) -> str:
    """The whole page."""
    intro = _INTRO.format(command=command, resamples=resamples)
    return "\n".join([intro, _table(RATES_HEAD, rates), "", _CLAIMS, _table(CLAIMS_HEAD, claims), "", _END])


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines))
