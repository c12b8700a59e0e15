"""The report of one evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from chunklab_core.records.chunks import Health
from chunklab_core.records.documents import Span
from chunklab_core.records.scores import Ceiling, LossPart, QuestionScore
from chunklab_core.records.survey import Survey
from chunklab_core.records.verdict import SpeaksOf, Status


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
class CellAtK:
    """A cell at one k: its means, those that the chunker alone allows, and where the rest of the recall was lost.

    Attributes:
        metrics: means over the scored questions, by the names in `chunklab_core.score.METRICS`.
        loss: every part with its share, in the order in which they are asked; together 1 - recall.
    """

    k: int
    metrics: Mapping[str, float]
    ceiling: Ceiling
    loss: tuple[tuple[LossPart, float], ...]

    @property
    def recall_at_k(self) -> float:
        """Mean share of a question's slots that are found."""
        return self.metrics["recall_at_k"]

    @property
    def retrieved_tokens_at_k(self) -> float:
        """Mean tokens of an answer."""
        return self.metrics["retrieved_tokens_at_k"]


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
    """The verdict in the names of the cells. Attributes as in `Verdict`; shares in the order of the report.

    `reasons` holds sentences, `reason_codes` the code of each.
    """

    status: Status
    leader: str
    p_best: CellShares
    in_play: tuple[str, ...]
    ruled_out: tuple[str, ...]
    questions_needed: int | None
    reasons: tuple[str, ...]
    reason_codes: tuple[str, ...] = ()
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
