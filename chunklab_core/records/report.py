"""The report of one evaluation: field by field and in the order of report.json, which is made from these records.

`marks.py` explains the marks; docs/report.md explains every field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from chunklab_core.records.chunks import Health
from chunklab_core.records.marks import (
    Amount,
    Count,
    Digest,
    Keywords,
    Mark,
    Name,
    Positive,
    Reasons,
    Share,
    ShareInterval,
    Undefined,
)
from chunklab_core.records.scores import Ceiling, FuzzyFind, LossPart
from chunklab_core.records.survey import AxisEffects, Interval, LambdaRange, ParetoFront, PartRecall, Stability, Strata
from chunklab_core.records.verdict import SpeaksOf, Status

SCHEMA_VERSION: Literal[1] = 1

Loss = Annotated[Mapping[LossPart, Share], Keywords(minProperties=7)]
"""Every part with its share of the recall, in the order in which they are checked; together 1 - recall."""
CellShares = Mapping[Name, Share]
"""By cell, in the order of the report."""
Parts = Mapping[str, PartRecall]


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """An embedding model that the run used; `max_length` is in its own tokens."""

    name: Name
    digest: Digest
    max_length: Annotated[Positive | None, Undefined("no_limit")]
    backend: Name
    undefined: ClassVar[Reasons]


@dataclass(frozen=True, slots=True)
class StageReuse:
    """How many results of a stage were reused, and how many were made."""

    reused: Count
    run: Count


@dataclass(frozen=True, slots=True)
class MadeEntry:
    """One result that a run made, and why it had to.

    Attributes:
        label: of the strategy or the cell.
        seconds: how long it took, waiting for a shared model included; None where it was not measured.
        new: documents, or texts, that it made; None for a stage that keeps none.
        taken_over: documents, or texts, that it reused; None likewise.
    """

    stage: Name
    label: Name
    reasons: Annotated[tuple[Name, ...], Keywords(minItems=1)]
    seconds: Annotated[Amount | None, Mark.LEFT_OUT]
    new: Annotated[Count | None, Mark.LEFT_OUT]
    taken_over: Annotated[Count | None, Mark.LEFT_OUT]


@dataclass(frozen=True, slots=True)
class RunEntry:
    """What differs between two runs of the same inputs. `started` is ISO 8601 in UTC."""

    started: Annotated[str, Keywords(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$")]
    wall_seconds: Amount
    stages: Mapping[Name, StageReuse]
    made: tuple[MadeEntry, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the figures were made of. `config` holds plain JSON types, without secrets and absolute paths."""

    versions: Mapping[Name, Name]
    seed: Count
    corpus_digest: Digest
    questions_digest: Digest
    config: Mapping[str, object]
    models: tuple[ModelEntry, ...]
    run: RunEntry


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A document that was read; `digest` is that of the file's bytes."""

    id: Name
    digest: Digest
    characters: Count
    tokens: Count
    warnings: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was not read; `path` is relative to the folder of documents."""

    path: Name
    reason: Name


@dataclass(frozen=True, slots=True)
class SkippedQuestion:
    """A question that is not scored."""

    id: Name
    reason: Name


@dataclass(frozen=True, slots=True)
class Questions:
    """How many questions the file holds, how many are scored, and which are not."""

    total: Count
    scored: Count
    skipped: tuple[SkippedQuestion, ...]


def _why_no_number(verdict: CellVerdict) -> str:
    if verdict.status == "leans" and "no_realistic_number" not in verdict.reason_codes:
        return "other_evidence"
    return {"winner": "settled", "tied": "tied", "only": "nothing_to_compare"}.get(verdict.status, "no_number")


@dataclass(frozen=True, slots=True)
class CellVerdict:
    """The verdict in the names of the cells. Attributes as in `Verdict`.

    `reasons` holds sentences, `reason_codes` the code of each.
    """

    status: Status
    leader: Name
    leader_share: Share
    leader_recall_shrunk: float
    at_bar: bool
    speaks_of: SpeaksOf
    p_best: CellShares
    p_best_shrunk: CellShares
    p_best_by_document: Annotated[CellShares | None, Undefined("few_documents")]
    p_best_balanced: Annotated[CellShares | None, Undefined("not_balanced")]
    in_play: Annotated[tuple[Name, ...], Keywords(minItems=1, uniqueItems=True)]
    ruled_out: Annotated[tuple[Name, ...], Keywords(uniqueItems=True)]
    cheapest_in_play: Annotated[Name | None, Undefined("no_cost")]
    cheapest_difference: Annotated[float | None, Undefined("no_cost")]
    cheapest_ci95: Annotated[Interval | None, Undefined("no_cost")]
    questions_needed: Annotated[Positive | None, Undefined(_why_no_number)]
    reasons: tuple[Name, ...]
    undefined: ClassVar[Reasons]
    reason_codes: Annotated[tuple[str, ...], Mark.KEY] = ()


@dataclass(frozen=True, slots=True)
class Warning:
    """Something the reader of a report should know: a code for programs, a sentence for people."""

    code: Name
    severity: Literal["info", "warning", "error"]
    message: Name
    where: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One chunk of an answer; `rank` counts from 1."""

    chunk_id: Name
    rank: Positive
    score: float


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """One question under one cell at the judged k.

    Attributes:
        found: per slot, whether any of the k chunks contains it.
        retrieved: the k chunks, best first.
        lost: per slot, the part in which it was lost, None where it was found; empty where none was lost.
        fuzzy: finds with other wording in places.
    """

    id: Name
    recall: Share
    first_hit_rank: Positive | None
    found: Annotated[tuple[bool, ...], Keywords(minItems=1)]
    retrieved: tuple[Retrieved, ...]
    lost: Annotated[tuple[LossPart | None, ...], Mark.LEFT_OUT, Keywords(contains={"type": "string"})] = ()
    fuzzy: Annotated[tuple[FuzzyFind, ...], Mark.LEFT_OUT] = ()


@dataclass(frozen=True, slots=True)
class CellAtK:
    """A cell at one k.

    Attributes:
        metrics: means over the scored questions, by the names in `chunklab_core.score.METRICS`.
        ceiling: what the strategy's chunks allow.
        loss: where the rest of the recall was lost.
    """

    metrics: Annotated[Mapping[str, float], Mark.INLINE]
    ceiling: Ceiling
    loss: Loss


@dataclass(frozen=True, slots=True)
class Cell:
    """One strategy under one retriever (and model, and reranker), judged at the first k; `by_k` holds the other k.

    Attributes:
        cell: its name, unique in the report.
        strategy: the label of the strategy.
        params: the parameters it ran with, as a report may show them, sorted by name.
        model: the embedding model; None under bm25.
        metrics, ceiling, loss: as in `CellAtK`.
        balanced: None where no cell retrieved anything, so that there is no price to compare with.
        balanced_in_play: the same, priced among the cells in play; None for a cell that is ruled out, too.
        ci95: percentile bootstrap of the mean recall, (low, high).
        by_k: by k, smallest first.
        ci95_wilson: given where the mean is near 0 or 1 or the questions are few.
    """

    cell: Name
    strategy: Name
    params: Mapping[str, str | int | float | bool | None]
    retriever: Name
    model: Annotated[Name | None, Undefined("no_model")]
    reranker: Annotated[Name | None, Undefined("no_reranker")]
    metrics: Annotated[Mapping[str, float], Mark.INLINE]
    ceiling: Ceiling
    loss: Loss
    balanced: Annotated[float | None, Undefined("no_price")]
    balanced_in_play: Annotated[
        float | None, Undefined(lambda cell: "no_price" if cell.balanced is None else "ruled_out")
    ]
    ci95: ShareInterval
    undefined: ClassVar[Reasons]
    by_k: Annotated[Mapping[str, CellAtK], Keywords(propertyNames={"pattern": "^[1-9][0-9]*$"})]
    per_question: tuple[CellQuestion, ...]
    ci95_wilson: Annotated[ShareInterval | None, Mark.LEFT_OUT]
    by_tag: Parts
    by_document: Parts
    by_gold_length: Parts

    @property
    def recall_at_k(self) -> float:
        """Mean share of a question's slots that are found."""
        return self.metrics["recall_at_k"]

    @property
    def retrieved_tokens_at_k(self) -> float:
        """Mean tokens of an answer."""
        return self.metrics["retrieved_tokens_at_k"]


@dataclass(frozen=True, slots=True)
class ChunkEntry:
    """The place of a chunk; never its text."""

    id: Name
    document: Name
    start: Count
    end: Positive
    tokens: Count


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one evaluation found.

    Attributes:
        k: the k that was judged.
        ranking_metric: the cells are ranked by it.
        question_groups: ids of near-duplicate questions.
        cells: ranked best first, cells ruled out after those in play.
        chunks: by label of the strategy, in order of document and place.
    """

    schema_version: Literal[1]
    provenance: Provenance
    documents: tuple[DocumentEntry, ...]
    skipped: tuple[SkippedFile, ...]
    questions: Questions
    k: Positive
    ranking_metric: Name
    verdict: CellVerdict
    axes: AxisEffects
    pareto: ParetoFront[Name]
    lambda_range: LambdaRange[Name]
    stability: Stability[Name]
    strata: tuple[Strata[Name], ...]
    question_groups: tuple[Annotated[tuple[Name, ...], Keywords(minItems=2)], ...]
    warnings: tuple[Warning, ...]
    health: tuple[Health, ...]
    cells: Annotated[tuple[Cell, ...], Keywords(minItems=1)]
    chunks: Mapping[str, tuple[ChunkEntry, ...]]
