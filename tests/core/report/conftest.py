"""A small report made by hand: two strategies, one of them under two retrievers, two scored questions."""

import pytest

from chunklab_core.inputs.settings import EvaluationConfig, to_mapping
from chunklab_core.records.chunks import Health
from chunklab_core.records.documents import Span
from chunklab_core.records.report import (
    Cell,
    CellAtK,
    CellQuestion,
    CellVerdict,
    ChunkEntry,
    DocumentEntry,
    ModelEntry,
    Provenance,
    Report,
    Retrieved,
    RunEntry,
    SkippedFile,
    StageReuse,
    Warning,
)
from chunklab_core.records.scores import Ceiling, FuzzyFind, LossPart, QuestionScore
from chunklab_core.records.survey import (
    AxisEffect,
    AxisEffects,
    AxisLevel,
    Breakdown,
    Dominated,
    LambdaPlace,
    LambdaRange,
    ParetoFront,
    PartRecall,
    Stability,
    StabilityView,
    Strata,
    Stratum,
    Survey,
)

STAGES = ("parse", "chunk", "health", "embed", "index", "retrieve", "score", "select")


PARTS: tuple[LossPart, ...] = ("parse", "cut", "truncated", "candidates", "rerank", "fusion", "below_k")


def loss_of(share: float) -> tuple[tuple[LossPart, float], ...]:
    """All of it lost by the cut."""
    return tuple((part, share if part == "cut" else 0.0) for part in PARTS)


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


def at_k(k: int, recall: float) -> CellAtK:
    return CellAtK(k, metrics_of(recall, 0.1, 600.0, 0.05), Ceiling(1.0, 0.5, 0.25), loss_of(1 - recall))


def cell_of(strategy: str, retriever: str, recall: float, balanced_in_play: float | None = 0.4) -> Cell:
    """A cell with two questions: at this mean recall, with 300 tokens an answer."""
    questions = tuple(
        CellQuestion(
            QuestionScore(name, metrics_of(recall, 0.5, 300, 0.1), 1, (True,), fuzzy),
            (None if recall == 1 else "cut",),
            (Retrieved("fees.md#000000", 1, 0.75), Retrieved("fees.md#000001", 2, 0.5)),
        )
        for name, fuzzy in (("refund", ()), ("cash", (FuzzyFind(0, "fees.md#000000", "four", "five"),)))
    )
    return Cell(
        cell=f"{strategy}/{retriever}",
        strategy=strategy,
        params=(("chunk_size", 512), ("overlap", 64)),
        retriever=retriever,
        model=None if retriever == "bm25" else "all-MiniLM-L6-v2",
        reranker=None,
        k=2,
        metrics=metrics_of(recall, 0.5, 300.0, 0.1),
        ceiling=Ceiling(1.0, 0.5, 0.25),
        loss=loss_of(1 - recall),
        balanced=recall - 0.05,
        balanced_in_play=balanced_in_play,
        ci95=(0.0, 1.0),
        ci95_wilson=(0.1, 0.9) if recall == 1.0 else None,
        by_k=(at_k(10, 1.0), at_k(3, recall)),
        per_question=questions,
    )


def health_of(strategy: str) -> Health:
    return Health(strategy, 2, 150.0, 0.5, {"all-MiniLM-L6-v2": 0.0}, 1.0, None, 0)


NO_CHUNKS = Health("structure", 0, None, None, {"all-MiniLM-L6-v2": None}, None, 1.0, 90)


def survey_of(n_cells: int) -> Survey:
    """The leader is the first cell, its rival the second; whatever can be undefined is so once."""
    few = PartRecall("tables", 1, 1, 0.5, None, (0.1, 0.9))
    many = PartRecall("prose", 40, 38, 0.5, (0.4, 0.6), None)
    strategies = (AxisLevel("fixed", 0.75, 0.5, (0.25, 0.75), 1), AxisLevel("structure", 0.0, None, None, 0))
    retrievers = (AxisLevel("dense", 1.0, 0.5, (-0.125, 1.0), 1), AxisLevel("bm25", 0.25, -0.5, (-1.0, 0.125), 1))
    asked = (
        Stratum("prose", 38, 0.625, 0.125, 0.5, 0.75),
        Stratum("lists", 9, 0.25, 0.25, 0.25, 0.25),
        Stratum("tables", 1, 0.125, 1.0, None, None),
    )
    return Survey(
        axes=AxisEffects(
            (
                AxisEffect("retriever", retrievers, 0.5, (-0.125, 1.0), None),
                AxisEffect("strategy", strategies, None, None, None),
            ),
            None,
        ),
        pareto=ParetoFront((1, 0), (Dominated(2, 1),)),
        lambda_range=LambdaRange(
            LambdaPlace(0, 0.0, 0.125), None, 1, (LambdaPlace(0, 0.0, 0.125), LambdaPlace(1, 0.125, None))
        ),
        by_tag=Breakdown(((many, few),) * n_cells),
        by_document=Breakdown(((many,),) * n_cells),
        by_gold_length=Breakdown(((few,),) * n_cells),
        stability=Stability(
            0,
            2,
            (
                StabilityView("k", "k = 3", 0, True),
                StabilityView("questions", "half 1a of the questions", 1, False),
                StabilityView("lambda", "lambda = 0.1", 0, True),
            ),
        ),
        strata=(Strata("tag", 0, 1, asked, 60, None), Strata("document", 0, 1, asked[:2], None, None)),
        question_groups=((0, 1),),
    )


@pytest.fixture
def report() -> Report:
    return Report(
        provenance=Provenance(
            versions=(("numpy", "2.4.6"), ("chunklab-flows", "0.1.0")),
            seed=0,
            corpus_digest="ab" * 32,
            questions_digest="cd" * 32,
            config=to_mapping(EvaluationConfig()),
            models=(ModelEntry("all-MiniLM-L6-v2", "ef" * 32, 256, "torch"),),
            run=RunEntry("2026-03-01T12:00:00Z", 1.25, tuple(StageReuse(stage, 5, 0) for stage in STAGES), ()),
        ),
        documents=(
            DocumentEntry("fees.md", "01" * 32, 90, 20),
            DocumentEntry("empty.txt", "02" * 32, 0, 0, ("empty",)),
        ),
        skipped=(SkippedFile("locked.pdf", "needs a password"),),
        top_k=2,
        ranking_metric="balanced",
        n_questions=3,
        unscored=("open",),
        cells=(cell_of("fixed", "dense", 1.0), cell_of("fixed", "bm25", 0.5), cell_of("structure", "bm25", 0.0, None)),
        health=(health_of("fixed"), NO_CHUNKS),
        verdict=CellVerdict(
            status="undecided",
            leader="fixed/dense",
            p_best=(("fixed/dense", 0.625), ("fixed/bm25", 0.375), ("structure/bm25", 0.0)),
            in_play=("fixed/dense", "fixed/bm25"),
            ruled_out=("structure/bm25",),
            questions_needed=40,
            reasons=("Only 2 questions are scored.",),
            p_best_shrunk=(("fixed/dense", 0.6), ("fixed/bm25", 0.4), ("structure/bm25", 0.0)),
            p_best_balanced=(("fixed/dense", 0.5), ("fixed/bm25", 0.5), ("structure/bm25", 0.0)),
            leader_share=0.625,
            leader_recall_shrunk=0.75,
            cheapest_in_play="fixed/bm25",
            cheapest_difference=-0.5,
            cheapest_ci95=(-1.0, 0.25),
        ),
        survey=survey_of(3),
        warnings=(Warning("few_questions", "warning", "Fewer than 15 questions are scored.", "questions"),),
        chunks=(
            (
                "fixed",
                (
                    ChunkEntry("fees.md#000000", "fees.md", Span(0, 40), 9),
                    ChunkEntry("fees.md#000001", "fees.md", Span(40, 90), 11),
                ),
            ),
            ("structure", ()),
        ),
    )


@pytest.fixture
def full_report(report: Report) -> Report:
    """Fifteen cells of five strategies, the last ten ruled out."""
    from dataclasses import replace

    strategies = ("fixed", "recursive", "semantic", "semantic_no_floor", "structure")
    cells = tuple(cell_of(name, retriever, 0.5) for retriever in ("hybrid", "bm25", "dense") for name in strategies)
    names = tuple(cell.cell for cell in cells)
    verdict = CellVerdict(
        "undecided",
        names[0],
        tuple((name, 0.2 if name in names[:5] else 0.0) for name in names),
        names[:5],
        names[5:],
        480,
        ("Its probability of being best is below 0.90.", "Two questions are near-duplicates of each other."),
    )
    warnings = tuple(Warning(f"w{index}", "warning", f"Something of note, number {index}.") for index in range(5))
    return replace(
        report,
        cells=cells,
        verdict=verdict,
        survey=survey_of(15),
        health=tuple(map(health_of, strategies)),
        warnings=warnings,
        chunks=(),
    )
