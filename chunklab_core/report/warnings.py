"""What the reader of a report should know before relying on its figures: a code, a severity and a sentence each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from chunklab_core.records.health import NO_MODEL, Health
from chunklab_core.records.report import Cell, DocumentEntry, Report, SkippedFile, Warning
from chunklab_core.report.words import count, some

Slot = tuple[int, int]
"""The position of a question, and of a slot in it."""

_NAMED = 8  # in one warning
_GROUPS_NAMED = 4
_IDS_NAMED = 4  # in one group
_TRUNCATED_SHARE = 0.05  # of a strategy's chunks; the report warns above it


def warnings_of(
    report: Report, *, nowhere: Collection[Slot], small_parts: Mapping[str, str | None], few_questions: int
) -> Iterator[Warning]:
    """All warnings of a report.

    Args:
        report: without its warnings.
        nowhere: the slots whose gold is in no document.
        small_parts: by breakdown, a sentence on parts with few questions; None where all have enough.
        few_questions: below this number of scored questions no winner is named.
    """
    yield from _of_groups(report.question_groups, report.questions.scored)
    for where, warning in small_parts.items():
        if warning:
            yield Warning("small_parts", "info", f"Recall {where.replace('_', ' ')}: {warning}", where)
    yield from _of_questions(report.cells, report.questions.scored, few_questions)
    yield from _of_misses(report.cells, nowhere)
    yield from _of_fuzzy_finds(report.cells)
    n_documents = sum(document.characters > 0 for document in report.documents)
    for health in report.health:
        yield from _of_strategy(health, report.k, n_documents)
    yield from _of_sizes(report.health)
    yield from _of_unscored([question.id for question in report.questions.skipped])
    yield from _of_skipped(report.skipped)
    yield from _of_documents(report.documents)


def _named(names: Sequence[str], thing: str) -> str:
    """How many, and the first names; the report lists all of them elsewhere."""
    return f"{count(len(names), thing)}: {some(names, _NAMED)}"


def _of_groups(groups: Sequence[Sequence[str]], n_questions: int) -> Iterator[Warning]:
    if groups:
        shown = "; ".join(some(group, _IDS_NAMED) for group in groups[:_GROUPS_NAMED])
        more = f"; and {len(groups) - _GROUPS_NAMED} more groups" if len(groups) > _GROUPS_NAMED else ""
        yield Warning(
            "near_duplicate_questions",
            "warning",
            f"{sum(map(len, groups))} of {n_questions} questions are near-duplicates. They form "
            f"{count(len(groups), 'group')}; each group is drawn together and counts once: {shown}{more}.",
        )


def _of_questions(cells: Sequence[Cell], n_scored: int, few_questions: int) -> Iterator[Warning]:
    if n_scored < few_questions:
        yield Warning(
            "few_questions",
            "warning",
            f"Only {count(n_scored, 'scored question')}: with fewer than {few_questions}, the verdict names no "
            "winner, and every figure is imprecise.",
        )
    if all(cell.recall_at_k == 1.0 for cell in cells):
        yield Warning(
            "all_found",
            "warning",
            "Every cell finds every answer, so the questions cannot separate the cells. Write harder questions, or "
            "lower k.",
        )


def _of_misses(cells: Sequence[Cell], nowhere: Collection[Slot]) -> Iterator[Warning]:
    """Answers that no cell finds: those that are in no document as they were typed, and hard ones."""
    absent, hard = dict[str, None](), dict[str, None]()
    for index, rows in enumerate(zip(*(cell.per_question for cell in cells), strict=True)):
        for slot, found in enumerate(zip(*(row.found for row in rows), strict=True)):
            if not any(found):
                (absent if (index, slot) in nowhere else hard)[rows[0].id] = None
    if absent:
        yield Warning(
            "gold_not_in_documents",
            "warning",
            f"Gold that is in no document: {_named(list(absent), 'question')}. Copy the gold from the document, "
            "or check that the file was read.",
        )
    if hard:
        yield Warning(
            "found_by_no_cell",
            "warning",
            f"Gold that is in the documents, but that no cell finds: {_named(list(hard), 'question')}.",
        )


def _of_fuzzy_finds(cells: Sequence[Cell]) -> Iterator[Warning]:
    finds = {
        (question.id, find.slot, find.expected)
        for cell in cells
        for question in cell.per_question
        for find in question.fuzzy
    }
    if finds:
        yield Warning(
            "fuzzy_finds",
            "info",
            f"Found with slightly different wording: {count(len(finds), 'answer')}. report.json has the details.",
        )


def _of_strategy(health: Health, k: int, n_documents: int) -> Iterator[Warning]:
    where = health.strategy
    if health.n_chunks == 0:
        yield Warning("no_chunks", "error", f"{where} makes no chunks.", where)
    elif health.n_chunks <= k:
        message = f"{where} has only {count(health.n_chunks, 'chunk')} and {k} are retrieved, so every chunk is always "
        yield Warning("k_covers_all", "warning", f"{message}returned.", where)
    elif health.n_chunks == n_documents > 1:
        yield Warning("one_chunk_a_document", "info", f"{where} makes one chunk for each document.", where)
    if health.path_shortened:
        message = (
            f"{where} shortens the heading path of {count(health.path_shortened, 'chunk')} to stay within its maximum."
        )
        yield Warning("path_shortened", "info", message, where)
    if health.lost_characters:
        message = f"{where} leaves out {count(health.lost_characters, 'character')} of the text."
        yield Warning("lost_characters", "warning", message, where)


def _of_sizes(entries: Sequence[Health]) -> Iterator[Warning]:
    for model in dict.fromkeys(model for health in entries for model in health.pct_oversized):
        shares = {health.strategy: health.pct_oversized.get(model) or 0.0 for health in entries}
        large = [f"{strategy} {share:.0%}" for strategy, share in shares.items() if share > _TRUNCATED_SHARE]
        truncated = f", or longer than {model} reads, so dense search does not see their ends"
        if large:
            reason = "" if model == NO_MODEL else truncated
            yield Warning(
                "oversized", "warning", f"Chunks above the maximum of their strategy{reason}: {', '.join(large)}."
            )


def _of_unscored(question_ids: Sequence[str]) -> Iterator[Warning]:
    if question_ids:
        message = f"Not scored, because they have no gold: {_named(question_ids, 'question')}."
        yield Warning("unscored_questions", "warning", message)


def _of_skipped(files: Sequence[SkippedFile]) -> Iterator[Warning]:
    if files:
        named = [f"{file.path} ({file.reason})" for file in files]
        yield Warning("skipped_files", "warning", f"Not read: {_named(named, 'file')}.")


def _of_documents(documents: Sequence[DocumentEntry]) -> Iterator[Warning]:
    for document in documents:
        for message in document.warnings:
            yield Warning("document", "warning", f"{document.id} {message}.", document.id)
