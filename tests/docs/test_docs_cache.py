"""docs/cache.md: a change runs again the stages that the page names, and no others."""

import copy
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pages import ROOT, block, read, tables

from chunklab_core.cache.store import Store
from chunklab_core.graph import nodes
from chunklab_core.pipeline import evaluate
from chunklab_core.stages import all_stages
from chunklab_core.stages.prepare import prepare
from chunklab_core.stages.stage import Node
from flows import cli

PAGE = ROOT / "docs" / "cache.md"
TOLD = {row[0].strip("`"): row[1] for row in tables(read(PAGE))[0][1:]}

CONFIG: dict[str, Any] = {
    "retrieval": {"compare": ["dense", "bm25", "hybrid"]},
    "strategies": [{"name": "fixed", "params": {"chunk_size": 64, "overlap": 0}}, {"name": "recursive"}],
}
QUESTIONS = [
    {"id": "a", "query": "when", "gold_snippets": ["On Monday."]},
    {"id": "b", "query": "who", "gold_snippets": ["The crew."]},
]
OWN_MODEL = """\
class Model:
    def __call__(self, texts):
        raise AssertionError("nothing is embedded here")
"""

Change = Callable[[dict[str, Any], list[dict[str, Any]], Path], None]


def setting(section: str, key: str, value: object) -> Change:
    def change(config: dict[str, Any], questions: list[dict[str, Any]], folder: Path) -> None:
        config.setdefault(section, {})[key] = value

    return change


def in_strategies(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    return lambda config, questions, folder: change(config["strategies"]) and None


def edited_document(config: dict[str, Any], questions: list[dict[str, Any]], folder: Path) -> None:
    (folder / "docs" / "one.md").write_text("On Tuesday.", encoding="utf-8")


def own_model(config: dict[str, Any], questions: list[dict[str, Any]], folder: Path) -> None:
    (folder / "model.py").write_text(OWN_MODEL, encoding="utf-8")
    config["embedding"] = {"model": f"{folder / 'model.py'}:Model"}


CHANGES: dict[str, Change] = {
    "nothing": lambda config, questions, folder: None,
    "a label": in_strategies(lambda listed: listed[0].update(label="other")),
    "output.dir": setting("output", "dir", "elsewhere"),
    "a strategy's parameter": in_strategies(lambda listed: listed[0]["params"].update(chunk_size=65)),
    "a strategy more": in_strategies(lambda listed: listed.append({"name": "structure"})),
    "a document": edited_document,
    "a query": lambda config, questions, folder: questions[0].update(query="which day"),
    "a tag": lambda config, questions, folder: questions[0].update(tags=["dates"]),
    "a gold snippet": lambda config, questions, folder: questions[0].update(gold_snippets=["Monday"]),
    "embedding.model": own_model,
    "embedding.query_prompt": setting("embedding", "query_prompt", "query: "),
    "retrieval.compare": setting("retrieval", "compare", ["dense", "bm25"]),
    "retrieval.top_k": setting("retrieval", "top_k", 3),
    "retrieval.candidates": setting("retrieval", "candidates", 50),
    "retrieval.rrf_k": setting("retrieval", "rrf_k", 10),
    "retrieval.bm25.k1": setting("retrieval", "bm25", {"k1": 1.5}),
    "eval.fuzzy_threshold": setting("eval", "fuzzy_threshold", 0.8),
    "eval.balanced_lambda": setting("eval", "balanced_lambda", 0.1),
    "eval.min_floor_tokens": setting("eval", "min_floor_tokens", 10),
}


def work_of(folder: Path, change: Change | None, config: dict[str, Any]) -> list[Node]:
    """The nodes of a run over two documents and two questions; none of them is run."""
    config, questions = copy.deepcopy(config), copy.deepcopy(QUESTIONS)
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "one.md").write_text("On Monday.", encoding="utf-8")
    (folder / "docs" / "two.md").write_text("The crew.", encoding="utf-8")
    if change:
        change(config, questions, folder)
    file = folder / "questions.yaml"
    file.write_text(yaml.safe_dump({"questions": questions}), encoding="utf-8")
    store = Store(folder / "cache")
    return nodes(store, prepare(folder / "docs", file, config, store))


def expected(told: str, labels: set[str]) -> set[tuple[str, str]]:
    """Stage and label of the nodes that a line of the table names: "stages of these; stages of those"."""
    found = set()
    for part in told.split(";"):
        stages = set(re.findall("|".join(all_stages()), part))
        retrievers = set(re.findall(r"\b(?:dense|bm25|hybrid)\b", part))
        for label in labels:
            for stage in stages:
                if "of the questions" in part and stage == "embed" and label != "questions":
                    continue
                if retrievers and "/" in label and label.partition("/")[2] not in retrievers:
                    continue
                found.add((stage, label))
    return found


def test_every_line_of_the_table_is_tried() -> None:
    assert list(TOLD) == list(CHANGES)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_runs_again_what_the_page_says(change: str, tmp_path: Path) -> None:
    before = copy.deepcopy(CONFIG)
    if change == "retrieval.compare":
        before["retrieval"]["compare"] = ["dense"]
    first = work_of(tmp_path, None, before)
    second = work_of(tmp_path, CHANGES[change], before)
    kept = {one.ref for one in first}
    again = {(one.stage, one.label) for one in second if one.ref not in kept}

    told = TOLD[change]
    whole = {(one.stage, one.label) for one in second}
    if told == "none":
        assert again == set()
    elif told.startswith("all"):
        assert again == whole - {("embed", "questions")}
    elif told.startswith("of that strategy"):
        strategy = "fixed" if change == "a strategy's parameter" else "structure"
        of_strategy = {pair for pair in whole if pair[1].partition("/")[0] == strategy}
        assert again == of_strategy | {("select", "all cells"), ("survey", "all cells")}
        assert {stage for stage, _ in again} == set(re.findall("|".join(all_stages()), told))
    elif told.startswith("index, retrieve and score of the new retriever"):
        of_retriever = {pair for pair in whole if pair[1].endswith("/bm25")}
        assert again == of_retriever | {("select", "all cells"), ("survey", "all cells")}
    else:
        assert again == expected(told, {label for _, label in whole}) & whole


def without_times(plan: str) -> str:
    """A plan less what differs from run to run: the date, and how long things take."""
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
