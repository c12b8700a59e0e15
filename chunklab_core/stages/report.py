"""Gathers what the stages made into one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.keys import version_of
from chunklab_core.cache.protocol import Ref, stage_of
from chunklab_core.cache.runs import new_items, noted
from chunklab_core.cache.store import Store
from chunklab_core.chunk.health import NO_MODEL
from chunklab_core.errors import note_text
from chunklab_core.graph import work_once
from chunklab_core.models.sentence_transformer import LIBRARIES
from chunklab_core.plugins import is_plugin
from chunklab_core.records.chunks import Health
from chunklab_core.records.documents import Note, Span
from chunklab_core.records.report import (
    Cell,
    CellAtK,
    CellQuestion,
    CellShares,
    CellVerdict,
    ChunkEntry,
    DocumentEntry,
    MadeEntry,
    ModelEntry,
    Provenance,
    Report,
    Retrieved,
    RunEntry,
    SkippedFile,
    StageReuse,
    Warning,
)
from chunklab_core.records.scores import Ceiling, FuzzyFind, QuestionScore
from chunklab_core.records.survey import Survey
from chunklab_core.records.verdict import Reason
from chunklab_core.report.reasons import sentence
from chunklab_core.score import mean_scores
from chunklab_core.score.places import Slot
from chunklab_core.select.reasons import FEW_QUESTIONS
from chunklab_core.select.stored import survey_from_mapping
from chunklab_core.stages import all_stages
from chunklab_core.stages.cells import cell_name
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.documents import document_entries
from chunklab_core.stages.stage import Node
from chunklab_core.stages.survey_names import in_report, warnings_of_survey

_VERSIONS = ("chunklab-flows", "numpy", "prefect", "sentence-transformers", "tiktoken", "torch")
_NAMED = 8  # in one warning
_TRUNCATED_SHARE = 0.05  # of a strategy's chunks; above it the report warns


def make_report(
    store: Store, inputs: Ref, work: Sequence[Node], todo: Mapping[Ref, Sequence[str]], *, started: datetime
) -> Report:
    """The report of a run whose nodes are all done.

    Args:
        store: holds the results.
        inputs: what `chunklab_core.stages.prepare.prepare` returned.
        work: the nodes of the run.
        todo: those of their references that had to be made, each with the reasons.
        started: when the run began; time zone aware.
    """
    run = unpack_json(store.read(inputs))
    found = _Results(store, run, work)
    cells = found.cells()
    health = tuple(found.health(one) for one in work if one.stage == "health")
    documents = tuple(
        DocumentEntry(
            each["id"],
            each["digest"],
            each["characters"],
            each["tokens"],
            tuple(note_text(Note(**note)) for note in each["warnings"]),
        )
        for each in found.documents
    )
    unread = [*run["skipped"], *found.unreadable]
    skipped = tuple(SkippedFile(each["path"], note_text(Note(**each["note"]))) for each in unread)
    n_scored = len(cells[0].per_question)
    verdict = found.verdict(cells)
    survey = found.survey(cells)
    top_k = run["settings"]["retrieval"]["top_k"][0]
    return Report(
        provenance=_provenance(store, run, work, todo, started),
        documents=documents,
        skipped=tuple(sorted(skipped, key=lambda file: file.path)),
        top_k=top_k,
        ranking_metric=run["settings"]["eval"]["ranking_metric"],
        n_questions=n_scored + len(run["unscored"]),
        unscored=tuple(run["unscored"]),
        cells=cells,
        health=health,
        verdict=verdict,
        survey=survey,
        warnings=(
            *warnings_of_survey(survey, [row.score.question_id for row in cells[0].per_question]),
            *_warnings(documents, skipped, run["unscored"], cells, health, top_k, found.nowhere()),
        ),
        chunks=tuple((one.label, found.chunks(one.label)) for one in work if one.stage == "chunk"),
    )


class _Results:
    """The results of a run, read where they are asked for."""

    def __init__(self, store: Store, run: Mapping[str, Any], work: Sequence[Node]) -> None:
        self._store, self._run = store, run
        self._refs = {(one.stage, one.label): one.ref for one in work}
        self._tables = {one.label: ChunkTable(store, one.ref) for one in work if one.stage == "chunk"}
        self._select = next(self._read(one.ref) for one in work if one.stage == "select")
        self._parsed = self._refs["parse", "documents"]
        self.documents = document_entries(store, self._parsed)
        self.unreadable: list[dict[str, Any]] = self._read(self._parsed)["skipped"]

    def cells(self) -> tuple[Cell, ...]:
        """All cells: by the ranking metric, best first, those that are ruled out after those in play.

        Under `balanced`, cells in play are priced among themselves, so that a tiny, bad cell cannot reorder them.
        """
        made = [self._cell(index, strategy, retriever) for index, (strategy, retriever) in enumerate(self._pairs())]
        ruled_out = set(self._select["verdict"]["ruled_out"])
        metric = self._run["settings"]["eval"]["ranking_metric"]

        def place(index: int) -> tuple[bool, float, int]:
            cell = made[index]
            price = cell.balanced if index in ruled_out else cell.balanced_in_play
            value = price if metric == "balanced" else cell.metrics[metric]
            return index in ruled_out, -value if value is not None else float("inf"), index

        return tuple(made[index] for index in sorted(range(len(made)), key=place))

    def verdict(self, cells: Sequence[Cell]) -> CellVerdict:
        """The verdict in the names of the cells."""
        names = [cell_name(strategy["label"], retriever) for strategy, retriever in self._pairs()]
        said = self._select["verdict"]

        def named(shares: Sequence[float]) -> CellShares:
            by_name = dict(zip(names, shares, strict=True))
            return tuple((cell.cell, by_name[cell.cell]) for cell in cells)

        return CellVerdict(
            status=said["status"],
            leader=names[said["leader"]],
            p_best=named(said["p_best"]),
            in_play=tuple(names[index] for index in said["in_play"]),
            ruled_out=tuple(names[index] for index in said["ruled_out"]),
            questions_needed=said["questions_needed"],
            reasons=tuple(sentence(Reason(**reason), names) for reason in said["reasons"]),
            reason_codes=tuple(reason["code"] for reason in said["reasons"]),
            at_bar=said["at_bar"],
            p_best_shrunk=named(said["p_best_shrunk"]),
            p_best_by_document=named(said["p_best_by_document"]) if said["p_best_by_document"] else None,
            p_best_balanced=named(said["p_best_balanced"]) if said["p_best_balanced"] else None,
            leader_share=said["leader_share"],
            leader_recall_shrunk=said["leader_recall_shrunk"],
            cheapest_in_play=names[said["cheapest_in_play"]],
            cheapest_difference=said["cheapest_difference"],
            cheapest_ci95=tuple(said["cheapest_ci95"]),
            speaks_of=said["speaks_of"],
        )

    def survey(self, cells: Sequence[Cell]) -> Survey:
        """What stands around the verdict, for the cells as they are ordered and in the names of their axes."""
        found = survey_from_mapping(
            next(self._read(ref) for (stage, _), ref in self._refs.items() if stage == "survey")
        )
        ranked = [cell.cell for cell in cells]
        places = [ranked.index(cell_name(strategy["label"], retriever)) for strategy, retriever in self._pairs()]
        labels = [strategy["label"] for strategy in self._run["strategies"]]
        models = [self._run["model"]["model_place"]["name"]] if self._run["model"] else []
        return in_report(found, places, strategy=labels, retriever=self._run["retrievers"], model=models)

    def chunks(self, label: str) -> tuple[ChunkEntry, ...]:
        """Where the chunks of a strategy lie."""
        table = self._tables[label]
        return tuple(
            ChunkEntry(table.chunk_id(row), table.doc_ids[document], Span(start, end), n_tokens)
            for row, (document, start, end, n_tokens) in enumerate(table.table.tolist())
        )

    def health(self, one: Node) -> Health:
        """The health that a node found, under the names of its strategy and its model."""
        stored = self._read(one.ref)
        name = (
            {self._run["model"]["model"]["digest"]: self._run["model"]["model_place"]["name"]}
            if self._run["model"]
            else {}
        )
        shares = {name.get(model, model): share for model, share in stored["pct_oversized"].items()}
        return Health(**{**stored, "strategy": one.label, "pct_oversized": shares})

    def nowhere(self) -> set[Slot]:
        """The slots whose gold is in no document."""
        return {(question, slot) for question, slot in self._select["nowhere"]}

    def _pairs(self) -> Iterator[tuple[Mapping[str, Any], str]]:
        return ((strategy, retriever) for strategy in self._run["strategies"] for retriever in self._run["retrievers"])

    def _cell(self, index: int, strategy: Mapping[str, Any], retriever: str) -> Cell:
        label, name = strategy["label"], cell_name(strategy["label"], retriever)
        scored = self._read(self._refs["score", name])
        table = self._tables[label]
        ceilings = self._read(self._refs["ceiling", label])["by_k"]
        sweep = [_cell_at_k(at, each["ceiling"]) for at, each in zip(scored["by_k"], ceilings, strict=True)]
        judged = [_question_score(each) for each in scored["by_k"][0]["questions"]]
        lost = {each["question_id"]: tuple(each["parts"]) for each in scored["by_k"][0]["loss"]["questions"]}
        wilson = self._select["ci95_wilson"][index]
        return Cell(
            cell=name,
            strategy=label,
            params=tuple(sorted(strategy["shown"].items())),
            retriever=retriever,
            model=None if retriever == "bm25" else self._run["model"]["model_place"]["name"],
            reranker=None,
            **{each.name: getattr(sweep[0], each.name) for each in fields(CellAtK)},
            balanced=self._select["balanced"][index],
            balanced_in_play=self._select["balanced_in_play"][index],
            ci95=tuple(self._select["ci95"][index]),
            ci95_wilson=tuple(wilson) if wilson else None,
            by_k=tuple(sweep[1:]),
            per_question=tuple(
                CellQuestion(score, lost.get(score.question_id, (None,) * len(score.found)), _retrieved(table, rows))
                for score, rows in zip(judged, scored["retrieved"], strict=True)
            ),
        )

    def _read(self, ref: Ref) -> Any:
        return unpack_json(self._store.read(ref))


def _cell_at_k(scored: Mapping[str, Any], ceiling: Mapping[str, float]) -> CellAtK:
    means = mean_scores([_question_score(each) for each in scored["questions"]])
    loss = tuple((part, share) for part, share in scored["loss"]["shares"])
    return CellAtK(scored["k"], means, ceiling=Ceiling(**ceiling), loss=loss)


def _question_score(stored: Mapping[str, Any]) -> QuestionScore:
    fuzzy = tuple(FuzzyFind(**find) for find in stored["fuzzy"])
    return QuestionScore(**{**stored, "found": tuple(stored["found"]), "fuzzy": fuzzy})


def _retrieved(table: ChunkTable, rows: Sequence[tuple[int, float]]) -> tuple[Retrieved, ...]:
    return tuple(Retrieved(table.chunk_id(row), rank, score) for rank, (row, score) in enumerate(rows, start=1))


def _provenance(
    store: Store, run: Mapping[str, Any], work: Sequence[Node], todo: Mapping[Ref, Sequence[str]], started: datetime
) -> Provenance:
    refs = {one.ref for one in work}  # equal strategies under two labels are one node
    made, whole = Counter(map(stage_of, refs & set(todo))), Counter(map(stage_of, refs))
    ended = datetime.now(UTC)
    return Provenance(
        versions=tuple((name, version_of(name)) for name in _VERSIONS),
        seed=run["settings"]["eval"]["seed"],
        corpus_digest=run["corpus"].split("/")[1],
        questions_digest=run["questions"].split("/")[1],
        config=run["settings"],
        models=tuple(_models(run)),
        run=RunEntry(
            started=started.isoformat(timespec="seconds"),
            wall_seconds=round((ended - started).total_seconds(), 3),
            stages=tuple(
                StageReuse(stage, whole[stage] - made[stage], made[stage]) for stage in all_stages() if whole[stage]
            ),
            made=tuple(_made(store, work, todo)),
        ),
    )


def _made(store: Store, work: Sequence[Node], todo: Mapping[Ref, Sequence[str]]) -> Iterator[MadeEntry]:
    """Every result that was made, in the order of the stages."""
    efforts = noted(store, todo)
    for one in work_once(each for each in work if each.ref in todo):
        effort = efforts.get(one.ref)
        n_new, n_items = (new_items(effort), sum(effort.items.values())) if effort else (None, 0)
        taken_over = None if n_new is None else n_items - n_new
        seconds = effort.seconds if effort else None
        yield MadeEntry(one.stage, one.label, tuple(todo[one.ref]), seconds, n_new, taken_over)


def _models(run: Mapping[str, Any]) -> Iterator[ModelEntry]:
    cards = [{**run["model"]["model"], **run["model"]["model_place"]}] if run["model"] else []
    for arguments in (each["arguments"] for each in run["strategies"]):
        cards += [{**arguments["strategy"]["model"], **arguments["model_place"]}] if arguments["model_place"] else []
    for card in {card["digest"]: card for card in reversed(cards)}.values():
        backend = "plug-in" if is_plugin(card["name"]) else f"{LIBRARIES[0]} {version_of(LIBRARIES[0])}"
        yield ModelEntry(card["name"], card["digest"], card["max_length"], backend)


# ---------------------------------------------------------------- warnings


def _warnings(
    documents: Sequence[DocumentEntry],
    skipped: Sequence[SkippedFile],
    unscored: Sequence[str],
    cells: Sequence[Cell],
    health: Sequence[Health],
    top_k: int,
    nowhere: Collection[Slot],
) -> Iterator[Warning]:
    yield from _warnings_of_questions(cells, nowhere)
    for each in health:
        yield from _warnings_of_strategy(each, top_k, sum(document.characters > 0 for document in documents))
    yield from _warnings_of_size(health)
    if unscored:
        yield Warning(
            "unscored_questions", "warning", f"Without gold, and so not scored: {_some(unscored, 'question')}."
        )
    if skipped:
        named = [f"{file.path} {file.reason}" for file in skipped]
        yield Warning("skipped_files", "warning", f"Not read: {_some(named, 'file')}.")
    for document in documents:
        for message in document.warnings:
            yield Warning("document", "warning", f"{document.doc_id} {message}.", document.doc_id)


def _some(names: Sequence[str], thing: str) -> str:
    """How many, and the first of them by name; the report lists them all in a place of their own."""
    shown = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} {thing}{'' if len(names) == 1 else 's'}: {shown}{more}"


def _warnings_of_questions(cells: Sequence[Cell], nowhere: Collection[Slot]) -> Iterator[Warning]:
    n_scored = len(cells[0].per_question)
    if n_scored < FEW_QUESTIONS:
        yield Warning(
            "few_questions",
            "warning",
            f"Only {n_scored} scored question{'' if n_scored == 1 else 's'}; below {FEW_QUESTIONS} no winner is named, "
            "and every figure is coarse.",
        )
    if all(cell.recall_at_k == 1.0 for cell in cells):
        yield Warning(
            "all_found",
            "warning",
            "Every cell finds every answer, so the questions cannot tell them apart. Ask harder ones, or lower k.",
        )
    yield from _warnings_of_misses(cells, nowhere)
    fuzzy = {
        (each.score.question_id, find.slot, find.expected)
        for cell in cells
        for each in cell.per_question
        for find in each.score.fuzzy
    }
    if fuzzy:
        yield Warning(
            "fuzzy_finds",
            "info",
            f"{len(fuzzy)} answers were found with other wording in places; the report lists the words that differ.",
        )


def _warnings_of_misses(cells: Sequence[Cell], nowhere: Collection[Slot]) -> Iterator[Warning]:
    """Answers that no cell finds: those that stand in no document, as they were typed, and hard ones."""
    absent, hard = dict[str, None](), dict[str, None]()
    for at, rows in enumerate(zip(*(cell.per_question for cell in cells), strict=True)):
        for slot, found in enumerate(zip(*(row.score.found for row in rows), strict=True)):
            if not any(found):
                (absent if (at, slot) in nowhere else hard)[rows[0].score.question_id] = None
    if absent:
        yield Warning(
            "gold_not_in_documents",
            "warning",
            f"An answer stands in no document as it was typed: {_some(list(absent), 'question')}. Copy it from the "
            "document, or check that its file was read.",
        )
    if hard:
        yield Warning(
            "found_by_no_cell",
            "warning",
            f"An answer stands in the documents and no cell finds it: {_some(list(hard), 'question')}.",
        )


def _warnings_of_size(health: Sequence[Health]) -> Iterator[Warning]:
    for model in dict.fromkeys(model for each in health for model in each.pct_oversized):
        shares = {each.strategy: each.pct_oversized.get(model) or 0.0 for each in health}
        large = [f"{strategy} {share:.0%}" for strategy, share in shares.items() if share > _TRUNCATED_SHARE]
        if large and model == NO_MODEL:
            yield Warning("oversized", "warning", f"Chunks above their declared maximum: {', '.join(large)}.")
        elif large:
            yield Warning(
                "oversized",
                "warning",
                f"Chunks above their declared maximum, or longer than {model} reads, so that dense search does not see "
                f"their end: {', '.join(large)}.",
            )


def _warnings_of_strategy(health: Health, top_k: int, n_documents: int) -> Iterator[Warning]:
    where = health.strategy
    if health.n_chunks == 0:
        yield Warning("no_chunks", "error", f"{where} makes no chunk of any document.", where)
    elif health.n_chunks <= top_k:
        yield Warning(
            "k_covers_all",
            "warning",
            f"{where} makes {health.n_chunks} chunks and {top_k} are retrieved, so nothing is left out.",
            where,
        )
    elif health.n_chunks == n_documents > 1:
        yield Warning("one_chunk_a_document", "info", f"{where} makes one chunk of each document.", where)
    if health.path_shortened:
        yield Warning(
            "path_shortened",
            "info",
            f"{health.path_shortened} chunks of {where} bear a shortened heading path, to stay within their maximum.",
            where,
        )
    if health.lost_characters:
        yield Warning(
            "lost_characters", "warning", f"{where} leaves out {health.lost_characters} characters of the text.", where
        )
