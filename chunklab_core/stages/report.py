"""Gathers the results of all stages into one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.keys import version_of
from chunklab_core.cache.protocol import Ref, stage_of
from chunklab_core.cache.run_records import new_items, noted
from chunklab_core.cache.store import Store
from chunklab_core.errors import note_text
from chunklab_core.graph import work_once
from chunklab_core.models.sentence_transformer import LIBRARIES
from chunklab_core.plugins import is_plugin
from chunklab_core.records.chunks import Health
from chunklab_core.records.documents import Note
from chunklab_core.records.report import (
    SCHEMA_VERSION,
    Cell,
    CellAtK,
    CellQuestion,
    CellVerdict,
    ChunkEntry,
    DocumentEntry,
    MadeEntry,
    ModelEntry,
    Parts,
    Provenance,
    Questions,
    Report,
    Retrieved,
    RunEntry,
    SkippedFile,
    SkippedQuestion,
    StageReuse,
)
from chunklab_core.records.scores import Ceiling, FuzzyFind, QuestionScore
from chunklab_core.records.survey import (
    AxisEffects,
    Breakdown,
    Dominated,
    LambdaPlace,
    LambdaRange,
    ParetoFront,
    Stability,
    StabilityView,
    Strata,
    Survey,
)
from chunklab_core.records.verdict import Reason
from chunklab_core.report.parts import caution_about_parts
from chunklab_core.report.reasons import sentence
from chunklab_core.report.warnings import Slot, warnings_of
from chunklab_core.score import mean_scores
from chunklab_core.select.reasons import FEW_QUESTIONS
from chunklab_core.select.stored import survey_from_mapping
from chunklab_core.stages import all_stages
from chunklab_core.stages.cells import RunCell, cells_of
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.documents import document_entries
from chunklab_core.stages.stage import Node

_VERSIONS = ("chunklab-flows", "numpy", "prefect", "sentence-transformers", "tiktoken", "torch")
_BREAKDOWNS = ("by_tag", "by_document", "by_gold_length")


def make_report(
    store: Store, inputs: Ref, work: Sequence[Node], todo: Mapping[Ref, Sequence[str]], *, started: datetime
) -> Report:
    """The report of a run whose nodes are all done.

    Args:
        store: holds the results.
        inputs: what `chunklab_core.stages.prepare.prepare` returned.
        work: the nodes of the run.
        todo: the references that had to be made, each with the reasons.
        started: when the run began; time zone aware.
    """
    run = unpack_json(store.read(inputs))
    results = _Results(store, run, work)
    cells, survey = results.cells(), results.survey
    question_ids = [question.id for question in cells[0].per_question]
    report = Report(
        schema_version=SCHEMA_VERSION,
        provenance=_provenance(store, run, work, todo, started),
        documents=results.documents(),
        skipped=results.skipped(),
        questions=_questions(len(question_ids), run["unscored"]),
        k=run["settings"]["retrieval"]["top_k"][0],
        ranking_metric=run["settings"]["eval"]["ranking_metric"],
        verdict=results.verdict(cells),
        axes=results.axes(),
        pareto=_pareto(survey.pareto, results.names, [cell.cell for cell in cells]),
        lambda_range=_lambda_range(survey.lambda_range, results.names),
        stability=_stability(survey.stability, results.names, results.models),
        strata=tuple(_strata(each, results.names) for each in survey.strata),
        question_groups=tuple(tuple(question_ids[index] for index in group) for group in survey.question_groups),
        warnings=(),
        health=tuple(results.health(node) for node in work if node.stage == "health"),
        cells=cells,
        chunks={node.label: results.chunks(node.label) for node in work if node.stage == "chunk"},
    )
    small_parts = {name: caution_about_parts(getattr(survey, name)) for name in _BREAKDOWNS}
    warnings = warnings_of(report, nowhere=results.nowhere(), small_parts=small_parts, few_questions=FEW_QUESTIONS)
    return replace(report, warnings=tuple(warnings))


def _questions(n_scored: int, unscored: Sequence[str]) -> Questions:
    skipped = tuple(SkippedQuestion(question_id, "no gold_snippets") for question_id in unscored)
    return Questions(n_scored + len(skipped), n_scored, skipped)


class _Results:
    """The results of a run, read when they are needed.

    Attributes:
        names: of the cells, by their position in the scores.
        models: the names of the models, by their position.
        survey: by positions.
    """

    def __init__(self, store: Store, run: Mapping[str, Any], work: Sequence[Node]) -> None:
        self._store, self._run = store, run
        self._refs = {(node.stage, node.label): node.ref for node in work}
        self._tables = {node.label: ChunkTable(store, node.ref) for node in work if node.stage == "chunk"}
        self._select = self._read(next(node.ref for node in work if node.stage == "select"))
        self._parsed = self._refs["parse", "documents"]
        self._cells = cells_of(run)
        self.names = [cell.name for cell in self._cells]
        self.models = [run["model"]["model_place"]["name"]] if run["model"] else []
        self.survey: Survey = survey_from_mapping(self._read(next(node.ref for node in work if node.stage == "survey")))

    def documents(self) -> tuple[DocumentEntry, ...]:
        """Every document that was read."""
        return tuple(
            DocumentEntry(
                each["id"],
                each["digest"],
                each["characters"],
                each["tokens"],
                tuple(note_text(Note(**note)) for note in each["warnings"]),
            )
            for each in document_entries(self._store, self._parsed)
        )

    def skipped(self) -> tuple[SkippedFile, ...]:
        """Every file that was not read, by path."""
        unread = [*self._run["skipped"], *self._read(self._parsed)["skipped"]]
        skipped = (SkippedFile(each["path"], note_text(Note(**each["note"]))) for each in unread)
        return tuple(sorted(skipped, key=lambda file: file.path))

    def cells(self) -> tuple[Cell, ...]:
        """All cells: by the ranking metric, best first, those that are ruled out after those in play.

        Under `balanced`, cells in play are priced among themselves, so that a tiny, bad cell cannot reorder them.
        """
        cells = [self._cell(index, cell) for index, cell in enumerate(self._cells)]
        ruled_out = set(self._select["verdict"]["ruled_out"])
        metric = self._run["settings"]["eval"]["ranking_metric"]

        def rank(index: int) -> tuple[bool, float, int]:
            cell = cells[index]
            price = cell.balanced if index in ruled_out else cell.balanced_in_play
            value = price if metric == "balanced" else cell.metrics[metric]
            return index in ruled_out, -value if value is not None else float("inf"), index

        return tuple(cells[index] for index in sorted(range(len(cells)), key=rank))

    def verdict(self, cells: Sequence[Cell]) -> CellVerdict:
        """The verdict in the names of the cells, which come ranked."""
        names, verdict = self.names, self._select["verdict"]

        def named(shares: Sequence[float]) -> dict[str, float]:
            by_name = dict(zip(names, shares, strict=True))
            return {cell.cell: by_name[cell.cell] for cell in cells}

        return CellVerdict(
            status=verdict["status"],
            leader=names[verdict["leader"]],
            leader_share=verdict["leader_share"],
            leader_recall_shrunk=verdict["leader_recall_shrunk"],
            at_bar=verdict["at_bar"],
            speaks_of=verdict["speaks_of"],
            p_best=named(verdict["p_best"]),
            p_best_shrunk=named(verdict["p_best_shrunk"]),
            p_best_by_document=named(verdict["p_best_by_document"]) if verdict["p_best_by_document"] else None,
            p_best_balanced=named(verdict["p_best_balanced"]) if verdict["p_best_balanced"] else None,
            in_play=tuple(names[index] for index in verdict["in_play"]),
            ruled_out=tuple(names[index] for index in verdict["ruled_out"]),
            cheapest_in_play=names[verdict["cheapest_in_play"]],
            cheapest_difference=verdict["cheapest_difference"],
            cheapest_ci95=tuple(verdict["cheapest_ci95"]),
            questions_needed=verdict["questions_needed"],
            reasons=tuple(sentence(Reason(**reason), names) for reason in verdict["reasons"]),
            reason_codes=tuple(reason["code"] for reason in verdict["reasons"]),
        )

    def axes(self) -> AxisEffects:
        """The effects of the axes, with levels by name; "none" is one already."""
        names = {
            "strategy": [strategy["label"] for strategy in self._run["strategies"]],
            "retriever": self._run["retrievers"],
            "model": self.models,
        }

        def name(axis: str, level: str) -> str:
            return names[axis][int(level)] if level.isdigit() else level

        found = self.survey.axes
        return replace(
            found,
            effects=tuple(
                replace(axis, levels=tuple(replace(each, level=name(axis.axis, each.level)) for each in axis.levels))
                for axis in found.effects
            ),
        )

    def chunks(self, label: str) -> tuple[ChunkEntry, ...]:
        """The places of a strategy's chunks."""
        table = self._tables[label]
        return tuple(
            ChunkEntry(table.chunk_id(row), table.doc_ids[document], start, end, n_tokens)
            for row, (document, start, end, n_tokens) in enumerate(table.table.tolist())
        )

    def health(self, node: Node) -> Health:
        """The health that a node found, under the names of its strategy and its model."""
        stored = self._read(node.ref)
        names = {self._run["model"]["model"]["digest"]: self.models[0]} if self.models else {}
        shares = {names.get(model, model): share for model, share in stored["pct_oversized"].items()}
        return Health(**{**stored, "strategy": node.label, "pct_oversized": dict(sorted(shares.items()))})

    def nowhere(self) -> set[Slot]:
        """The slots whose gold is in no document."""
        return {(question, slot) for question, slot in self._select["nowhere"]}

    def _cell(self, index: int, cell: RunCell) -> Cell:
        scored = self._read(self._refs["score", cell.name])
        ceilings = self._read(self._refs["ceiling", cell.strategy])["by_k"]
        sweep = {
            at_k["k"]: _cell_at_k(at_k, each["ceiling"]) for at_k, each in zip(scored["by_k"], ceilings, strict=True)
        }
        judged, *further = sweep
        wilson = self._select["ci95_wilson"][index]
        return Cell(
            cell=cell.name,
            strategy=cell.strategy,
            params=dict(sorted(self._run["strategies"][cell.axes[0]]["shown"].items())),
            retriever=cell.retriever,
            model=cell.model,
            reranker=None,
            metrics=sweep[judged].metrics,
            ceiling=sweep[judged].ceiling,
            loss=sweep[judged].loss,
            balanced=self._select["balanced"][index],
            balanced_in_play=self._select["balanced_in_play"][index],
            ci95=tuple(self._select["ci95"][index]),
            by_k={str(k): sweep[k] for k in sorted(further)},
            per_question=tuple(_per_question(scored, self._tables[cell.strategy])),
            ci95_wilson=tuple(wilson) if wilson else None,
            by_tag=_parts(self.survey.by_tag, index),
            by_document=_parts(self.survey.by_document, index),
            by_gold_length=_parts(self.survey.by_gold_length, index),
        )

    def _read(self, ref: Ref) -> Any:
        return unpack_json(self._store.read(ref))


# ---------------------------------------------------------------- scores


def _cell_at_k(scored: Mapping[str, Any], ceiling: Mapping[str, float]) -> CellAtK:
    means = mean_scores([_question_score(each) for each in scored["questions"]])
    return CellAtK(means, Ceiling(**ceiling), dict(scored["loss"]["shares"]))


def _per_question(scored: Mapping[str, Any], table: ChunkTable) -> Iterator[CellQuestion]:
    """The questions of a cell at the judged k."""
    judged = scored["by_k"][0]
    lost = {each["question_id"]: tuple(each["parts"]) for each in judged["loss"]["questions"]}
    for stored, ranked in zip(judged["questions"], scored["retrieved"], strict=True):
        score = _question_score(stored)
        yield CellQuestion(
            id=score.question_id,
            recall=score.metrics["recall_at_k"],
            first_hit_rank=score.first_hit_rank,
            found=score.found,
            retrieved=tuple(
                Retrieved(table.chunk_id(row), rank, value) for rank, (row, value) in enumerate(ranked, start=1)
            ),
            lost=lost.get(score.question_id, ()),
            fuzzy=score.fuzzy,
        )


def _question_score(stored: Mapping[str, Any]) -> QuestionScore:
    fuzzy = tuple(FuzzyFind(**find) for find in stored["fuzzy"])
    return QuestionScore(**{**stored, "found": tuple(stored["found"]), "fuzzy": fuzzy})


# ---------------------------------------------------------------- the survey, by names


def _parts(breakdown: Breakdown, cell: int) -> Parts:
    return {part.part: part for part in breakdown.cells[cell]}


def _pareto(found: ParetoFront[int], names: Sequence[str], ranked: Sequence[str]) -> ParetoFront[str]:
    """The front as found; cells that are dominated as they are ranked."""
    dominated = [Dominated(names[each.cell], names[each.by]) for each in found.dominated]
    return ParetoFront(
        tuple(names[cell] for cell in found.front),
        tuple(sorted(dominated, key=lambda each: ranked.index(each.cell))),
    )


def _lambda_range(found: LambdaRange[int], names: Sequence[str]) -> LambdaRange[str]:
    def named(place: LambdaPlace[int]) -> LambdaPlace[str]:
        return LambdaPlace(names[place.cell], place.low, place.high)

    return LambdaRange(
        first=named(found.first),
        below=None if found.below is None else names[found.below],
        above=None if found.above is None else names[found.above],
        places=tuple(map(named, found.places)),
    )


def _stability(found: Stability[int], names: Sequence[str], models: Sequence[str]) -> Stability[str]:
    views = tuple(
        StabilityView(
            view.kind, models[int(view.name)] if view.kind == "model" else view.name, names[view.leader], view.holds
        )
        for view in found.views
    )
    return Stability(names[found.leader], found.n_held, found.n_views, views)


def _strata(found: Strata[int], names: Sequence[str]) -> Strata[str]:
    return Strata(found.by, names[found.leader], names[found.rival], found.parts, found.needed, found.needed_by_share)


# ---------------------------------------------------------------- provenance


def _provenance(
    store: Store, run: Mapping[str, Any], work: Sequence[Node], todo: Mapping[Ref, Sequence[str]], started: datetime
) -> Provenance:
    refs = {node.ref for node in work}  # equal strategies under two labels are one node
    made, whole = Counter(map(stage_of, refs & set(todo))), Counter(map(stage_of, refs))
    ended = datetime.now(UTC)
    return Provenance(
        versions={name: version_of(name) for name in sorted(_VERSIONS)},
        seed=run["settings"]["eval"]["seed"],
        corpus_digest=run["corpus"].split("/")[1],
        questions_digest=run["questions"].split("/")[1],
        config=run["settings"],
        models=tuple(_models(run)),
        run=RunEntry(
            started=started.isoformat(timespec="seconds"),
            wall_seconds=round((ended - started).total_seconds(), 3),
            stages={
                stage: StageReuse(whole[stage] - made[stage], made[stage]) for stage in all_stages() if whole[stage]
            },
            made=tuple(_made(store, work, todo)),
        ),
    )


def _made(store: Store, work: Sequence[Node], todo: Mapping[Ref, Sequence[str]]) -> Iterator[MadeEntry]:
    """Every result that was made, in the order of the stages."""
    efforts = noted(store, todo)
    for node in work_once(each for each in work if each.ref in todo):
        effort = efforts.get(node.ref)
        n_new = new_items(effort) if effort else None
        n_reused = sum(effort.items.values()) - n_new if effort and n_new is not None else None
        seconds = effort.seconds if effort else None
        yield MadeEntry(node.stage, node.label, tuple(todo[node.ref]), seconds, n_new, n_reused)


def _models(run: Mapping[str, Any]) -> Iterator[ModelEntry]:
    cards = [{**run["model"]["model"], **run["model"]["model_place"]}] if run["model"] else []
    for arguments in (each["arguments"] for each in run["strategies"]):
        cards += [{**arguments["strategy"]["model"], **arguments["model_place"]}] if arguments["model_place"] else []
    for card in {card["digest"]: card for card in reversed(cards)}.values():
        backend = "plug-in" if is_plugin(card["name"]) else f"{LIBRARIES[0]} {version_of(LIBRARIES[0])}"
        yield ModelEntry(card["name"], card["digest"], card["max_length"], backend)
