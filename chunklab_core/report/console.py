"""The report as one screen of text.

Why: after a run you want the verdict and its evidence without opening a file. Names, questions and messages come from
other people's documents: they are shown as data, and no control sequence in them reaches the terminal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from chunklab_core.records.health import Health
from chunklab_core.records.report import Cell, CellVerdict, MadeEntry, Report
from chunklab_core.report.console_survey import survey_lines
from chunklab_core.report.losses import lines_of_loss
from chunklab_core.report.words import count

_PIPED_WIDTH = 100
_GAP = 2
_WARNINGS_SHOWN = 3
_NOT_OF_THE_SCREEN = ("small_parts",)  # about figures that it does not show
_MISSING = "-"

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b.?", re.DOTALL
)
_BLANKS = re.compile(r"[\s\u2028\u2029]+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SEVERITIES = ("error", "warning", "info")
_STYLES = {"error": "bold red", "warning": "yellow", "info": ""}


def render(report: Report, where: Path | None = None, console: Console | None = None) -> str:
    """The screen as text, without a newline at its end: coloured and fitted for a terminal, plain where it is piped.

    Args:
        report: what was found.
        where: the path of report.json, if it was written.
        console: the output; by default standard output.
    """
    shown = console or _standard_output()
    with shown.capture() as capture:
        shown.print(Group(*_parts(report, where, shown.width)))
    return "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n"))


def as_data(text: object) -> str:
    """One line of text that no terminal obeys: without control sequences, bidi marks and line breaks."""
    return _CONTROL.sub("", _BLANKS.sub(" ", _SEQUENCE.sub("", str(text)))).strip()


def _standard_output() -> Console:
    console = Console(highlight=False)
    piped = not console.is_terminal and "COLUMNS" not in os.environ
    return Console(highlight=False, width=_PIPED_WIDTH) if piped else console


def _parts(report: Report, where: Path | None, width: int) -> Iterator[RenderableType]:
    yield _headline(report)
    yield _cells(report, width)
    yield Text()
    yield _health(report.health, width)
    yield Text()
    yield from _verdict(report)
    yield from (Text(as_data(line)) for line in lines_of_loss(report))
    yield from (Text(as_data(line)) for line in survey_lines(report))
    yield from _warnings(report)
    yield _reuse(report)
    if where is not None:
        yield Text(f"Report: {as_data(where)}")


def _headline(report: Report) -> Text:
    unscored = len(report.questions.skipped)
    parts = [
        count(len(report.cells), "cell"),
        count(report.questions.scored, "scored question") + (f" ({unscored} without gold)" if unscored else ""),
        count(len(report.documents), "document") + (f" ({len(report.skipped)} skipped)" if report.skipped else ""),
        f"ranked by {report.ranking_metric} at k = {report.k}",
    ]
    return Text(", ".join(parts), style="bold")


# ---------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of figures, one a row. A narrow screen drops the highest `rank` first."""

    title: str
    rank: int
    figures: tuple[str, ...]

    @property
    def width(self) -> int:
        return max(map(len, (self.title, *self.figures)))


def _cells(report: Report, width: int) -> Table:
    """The cells as ranked; a line of its own precedes those that are ruled out."""
    cells, out = report.cells, set(report.verdict.ruled_out)
    n_in_play = sum(cell.cell not in out for cell in cells)
    names = [as_data(cell.cell) for cell in cells]
    styles = ["dim" if cell.cell in out else "bold" if cell.cell == report.verdict.leader else "" for cell in cells]
    heading = f"ruled out ({len(cells) - n_in_play}):" if n_in_play < len(cells) else None
    return _table("cell", names, _cell_columns(report), width, styles, (n_in_play, heading))


def _cell_columns(report: Report) -> list[_Column]:
    cells, k, p_best = report.cells, report.k, report.verdict.p_best

    def column(title: str, rank: int, figure: Callable[[Cell], str]) -> _Column:
        return _Column(title, rank, tuple(map(figure, cells)))

    return [
        column(f"recall@{k}", 0, lambda cell: _share(cell.recall_at_k)),
        column("95% CI", 3, lambda cell: _interval(cell.ci95)),
        column("hit", 5, lambda cell: _share(cell.metrics["hit_rate_at_k"])),
        column("MRR", 4, lambda cell: _share(cell.metrics["mrr"])),
        column("prec", 6, lambda cell: _share(cell.metrics["precision_at_k"])),
        column("tokens", 2, lambda cell: f"{cell.retrieved_tokens_at_k:,.0f}"),
        column("effic", 7, lambda cell: _share(cell.metrics["context_efficiency"])),
        column("balanced", 2, lambda cell: _share(_balanced(cell))),
        column("P(best)", 1, lambda cell: _share(p_best.get(cell.cell))),
    ]


def _balanced(cell: Cell) -> float | None:
    """The figure that ranks the cell: priced among the cells in play, or among all where it is ruled out."""
    return cell.balanced if cell.balanced_in_play is None else cell.balanced_in_play


def _health(entries: Sequence[Health], width: int) -> Table:
    def column(title: str, rank: int, figure: Callable[[Health], str]) -> _Column:
        return _Column(title, rank, tuple(map(figure, entries)))

    lost = any(entry.lost_characters for entry in entries)
    columns = [
        column("chunks", 0, lambda entry: f"{entry.n_chunks:,}"),
        column(
            "median tokens", 1, lambda entry: _MISSING if entry.median_tokens is None else f"{entry.median_tokens:,.0f}"
        ),
        column("tiny", 2, lambda entry: _share(entry.pct_tiny)),
        column(
            "oversized", 3, lambda entry: " / ".join(_share(share) for _, share in sorted(entry.pct_oversized.items()))
        ),
        column("boundary", 4, lambda entry: _share(entry.boundary)),
        column("tables intact", 5, lambda entry: _share(entry.tables_intact)),
        column("lost characters", 1 if lost else 6, lambda entry: f"{entry.lost_characters:,}"),
    ]
    return _table("strategy", [as_data(entry.strategy) for entry in entries], columns, width)


def _table(
    title: str,
    names: Sequence[str],
    columns: Sequence[_Column],
    width: int,
    styles: Sequence[str] = (),
    heading: tuple[int, str | None] = (0, None),
) -> Table:
    """Names and figures; `heading` is a line of its own before the row of that index."""
    shown = _fitting(columns, max(map(cell_len, (title, *names))), width)
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    table.add_column(title, overflow="fold")
    for column in shown:
        table.add_column(column.title, justify="right", no_wrap=True)
    for index, name in enumerate(names):
        if heading[1] is not None and index == heading[0]:
            table.add_row(Text(heading[1]), style="dim")
        figures = (Text(column.figures[index]) for column in shown)
        table.add_row(Text(name), *figures, style=styles[index] if styles else "")
    return table


def _fitting(columns: Sequence[_Column], name_width: int, width: int) -> list[_Column]:
    """The columns that fit; a long name is folded before an important column is dropped."""
    shown = list(columns)
    while len(shown) > 1 and name_width + sum(column.width + _GAP for column in shown) > width:
        last = max(shown, key=lambda column: column.rank)
        if last.rank <= 1:
            break
        shown.remove(last)
    return shown


# ---------------------------------------------------------------- sentences


def _verdict(report: Report) -> Iterator[Text]:
    verdict = report.verdict
    yield Text(_status(verdict), style="bold")
    yield from (Text(as_data(reason)) for reason in verdict.reasons)
    if len(verdict.in_play) > 1 and verdict.cheapest_in_play is not None:
        yield Text(_cheapest(report))


def _status(verdict: CellVerdict) -> str:
    leader = as_data(verdict.leader)
    return {
        "winner": f"Winner: {leader}.",
        "leans": f"Leans towards {leader}, but it is not named the winner.",
        "undecided": f"Undecided: {leader} leads, but not by enough to be named the winner.",
        "tied": f"Tied: the cells do not differ on any question; {leader} is the cheapest of them.",
        "only": f"Only one cell: {leader}. There is nothing to compare it with.",
    }[verdict.status]


def _cheapest(report: Report) -> str:
    """The cheapest cell in play, and what it may cost in recall."""
    verdict = report.verdict
    cell = next(cell for cell in report.cells if cell.cell == verdict.cheapest_in_play)
    sentence = f"Cheapest cell not ruled out: {as_data(cell.cell)}, {cell.retrieved_tokens_at_k:,.0f} tokens a question"
    if cell.cell == verdict.leader or verdict.cheapest_difference is None or verdict.cheapest_ci95 is None:
        return f"{sentence}."
    low, high = verdict.cheapest_ci95
    difference = (
        f"recall {verdict.cheapest_difference:+.3f} compared with the leader (95 % CI {low:+.3f} to {high:+.3f})"
    )
    return f"{sentence}; {difference}."


def _warnings(report: Report) -> Iterator[Text]:
    ordered = sorted(report.warnings, key=lambda warning: _SEVERITIES.index(warning.severity))
    shown = [warning for warning in ordered if warning.code not in _NOT_OF_THE_SCREEN][:_WARNINGS_SHOWN]
    for warning in shown:
        yield Text(f"{warning.severity.capitalize()}: {as_data(warning.message)}", style=_STYLES[warning.severity])
    if len(ordered) > len(shown):
        yield Text(f"and {count(len(ordered) - len(shown), 'more warning')} in report.json.")


def _reuse(report: Report) -> Text:
    run = report.provenance.run
    stages = ", ".join(f"{as_data(name)} {each.reused}/{each.reused + each.run}" for name, each in run.stages.items())
    reused, made = sum(each.reused for each in run.stages.values()), sum(each.run for each in run.stages.values())
    seconds = f"{run.wall_seconds:,.1f} s, not counting the start of Prefect"
    inside = "".join(_reused_inside(run.made))
    return Text(f"Reused {reused} of {reused + made} stage results: {stages}; {seconds}.{inside}")


def _reused_inside(made: Sequence[MadeEntry]) -> Iterator[str]:
    """By stage, the items that its new results reused: after an interrupted run, the items which that run finished."""
    for stage in dict.fromkeys(entry.stage for entry in made):
        entries = [entry for entry in made if entry.stage == stage]
        reused = sum(entry.taken_over or 0 for entry in entries)
        if reused:
            total = reused + sum(entry.new or 0 for entry in entries)
            yield f" Within {as_data(stage)}: {reused:,} of {total:,} items reused."


def _share(share: float | None) -> str:
    return _MISSING if share is None else f"{share:.3f}"


def _interval(bounds: Iterable[float]) -> str:
    return "-".join(f"{bound:.2f}".removeprefix("0") for bound in bounds)
