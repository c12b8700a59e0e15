import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from chunklab_core.records.report import MadeEntry, Report, Warning
from chunklab_core.report.console import as_data, render


def screen(report: Report, width: int = 100, terminal: bool = False) -> str:
    colours = "standard" if terminal else None
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=colours)
    return render(report, Path("out/report.json"), console)


def test_fifteen_cells_fit_one_screen(full_report: Report) -> None:
    lines = screen(full_report).splitlines()

    assert len(lines) <= 42
    assert max(map(len, lines)) <= 100
    assert "effic" in lines[1]


def test_every_cell_shows_all_its_figures(report: Report) -> None:
    text = screen(report)
    row = next(line for line in text.splitlines() if line.startswith("fixed/bm25"))

    assert row.split() == [
        "fixed/bm25",
        "0.500",
        ".00-1.00",
        "1.000",
        "1.000",
        "0.500",
        "300",
        "0.100",
        "0.400",  # balanced_in_play
        "0.375",
    ]


def test_cells_that_are_ruled_out_come_last_under_a_heading(report: Report) -> None:
    lines = screen(report).splitlines()
    at = lines.index("ruled out (1):")

    assert lines[at + 1].startswith("structure/bm25")
    assert lines[at - 1].startswith("fixed/bm25")


def test_the_verdict_begins_with_its_status_and_gives_its_reasons(report: Report) -> None:
    text = screen(report)

    assert "\nUndecided: fixed/dense leads, but not by enough to be named the winner." in text
    assert "Only 2 questions are scored." in text
    assert (
        "Cheapest cell not ruled out: fixed/bm25, 300 tokens a question; recall -0.500 compared with the leader "
        "(95 % CI -1.000 to +0.250)."
    ) in " ".join(text.split())
    assert "Warning: Fewer than 15 questions are scored." in text
    assert "Reused 40 of 40 stage results: parse 5/5, chunk 5/5" in text
    assert "items reused" not in text


def test_items_that_new_results_reused_are_summed_by_stage(report: Report) -> None:
    made = (
        MadeEntry("parse", "documents", ("a",), 1.0, 2, 0),
        MadeEntry("embed", "fixed", ("a",), 1.0, 200, 1200),
        MadeEntry("embed", "structure", ("a",), 1.0, 14, 16),
        MadeEntry("select", "all cells", ("a",), 1.0, None, None),
    )
    run = replace(report.provenance.run, made=made)
    text = " ".join(screen(replace(report, provenance=replace(report.provenance, run=run))).split())

    assert "Prefect. Within embed: 1,216 of 1,430 items reused." in text
    assert text.count("items reused") == 1
    assert text.endswith("Report: out/report.json")


@pytest.mark.parametrize(
    ("status", "begins"),
    [
        ("winner", "Winner: "),
        ("leans", "Leans towards "),
        ("undecided", "Undecided: "),
        ("tied", "Tied: "),
        ("only", "Only one cell: "),
    ],
)
def test_every_status_has_its_sentence(report: Report, status: str, begins: str) -> None:
    verdict = replace(report.verdict, status=status)

    assert f"\n{begins}" in screen(replace(report, verdict=verdict))


def test_one_cell_alone_has_no_rivals_to_list(report: Report) -> None:
    verdict = replace(report.verdict, status="only", in_play=("fixed/dense",), ruled_out=(), reasons=())

    text = screen(replace(report, cells=report.cells[:1], verdict=verdict))

    assert "in play" not in text
    assert "ruled out" not in text


def test_a_narrow_terminal_keeps_names_recall_and_chance(full_report: Report) -> None:
    lines = screen(full_report, width=44).splitlines()
    row = next(line for line in lines if line.startswith("recursive/hybrid"))

    assert max(map(cell_len, lines)) <= 44
    assert "0.500" in row
    assert "0.200" in row


@pytest.mark.parametrize("width", [20, 30, 60, 80, 99, 101, 200])
def test_no_line_is_wider_than_the_screen(full_report: Report, width: int) -> None:
    assert max(map(cell_len, screen(full_report, width).splitlines())) <= width


def test_what_is_piped_is_plain_and_a_terminal_gets_colours(report: Report) -> None:
    assert "\x1b" not in screen(report)
    assert "\x1b[" in screen(report, terminal=True)


def test_text_from_others_is_shown_and_never_obeyed(report: Report) -> None:
    evil = "[red]fees[/red] :smile: \x1b]0;title\x07\x1b[2J\x9b31m\u202e[link=x]y"
    cells = (replace(report.cells[0], cell=evil), *report.cells[1:])
    verdict = replace(
        report.verdict,
        leader=evil,
        in_play=(evil, "fixed/bm25"),
        cheapest_in_play=evil,
        p_best={evil: 1.0},
        reasons=(f"{evil}\nsecond line",),
    )
    warning = Warning("w", "warning", evil, evil)

    stability = replace(report.stability, leader=evil)
    text = screen(replace(report, cells=cells, verdict=verdict, stability=stability, warnings=(warning,)), width=300)

    assert text.count("[red]fees[/red] :smile: [link=x]y") == 6
    assert not set(text) & set("\x1b\x9b\x07\u202e")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("a\nb\tc", "a b c"), ("\x1b[31mred\x1b[0m", "red"), ("x\x00y\x7f", "xy"), ("規程 é", "規程 é"), ("\udcff", "")],
)
def test_data_is_one_line_without_control_characters(typed: str, shown: str) -> None:
    assert as_data(typed) == shown


def test_more_warnings_than_fit_are_counted_the_worst_first(full_report: Report) -> None:
    worst = Warning("x", "error", "Read me first.")
    text = screen(replace(full_report, warnings=(*full_report.warnings, worst)))

    assert "Error: Read me first." in text
    assert "and 3 more warnings in report.json." in text


def test_a_warning_on_figures_that_the_screen_does_not_show_is_only_counted(report: Report) -> None:
    text = screen(replace(report, warnings=(Warning("small_parts", "info", "Many parts.", "by_tag"),)))

    assert "Many parts." not in text
    assert "and 1 more warning in report.json." in text
