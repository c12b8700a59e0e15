"""What the stages hand to each other, in the order in which it is made.

Every record is frozen and is defined here once. Shapes of arrays stand beside their declaration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

# ---------------------------------------------------------------- parse


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of characters `[start, end)` of a document's text."""

    start: int
    end: int


ElementKind = Literal["heading", "paragraph", "list", "table", "code", "quote"]


@dataclass(frozen=True, slots=True)
class Element:
    """One block of a document, as its author laid it out.

    `path` holds the titles of the headings that are open at this block, outermost first; a heading's own
    title is the last part of its own path. `level` is 1 to 6 for a heading and 0 for anything else.
    Elements stand in reading order and do not overlap; white space between them belongs to none.
    """

    kind: ElementKind
    span: Span
    path: tuple[str, ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed document. `text` is NFC with \\n line ends; `doc_id` is its path relative to the folder, with /."""

    doc_id: str
    text: str
    elements: tuple[Element, ...] = ()
    warnings: tuple[str, ...] = ()


# ---------------------------------------------------------------- chunk


@dataclass(frozen=True, slots=True)
class Cut:
    """What a chunker decides: where the body lies, and which lines of the document are repeated before it.

    `header` holds spans of the same document (the header rows of a table that was cut); the room copies
    their text into the prefix, after the heading path.
    """

    span: Span
    header: tuple[Span, ...] = ()


class Chunker(Protocol):
    """Cuts one document. Plug-ins implement this; plain spans are as good as cuts without a header.

    Optional attributes that the room reads: `heading_path: bool` (put the heading path into the prefix)
    and `max_tokens` or `chunk_size: int` (the declared maximum of body and prefix together).
    """

    def __call__(self, document: Document) -> Sequence[Span | Cut]:
        """The cuts of one document, in reading order."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk: `body` is the slice of the document at `span`, `prefix` stands outside of it.

    `n_tokens` counts `text`, prefix included, in cl100k_base tokens.
    """

    chunk_id: str
    doc_id: str
    span: Span
    body: str
    prefix: str
    n_tokens: int

    @property
    def text(self) -> str:
        """What is embedded, indexed, returned, matched and counted."""
        return f"{self.prefix}\n{self.body}" if self.prefix else self.body


class EmbedTexts(Protocol):
    """Turns texts into vectors; how a semantic chunker gets its embedder."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dim), float32, unit rows (or a zero row)."""
        ...


# ---------------------------------------------------------------- index


class KeywordIndex(Protocol):
    """Scores every chunk for questions given as terms; how the keyword search gets its index."""

    def scores(self, questions: Iterable[Sequence[str]], *, k1: float, b: float) -> Iterator[NDArray[np.float64]]:
        """Per question, shape (chunks,), float64: above 0 where a chunk shares a term with it, else 0."""
        ...


# ---------------------------------------------------------------- retrieve


@dataclass(frozen=True, slots=True)
class Ranking:
    """One retriever's answer to one question, best first.

    Attributes:
        rows: shape (ranked,), int64: positions in the list of chunks. Only candidates are listed.
        scores: shape (ranked,), float64, falling.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


# ---------------------------------------------------------------- questions and scores


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold: a slot is a tuple of interchangeable wordings.

    `documents` limits where gold counts (empty: everywhere). A question without slots is not scored.
    """

    question_id: str
    query: str
    slots: tuple[tuple[str, ...], ...]
    tags: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    reviewed: bool = False


@dataclass(frozen=True, slots=True)
class FuzzyFind:
    """A slot that was found with edits: the wording typed, and the words that differ."""

    slot: int
    chunk_id: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """One question under one cell at one k. Shares are fractions in [0, 1].

    `found` holds, per slot, whether any of the k chunks contains it; `first_hit_rank` counts from 1. What begins with
    `token_` counts tokens of the documents instead of slots.
    """

    question_id: str
    recall: float
    hit: float
    reciprocal_rank: float
    precision: float
    retrieved_tokens: int
    context_efficiency: float
    ndcg: float
    average_precision: float
    token_recall: float
    token_precision: float
    token_iou: float
    first_hit_rank: int | None
    found: tuple[bool, ...]
    fuzzy: tuple[FuzzyFind, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """What a strategy's chunks are like, before any retrieval. Shares are fractions in [0, 1].

    `pct_oversized` has one entry per embedding model (`"none"` where no model is used);
    `tables_intact` is None where the corpus holds no table.
    """

    strategy: str
    n_chunks: int
    median_tokens: float | None
    pct_tiny: float | None
    pct_oversized: dict[str, float | None]
    boundary: float | None
    tables_intact: float | None
    lost_characters: int
    path_shortened: int = 0


# ---------------------------------------------------------------- tokens, ceilings and losses


@dataclass(frozen=True, slots=True)
class TokenScore:
    """One question's figures in tokens of the documents instead of slots. Fractions in [0, 1]."""

    recall: float
    precision: float
    iou: float


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The figures under perfect retrieval, of one question or in the mean: what the chunker alone allows.

    Fractions in [0, 1]. No ranking of the strategy's chunks exceeds `recall` and `precision` at the same k.
    `token_precision` is that of the cheapest chunks that hold all gold which any chunk holds; a ranking that is content
    with less may exceed it.
    """

    recall: float
    precision: float
    token_precision: float


LossPart = Literal["parse", "cut", "truncated", "candidates", "rerank", "fusion", "below_k"]


@dataclass(frozen=True, slots=True)
class LostSlots:
    """A question that misses gold: for every slot, in their order, where it was lost; None where it was found."""

    question_id: str
    parts: tuple[LossPart | None, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """Where a cell lost the gold that it did not bring.

    Attributes:
        shares: every part with its share of the recall, in the order in which they are asked; together 1 - recall.
        questions: those with a missing slot, in the order of the questions.
    """

    shares: tuple[tuple[LossPart, float], ...]
    questions: tuple[LostSlots, ...]


# ---------------------------------------------------------------- select

Status = Literal["winner", "leans", "undecided", "tied", "only"]
SpeaksOf = Literal["new questions on these documents", "new documents"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence says. Cells are positions in the scores that were judged.

    Attributes:
        status: one of the words of `Status`.
        leader: the entrant of highest mean recall, shown as its cheapest cell.
        p_best: per cell, the share of paired resamples in which it comes out on top; sums to 1.
        in_play: cells that cannot be ruled out, leader first.
        ruled_out: cells against which there is evidence.
        questions_needed: scored questions that would settle the leader against the runner-up, or None.
        reasons: sentences for a reader, in the order in which they matter.
        at_bar: a share of the leader lies within 0.005 of its bar, so another seed may say otherwise.
        p_best_shrunk: as `p_best`, under a model that discounts the leader's luck.
        p_best_by_document: as `p_best`, documents resampled; None with fewer than 10 documents or where none are known.
        p_best_balanced: as `p_best`, on `balanced_in_play`; None where the context has no price.
        leader_share: the sum of `p_best` over the cells that are equal to the leader; what the sentences speak of.
        leader_recall_shrunk: mean recall of the leader, discounted for its having been picked.
        cheapest_in_play: the cell in play that retrieves the fewest tokens; None where no cost is known.
        cheapest_difference: its mean recall less that of the leader, with `cheapest_ci95`, the paired interval.
        speaks_of: what the verdict speaks of; of new documents only where those here are 10 or more.
    """

    status: Status
    leader: int
    p_best: tuple[float, ...]
    in_play: tuple[int, ...]
    ruled_out: tuple[int, ...]
    questions_needed: int | None
    reasons: tuple[str, ...] = field(default=())
    at_bar: bool = False
    p_best_shrunk: tuple[float, ...] = ()
    p_best_by_document: tuple[float, ...] | None = None
    p_best_balanced: tuple[float, ...] | None = None
    leader_share: float = 1.0
    leader_recall_shrunk: float = 0.0
    cheapest_in_play: int | None = None
    cheapest_difference: float | None = None
    cheapest_ci95: tuple[float, float] | None = None
    speaks_of: SpeaksOf = "new questions on these documents"


# What stands around the verdict: what it comes from, and how far it holds. Cells are positions in the scores.
# An interval is (low, high), 95 %; it is None where fewer than two groups of questions tell no spread.

Interval = tuple[float, float]
AxisName = Literal["strategy", "retriever", "model", "reranker"]


@dataclass(frozen=True, slots=True)
class CellAxes:
    """Where a cell lies on the axes; a cell that uses no model, or no reranker, has None there."""

    strategy: str
    retriever: str
    model: str | None = None
    reranker: str | None = None


@dataclass(frozen=True, slots=True)
class AxisLevel:
    """One value of an axis.

    Attributes:
        level: its name; "none" for a cell without reranker.
        recall: mean over the cells that have it.
        effect: recall above the other values of the axis, everything else being equal.
        ci95: of the effect.
        comparisons: how many combinations of the other axes it rests on; 0: none, and the effect is None.
    """

    level: str
    recall: float
    effect: float | None
    ci95: Interval | None
    comparisons: int


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """What an axis did.

    Attributes:
        levels: best effect first.
        moved: recall of the best level above the worst, everything else being equal; None where they never meet.
        ci95: of `moved`. Best and worst were picked, so it is too hopeful where there are many levels.
        share_of_variance: of the variance between the means of the cells; None where the grid of cells has holes, or
            where all means are equal.
    """

    axis: AxisName
    levels: tuple[AxisLevel, ...]
    moved: float | None
    ci95: Interval | None
    share_of_variance: float | None


@dataclass(frozen=True, slots=True)
class AxisEffects:
    """All axes with two levels or more, most moved first; `interplay`: the share of variance that none of them has."""

    axes: tuple[AxisEffect, ...]
    interplay: float | None


@dataclass(frozen=True, slots=True)
class Dominated:
    """A cell for which another one, `by`, gives at least as much recall for no more tokens, and more of one."""

    cell: int
    by: int


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """The cells that are not dominated, fewest tokens first, and those that are. Who retrieved nothing is neither."""

    front: tuple[int, ...]
    dominated: tuple[Dominated, ...]


@dataclass(frozen=True, slots=True)
class LambdaPlace:
    """A cell that stands first by `balanced_in_play` from `low` to `high`; None: however high the price."""

    cell: int
    low: float
    high: float | None


@dataclass(frozen=True, slots=True)
class LambdaRange:
    """The range of prices over which the first place holds.

    Attributes:
        first: the cell that stands first at the price given, and where it does.
        below: who stands first at a lower price; None where the range begins at 0.
        above: who stands first at a higher price; None where the range has no end.
        places: all first places, from 0 on.
    """

    first: LambdaPlace
    below: int | None
    above: int | None
    places: tuple[LambdaPlace, ...]


@dataclass(frozen=True, slots=True)
class PartRecall:
    """A cell's recall on a part of the questions: `n` of them, in `n_groups` that do not move together."""

    part: str
    n: int
    n_groups: int
    recall: float
    ci95: Interval | None
    ci95_wilson: Interval | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Recall part by part: `cells` holds, per cell, the parts in their order. `warning` is for the reader of many."""

    cells: tuple[tuple[PartRecall, ...], ...]
    warning: str | None


@dataclass(frozen=True, slots=True)
class StabilityView:
    """Another look at the same answers: who leads there, and whether the leader does, alone or with others."""

    kind: Literal["k", "model", "documents", "questions", "lambda"]
    name: str
    leader: int
    holds: bool


@dataclass(frozen=True, slots=True)
class Stability:
    """In how many views the leader holds."""

    leader: int
    n_held: int
    views: tuple[StabilityView, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the questions, with what it knows of the tie.

    Attributes:
        n_groups: of questions that do not move together.
        weight: its share of today's questions; parts that overlap add up to 1 all the same.
        gap: recall of the leader above the rival.
        sd: spread of that gap from question to question, as the allocation takes it; None for one group in all.
        share: of further questions that should be asked here; None where sd is, or where the cells never differ.
    """

    part: str
    n_groups: int
    weight: float
    gap: float
    sd: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Strata:
    """Where further questions would settle the tie between two cells soonest, highest share first.

    Attributes:
        needed: questions in all that have an 80 % chance to settle it, asked in today's mix; None: no realistic number.
        needed_by_share: the same where further questions are asked by `share` and weighed by `weight`; None, too, where
            parts overlap.
    """

    by: Literal["tag", "document"]
    leader: int
    rival: int
    strata: tuple[Stratum, ...]
    needed: int | None
    needed_by_share: int | None


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything around the verdict.

    Attributes:
        lambda_range: of the first place by `balanced_in_play`.
        question_groups: positions of near-duplicate questions, group by group; questions that stand alone are left out.
    """

    axes: AxisEffects
    pareto: ParetoFront
    lambda_range: LambdaRange
    by_tag: Breakdown
    by_document: Breakdown
    by_gold_length: Breakdown
    stability: Stability
    strata: tuple[Strata, ...]
    question_groups: tuple[tuple[int, ...], ...]


# ---------------------------------------------------------------- report


@dataclass(frozen=True, slots=True)
class Warning:
    """Something the reader of a report should know: a code for programs, a sentence for people."""

    code: str
    severity: Literal["info", "warning", "error"]
    message: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A document that was read, as the report lists it; `digest` is that of the file's bytes."""

    doc_id: str
    digest: str
    characters: int
    tokens: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was not read; `path` is relative to the folder of documents."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One chunk of an answer; `rank` counts from 1."""

    chunk_id: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """One question under one cell: its score at the judged k, and the k chunks, best first.

    `lost` holds, per slot, in which part it was lost; None where it was found.
    """

    score: QuestionScore
    lost: tuple[LossPart | None, ...]
    retrieved: tuple[Retrieved, ...]


@dataclass(frozen=True, slots=True)
class MetricsAtK:
    """Means over the scored questions at one k."""

    k: int
    recall_at_k: float
    hit_rate_at_k: float
    mrr: float
    precision_at_k: float
    retrieved_tokens_at_k: float
    context_efficiency: float
    ndcg_at_k: float
    map_at_k: float
    token_recall: float
    token_precision: float
    token_iou: float


@dataclass(frozen=True, slots=True)
class CellAtK(MetricsAtK):
    """A cell at one k: its means, those that the chunker alone allows, and where the rest of the recall was lost.

    `loss` holds every part with its share, in the order in which they are asked; together 1 - recall.
    """

    ceiling: Ceiling
    loss: tuple[tuple[LossPart, float], ...]


@dataclass(frozen=True, slots=True)
class Cell(CellAtK):
    """One strategy under one retriever (and model, and reranker), judged at the first k; the other k stand in `by_k`.

    Attributes:
        cell: its name, unique in the report.
        strategy: the label of the strategy.
        params: the parameters it ran with, as a report may show them, sorted by name.
        model: the embedding model; None under bm25.
        balanced: None where no cell retrieved anything, so that there is no price to compare with.
        balanced_in_play: the same, priced among the cells in play; None for a cell that is ruled out, too.
        ci95: percentile bootstrap of the mean recall, (low, high).
        ci95_wilson: beside it where the mean lies near 0 or 1 or the questions are few.
    """

    cell: str
    strategy: str
    params: tuple[tuple[str, str | int | float | bool | None], ...]
    retriever: str
    model: str | None
    reranker: str | None
    balanced: float | None
    balanced_in_play: float | None
    ci95: tuple[float, float]
    ci95_wilson: tuple[float, float] | None
    by_k: tuple[CellAtK, ...]
    per_question: tuple[CellQuestion, ...]


CellShares = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class CellVerdict:
    """The verdict in the names of the cells. Attributes as in `Verdict`; shares in the order of the report."""

    status: Status
    leader: str
    p_best: CellShares
    in_play: tuple[str, ...]
    ruled_out: tuple[str, ...]
    questions_needed: int | None
    reasons: tuple[str, ...]
    at_bar: bool = False
    p_best_shrunk: CellShares = ()
    p_best_by_document: CellShares | None = None
    p_best_balanced: CellShares | None = None
    leader_share: float = 1.0
    leader_recall_shrunk: float = 0.0
    cheapest_in_play: str | None = None
    cheapest_difference: float | None = None
    cheapest_ci95: tuple[float, float] | None = None
    speaks_of: SpeaksOf = "new questions on these documents"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """An embedding model that the run leaned on; `max_length` is in its own tokens."""

    name: str
    digest: str
    max_length: int | None
    backend: str


@dataclass(frozen=True, slots=True)
class StageReuse:
    """How often a stage's results were taken from the cache, and how often made."""

    stage: str
    reused: int
    run: int


@dataclass(frozen=True, slots=True)
class MadeEntry:
    """One result that a run made, and why it had to.

    Attributes:
        label: of the strategy or the cell.
        seconds: how long it took, waiting for a shared model included; None where nobody wrote it down.
        n_new, n_taken_over: documents, or texts, that it made and that it took over; None for a stage without such.
    """

    stage: str
    label: str
    reasons: tuple[str, ...]
    seconds: float | None
    n_new: int | None
    n_taken_over: int | None


@dataclass(frozen=True, slots=True)
class RunEntry:
    """What differs between two runs of the same inputs. `started` is ISO 8601 in UTC."""

    started: str
    wall_seconds: float
    stages: tuple[StageReuse, ...]
    made: tuple[MadeEntry, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the figures were made of. `config` holds plain JSON types, without secrets and absolute paths."""

    versions: tuple[tuple[str, str], ...]
    seed: int
    corpus_digest: str
    questions_digest: str
    config: Mapping[str, object]
    models: tuple[ModelEntry, ...]
    run: RunEntry


@dataclass(frozen=True, slots=True)
class ChunkEntry:
    """Where a chunk lies; never its text."""

    chunk_id: str
    doc_id: str
    span: Span
    n_tokens: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one evaluation found.

    Attributes:
        top_k: the k that was judged.
        ranking_metric: what the cells are ranked by.
        n_questions: questions in the file; those without gold are named in `unscored`.
        cells: ranked best first, cells ruled out after those in play.
        survey: its cells are positions in `cells`, its questions those in `per_question`; axes bear their names.
        chunks: by label of the strategy, in order of document and place.
    """

    provenance: Provenance
    documents: tuple[DocumentEntry, ...]
    skipped: tuple[SkippedFile, ...]
    top_k: int
    ranking_metric: str
    n_questions: int
    unscored: tuple[str, ...]
    cells: tuple[Cell, ...]
    health: tuple[Health, ...]
    verdict: CellVerdict
    survey: Survey
    warnings: tuple[Warning, ...]
    chunks: tuple[tuple[str, tuple[ChunkEntry, ...]], ...]
