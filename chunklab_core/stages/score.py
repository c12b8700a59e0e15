"""Stage score: how much of the gold one cell's answers hold, and where the rest was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from chunklab_core.cache.formats import pack_json
from chunklab_core.cache.protocol import Ref, ResultStore
from chunklab_core.records.questions import Gold
from chunklab_core.records.rankings import Ranking
from chunklab_core.records.scores import QuestionScore
from chunklab_core.retrieve import needs_vectors
from chunklab_core.score import METRICS, QuestionGold, score_question
from chunklab_core.score.in_tokens import InTokens
from chunklab_core.score.loss import cell_loss
from chunklab_core.score.loss_facts import cell_facts, read_by_slot, rows_by_slot
from chunklab_core.score.places import GoldChunks
from chunklab_core.score.stored import unpack_gold_chunks
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.locate import read_gold
from chunklab_core.stages.retrieve import load_rankings
from chunklab_core.stages.stage import TOKENS, Arguments, Made, Progress, Stage
from chunklab_core.stages.vectors import read_embedded
from chunklab_core.tokens import count_tokens


def score(
    store: ResultStore,
    progress: Progress,
    *,
    retrieved: Ref,
    legs: Sequence[Ref],
    embedded: Sequence[Ref],
    chunks: Ref,
    matched: Ref,
    gold: Ref,
    leg_names: Sequence[str],
    candidates: int,
    top_k: Sequence[int],
) -> Made:
    """The figures of every question for every k, the losses, and the chunks retrieved at the first k."""
    rankings = load_rankings(store, retrieved)
    gold_chunks, tokens = unpack_gold_chunks(store.read(matched))
    table = ChunkTable(store, chunks)
    sweep = _score_questions(progress, read_gold(store, gold), rankings, table, gold_chunks, tokens, top_k)
    rows_of_legs = {name: _candidates(store, leg, candidates) for name, leg in zip(leg_names, legs, strict=True)}
    windows = [read_embedded(store, ref).window_ends for ref in embedded]
    rows_read = read_by_slot(gold_chunks, windows[0]) if windows else None
    rows_of_slots = rows_by_slot(gold_chunks)
    windowed = {name for name in leg_names if needs_vectors(name)}
    by_k = [
        {
            "k": k,
            "questions": [asdict(score) for score in scores],
            "loss": asdict(cell_loss(cell_facts(scores, tokens, rows_of_slots, rows_read, rows_of_legs, windowed), k)),
        }
        for k, scores in zip(top_k, sweep, strict=True)
    ]
    return pack_json({"by_k": by_k, "retrieved": [_rows(ranking, top_k[0]) for ranking in rankings]}), None


def _score_questions(
    progress: Progress,
    questions: Sequence[Gold],
    rankings: Sequence[Ranking],
    table: ChunkTable,
    gold_chunks: GoldChunks,
    tokens: InTokens,
    top_k: Sequence[int],
) -> list[list[QuestionScore]]:
    """For every k, the figures of all questions."""
    sweep: list[list[QuestionScore]] = [[] for _ in top_k]
    for done, (question, ranking) in enumerate(zip(questions, rankings, strict=True)):
        progress(done, len(questions))
        rows = ranking.rows[: max(top_k)].tolist()
        chunks = [table.chunk(row) for row in rows]
        finds = gold_chunks.finds(done, len(question.slots), rows)
        gold, spans = QuestionGold(gold_chunks.n_chunks(done), tokens.slots(done)), tokens.spans(rows)
        for scores, k in zip(sweep, top_k, strict=True):
            scores.append(score_question(question, chunks, finds, k, gold=gold, spans=spans, count_tokens=count_tokens))
    return sweep


def _candidates(store: ResultStore, leg: Ref, candidates: int) -> list[list[int]]:
    """For each question, the rows that one leg listed as candidates."""
    return [ranking.rows[:candidates].tolist() for ranking in load_rankings(store, leg)]


def _rows(ranking: Ranking, k: int) -> list[list[float]]:
    """Row and score of the first k chunks of a ranking."""
    return [list(pair) for pair in zip(ranking.rows[:k].tolist(), ranking.scores[:k].tolist(), strict=True)]


def _metrics(_: Arguments) -> list[str]:
    """All metrics."""
    return list(METRICS.values())


STAGE = Stage(
    score,
    "How much of the gold one cell's answers hold.",
    inputs=("retrieved", "legs", "embedded", "chunks", "matched", "gold"),
    room=("chunklab_core.score",),
    chosen=_metrics,
    libraries=(*TOKENS, "numpy"),
    in_report=True,
)
