"""A small report made by hand: two strategies, one of them under two retrievers, two scored questions."""

from dataclasses import replace

import pytest

from chunklab_core.inputs.settings import EvaluationConfig, to_mapping
from chunklab_core.records.chunks import Health
from chunklab_core.records.report import (
    SCHEMA_VERSION,
    Cell,
    CellAtK,
    CellQuestion,
    CellVerdict,
    ChunkEntry,
    DocumentEntry,
    ModelEntry,
    Provenance,
    Questions,
    Report,
    Retrieved,
    RunEntry,
    SkippedFile,
    SkippedQuestion,
    StageReuse,
    Warning,
)
from chunklab_core.records.scores import Ceiling, FuzzyFind, LossPart
from chunklab_core.records.survey import (
    AxisEffect,
    AxisEffects,
    AxisLevel,
    Dominated,
    LambdaPlace,
    LambdaRange,
    ParetoFront,
    PartRecall,
    Stability,
    StabilityView,
    Strata,
    Stratum,
)

STAGES = ("parse", "chunk", "health", "embed", "index", "retrieve", "score", "select")
PARTS: tuple[LossPart, ...] = ("parse", "cut", "truncated", "candidates", "rerank", "fusion", "below_k")
CEILING = Ceiling(1.0, 0.5, 0.25)


def metrics_of(recall: float, precision: float, tokens: float, efficiency: float) -> dict[str, float]:
    return {
        "recall_at_k": recall,
        "hit_rate_at_k": 1.0,
        "mrr": 1.0,
        "precision_at_k": precision,
        "retrieved_tokens_at_k": tokens,
        "context_efficiency": efficiency,
        "ndcg_at_k": 0.9,
        "map_at_k": 0.8,
        "token_recall": recall,
        "token_precision": 0.2,
        "token_iou": 0.2,
    }


def loss_of(share: float) -> dict[LossPart, float]:
    """All of it lost by the cut."""
    return {part: share if part == "cut" else 0.0 for part in PARTS}


def at_k(recall: float) -> CellAtK:
    return CellAtK(metrics_of(recall, 0.1, 600.0, 0.05), CEILING, loss_of(1 - recall))


def cell_of(strategy: str, retriever: str, recall: float, balanced_in_play: float | None = 0.4) -> Cell:
    """A cell with two questions: at this mean recall, with 300 tokens an answer."""
    few = PartRecall("tables", 1, 1, 0.5, None, (0.1, 0.9))
    many = PartRecall("prose", 40, 38, 0.5, (0.4, 0.6), None)
    retrieved = (Retrieved("fees.md#000000", 1, 0.75), Retrieved("fees.md#000001", 2, 0.5))
    questions = tuple(
        CellQuestion(name, recall, 1, (True,), retrieved, () if recall == 1 else ("cut",), fuzzy)
        for name, fuzzy in (("refund", ()), ("cash", (FuzzyFind(0, "fees.md#000000", "four", "five"),)))
    )
    return Cell(
        cell=f"{strategy}/{retriever}",
        strategy=strategy,
        params={"chunk_size": 512, "overlap": 64},
        retriever=retriever,
        model=None if retriever == "bm25" else "all-MiniLM-L6-v2",
        reranker=None,
        metrics=metrics_of(recall, 0.5, 300.0, 0.1),
        ceiling=CEILING,
        loss=loss_of(1 - recall),
        balanced=recall - 0.05,
        balanced_in_play=balanced_in_play,
        ci95=(0.0, 1.0),
        by_k={"3": at_k(recall), "10": at_k(1.0)},
        per_question=questions,
        ci95_wilson=(0.1, 0.9) if recall == 1.0 else None,
        by_tag={"prose": many, "tables": few},
        by_document={"prose": many},
        by_gold_length={"tables": few},
    )


def health_of(strategy: str) -> Health:
    return Health(strategy, 2, 150.0, 0.5, {"all-MiniLM-L6-v2": 0.0}, 1.0, None, 0)


NO_CHUNKS = Health("structure", 0, None, None, {"all-MiniLM-L6-v2": None}, None, 1.0, 90)

AXES = AxisEffects(
    (
        AxisEffect(
            "retriever",
            0.5,
            (-0.125, 1.0),
            None,
            (AxisLevel("dense", 1.0, 0.5, (-0.125, 1.0), 1), AxisLevel("bm25", 0.25, -0.5, (-1.0, 0.125), 1)),
        ),
        AxisEffect(
            "strategy",
            None,
            None,
            None,
            (AxisLevel("fixed", 0.75, 0.5, (0.25, 0.75), 1), AxisLevel("structure", 0.0, None, None, 0)),
        ),
    ),
    None,
)
STRATA = (
    Stratum("prose", 38, 0.625, 0.125, 0.5, 0.75),
    Stratum("lists", 9, 0.25, 0.25, 0.25, 0.25),
    Stratum("tables", 1, 0.125, 1.0, None, None),
)


def verdict_of(status: str = "undecided", **fields: object) -> CellVerdict:
    given = {
        "status": status,
        "leader": "fixed/dense",
        "leader_share": 0.625,
        "leader_recall_shrunk": 0.75,
        "at_bar": False,
        "speaks_of": "new questions on these documents",
        "p_best": {"fixed/dense": 0.625, "fixed/bm25": 0.375, "structure/bm25": 0.0},
        "p_best_shrunk": {"fixed/dense": 0.6, "fixed/bm25": 0.4, "structure/bm25": 0.0},
        "p_best_by_document": None,
        "p_best_balanced": {"fixed/dense": 0.5, "fixed/bm25": 0.5, "structure/bm25": 0.0},
        "in_play": ("fixed/dense", "fixed/bm25"),
        "ruled_out": ("structure/bm25",),
        "cheapest_in_play": "fixed/bm25",
        "cheapest_difference": -0.5,
        "cheapest_ci95": (-1.0, 0.25),
        "questions_needed": 40,
        "reasons": ("Only 2 questions are scored.",),
    }
    return CellVerdict(**{**given, **fields})  # type: ignore[arg-type]


@pytest.fixture
def report() -> Report:
    """The leader is the first cell, its rival the second; whatever can be undefined is so once."""
    leader, rival, last = "fixed/dense", "fixed/bm25", "structure/bm25"
    return Report(
        schema_version=SCHEMA_VERSION,
        provenance=Provenance(
            versions={"chunklab-flows": "0.1.0", "numpy": "2.4.6"},
            seed=0,
            corpus_digest="ab" * 32,
            questions_digest="cd" * 32,
            config=to_mapping(EvaluationConfig()),
            models=(ModelEntry("all-MiniLM-L6-v2", "ef" * 32, 256, "torch"),),
            run=RunEntry("2026-03-01T12:00:00Z", 1.25, dict.fromkeys(STAGES, StageReuse(5, 0)), ()),
        ),
        documents=(
            DocumentEntry("fees.md", "01" * 32, 90, 20),
            DocumentEntry("empty.txt", "02" * 32, 0, 0, ("empty",)),
        ),
        skipped=(SkippedFile("locked.pdf", "needs a password"),),
        questions=Questions(3, 2, (SkippedQuestion("open", "no gold_snippets"),)),
        k=2,
        ranking_metric="balanced",
        verdict=verdict_of(),
        axes=AXES,
        pareto=ParetoFront((rival, leader), (Dominated(last, rival),)),
        lambda_range=LambdaRange(
            LambdaPlace(leader, 0.0, 0.125),
            None,
            rival,
            (LambdaPlace(leader, 0.0, 0.125), LambdaPlace(rival, 0.125, None)),
        ),
        stability=Stability(
            leader,
            2,
            3,
            (
                StabilityView("k", "k = 3", leader, True),
                StabilityView("questions", "half 1a of the questions", rival, False),
                StabilityView("lambda", "lambda = 0.1", leader, True),
            ),
        ),
        strata=(
            Strata("tag", leader, rival, STRATA, 60, None),
            Strata("document", leader, rival, STRATA[:2], None, None),
        ),
        question_groups=(("refund", "cash"),),
        warnings=(Warning("few_questions", "warning", "Fewer than 15 questions are scored.", "questions"),),
        health=(health_of("fixed"), NO_CHUNKS),
        cells=(cell_of("fixed", "dense", 1.0), cell_of("fixed", "bm25", 0.5), cell_of("structure", "bm25", 0.0, None)),
        chunks={
            "fixed": (
                ChunkEntry("fees.md#000000", "fees.md", 0, 40, 9),
                ChunkEntry("fees.md#000001", "fees.md", 40, 90, 11),
            ),
            "structure": (),
        },
    )


@pytest.fixture
def full_report(report: Report) -> Report:
    """Fifteen cells of five strategies, the last ten ruled out."""
    strategies = ("fixed", "recursive", "semantic", "semantic_no_floor", "structure")
    cells = tuple(cell_of(name, retriever, 0.5) for retriever in ("hybrid", "bm25", "dense") for name in strategies)
    names = tuple(cell.cell for cell in cells)
    verdict = verdict_of(
        leader=names[0],
        p_best={name: 0.2 if name in names[:5] else 0.0 for name in names},
        in_play=names[:5],
        ruled_out=names[5:],
        questions_needed=480,
        reasons=("Its probability of being best is below 0.90.", "Two questions are near-duplicates of each other."),
        cheapest_in_play=None,
        cheapest_difference=None,
        cheapest_ci95=None,
    )
    warnings = tuple(Warning(f"w{index}", "warning", f"Something of note, number {index}.") for index in range(5))
    health = tuple(map(health_of, strategies))
    return replace(report, cells=cells, verdict=verdict, health=health, warnings=warnings, chunks={})
