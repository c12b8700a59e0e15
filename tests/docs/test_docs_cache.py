"""docs/cache.md: a change runs again the stages that the page names, and no others; its plan and commands are real."""

import re
import shlex
from pathlib import Path

import pytest
from pages import ROOT, block, read, tables
from worlds import World

from chunklab_core.cache.store import Store
from chunklab_core.graph import nodes
from chunklab_core.pipeline import evaluate
from chunklab_core.stages.prepare import prepare
from flows import cli
from tests.flows.test_change_table import ALL, SELECT, TABLE

PAGE = ROOT / "docs" / "cache.md"
OF_INPUTS, OF_CODE, *_ = tables(read(PAGE))
CHANGES = {row[0].replace("`", ""): row[1] for row in (*OF_INPUTS[1:], *OF_CODE[1:])}
RETRIEVER = "retrieval.compare, one more"
IN_TABLE = {
    "a strategy's parameter": ["a parameter of a chunker"],
    "a new strategy": ["a strategy more"],
    "a document": ["a document edited"],
    "a query": ["a question edited"],
    "a tag": ["tags edited"],
    "a gold snippet": ["gold edited"],
    "the reader of a file format in the folder": ["a reader"],
    "the keyword index": ["a function of the keyword index"],
    "rank fusion": ["a function of fusion"],
    "gold matching": ["a function of gold matching"],
    "the verdict": ["a function of the verdict"],
    "the encoder of a model": ["the encoder"],
    "the reader of another file format, another chunker": ["a reader of another format", "another chunker"],
    "storage, reading of settings, reports, plans, messages": [
        *("a function of the store", "the reader of settings", "a function of the report", "a message"),
    ],
    "comments, docstrings": ["a comment in the code", "a docstring in the code"],
}
"""The rows of the change table for a line of the page, if they have other names."""


def nodes_named(text: str, names: set[str], strategy: str) -> set[str]:
    """The nodes that a line of the page names: stages, each group with an optional "(only these)"."""
    if text == "none":
        return set()
    if text.startswith("everything except "):
        return names - nodes_named(text.removeprefix("everything except "), names, strategy)
    found = set()
    for part in text.split(";"):
        stages, _, only = part.strip().rstrip(")").partition(" (")
        for name in names:
            stage, _, label = name.partition(" ")
            own, _, retriever = label.partition("/")
            fits = (
                not only or only == label or {only, own} == {"that strategy", strategy} or retriever in only.split(", ")
            )
            if stage in stages.split(", ") and fits:
                found.add(name)
    return found


@pytest.mark.parametrize("change", [change for change in CHANGES if change != RETRIEVER])
def test_a_change_runs_again_what_the_page_names(change: str) -> None:
    strategy = "structure" if change == "a new strategy" else "semantic"
    for row in IN_TABLE.get(change, [change]):
        made = TABLE[row][1]
        assert nodes_named(CHANGES[change], ALL | made, strategy) == made


def test_one_more_retriever_runs_what_the_page_names(tmp_path: Path) -> None:
    world, store = World(tmp_path).write(), Store(tmp_path / "cache")

    def refs(*compare: str) -> dict[str, str]:
        config = {"retrieval": {"compare": list(compare)}, "embedding": {"model": world.stub}}
        graph = nodes(store, prepare(world.docs, tmp_path / "questions.yaml", config, store))
        return {f"{node.stage} {node.label}": node.ref for node in graph}

    before, after = refs("dense"), refs("dense", "bm25")
    again = {name for name, ref in after.items() if ref not in before.values()}

    text = CHANGES[RETRIEVER].replace("that retriever", "bm25")
    assert again == nodes_named(text, set(after), "")
    assert again > SELECT


def without_times(plan: str) -> str:
    """A plan without the date and the times, which differ from run to run."""
    return re.sub(
        r"; (about [\d.]+|under 1) (s|min)(?= in all|\.?$)|the run of .* UTC", "", plan, flags=re.MULTILINE
    ).strip()


def test_the_plan_is_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ROOT / "examples" / "first_run"
    before = {"retrieval": {"mode": "bm25"}, "strategies": [{"name": "structure"}, {"name": "fixed"}]}
    evaluate(example / "docs", example / "questions.yaml", before, cache=tmp_path)
    monkeypatch.chdir(ROOT)
    command = shlex.split(block(PAGE, "python -m flows.evaluate --docs"))

    assert command[:3] == ["python", "-m", "flows.evaluate"]
    assert cli.run([*command[3:], "--cache-dir", str(tmp_path)]) == 0
    assert without_times(capsys.readouterr().out) == without_times(block(PAGE, "9 of 18 results to run"))


def test_the_commands_of_the_page_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = re.findall(r"`chunklab (cache [^`]*)`", PAGE.read_text(encoding="utf-8"))
    assert {line.split()[1] for line in commands} == {"info", "verify", "prune", "clear"}
    for line in commands:
        with pytest.raises(SystemExit) as ended:
            cli.console_script([*line.split(), "--cache-dir", str(tmp_path)])
        assert ended.value.code == 0, line
    assert capsys.readouterr().err == ""
