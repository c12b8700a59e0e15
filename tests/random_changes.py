"""A small world that changes at random, and runs over it, in this process or in a process that may be killed.

The embedder and the chunker are the user's files, so they can be edited like everything else. All files have the same
time stamp, and edits keep the length if possible: only the content shows a change.
"""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from chunklab_core import pipeline
from chunklab_core.records.report import Report
from chunklab_core.report.json import report_to_json

FULL = os.environ.get("CHUNKLAB_SOAK") == "1"
RETRIEVERS = ("dense", "bm25", "hybrid")
_STAMP = 1_700_000_000  # of every file, whatever its content

EMBEDDER = '''\
"""Hashed words. Every batch is recorded before its vectors come back, with the process id."""

import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np

WEIGHT, SECONDS = 1.0, 0.0


class Stub:
    def __call__(self, texts):
        line = json.dumps([os.getpid(), time.monotonic(), list(texts)]) + "\\n"
        with open(Path(__file__).with_name("seen.jsonl"), "ab", buffering=0) as seen:  # in one piece
            seen.write(line.encode())
        time.sleep(SECONDS)
        return np.array([vector(text) for text in texts], dtype=np.float32)


class Second(Stub):
    pass


def vector(text):
    row = np.full(16, 0.01)
    for word in text.lower().split():
        row[hashlib.sha256(word.encode()).digest()[0] % 16] += WEIGHT
    return row / np.linalg.norm(row)
'''

CHUNKER = '''\
"""Every so many lines are a chunk."""

import re

from chunklab_core.records import Span

LINES = 2


class Lines:
    def __init__(self, times=1):
        self.size = LINES * times

    def __call__(self, document):
        lines = [match.span() for match in re.finditer(r"[^\\n]*\\S[^\\n]*", document.text)]
        parts = [lines[at : at + self.size] for at in range(0, len(lines), self.size)]
        return [Span(part[0][0], part[-1][1]) for part in parts]
'''

_THINGS = ("pump", "valve", "boiler", "crane", "ferry", "kiln", "lathe", "press")
_PLACES = ("north quay", "old mill", "dry dock", "upper yard", "glass hall")


def sentence(number: int) -> str:
    """A sentence of its own for every number."""
    thing, place = _THINGS[number % len(_THINGS)], _PLACES[number % len(_PLACES)]
    return f"The {thing} at the {place} was checked {number} times in May."


def question(number: int, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "query": f"How often was the {_THINGS[number % len(_THINGS)]} checked, {number}?",
        "gold_snippets": [sentence(number)],
    }


def document(numbers: list[int]) -> str:
    """Sentences in short paragraphs under a few headings."""
    lines = []
    for at, number in enumerate(numbers):
        if at % 4 == 0:
            lines.append(f"# Part {at // 4}\n")
        lines.append(sentence(number) + "\n" * (1 + at % 2))
    return "\n".join(lines)


@dataclass
class State:
    """Everything that shapes a run."""

    documents: dict[str, str]
    questions: list[dict[str, Any]]
    settings: dict[str, Any]
    sources: dict[str, str] = field(default_factory=lambda: {"stub.py": EMBEDDER, "lines.py": CHUNKER})


def small_state() -> State:
    documents = {f"{name}.md": document(list(range(at, at + 6))) for at, name in ((0, "a"), (4, "b"), (20, "c"))}
    settings: dict[str, Any] = {
        "embedding": {"model": "stub.py:Stub"},
        "retrieval": {"compare": list(RETRIEVERS), "top_k": [2], "candidates": 10, "bm25": {}},
        "eval": {"ranking_metric": "recall_at_k", "bootstrap_resamples": 100},
        "strategies": [
            {"name": "fixed", "params": {"chunk_size": 24, "overlap": 4}, "label": "s0"},
            {"name": "semantic", "params": {"max_tokens": 40, "min_tokens": 5, "model": "stub.py:Stub"}, "label": "s1"},
            {"name": "lines.py:Lines", "label": "s2"},
        ],
    }
    return State(documents, [question(at, f"q{at}") for at in (1, 3, 7, 21, 24)], settings)


def large_state(seconds: float) -> State:
    """Several hundred texts, and a model that takes `seconds` for each batch."""
    state = small_state()
    state.settings["retrieval"]["compare"] = ["dense", "bm25"]
    state.documents = {f"{at:02}.md": document(list(range(80 * at, 80 * at + 80))) for at in range(4)}
    state.questions = [question(at, f"q{at}") for at in range(5, 320, 80)]
    state.sources["stub.py"] = EMBEDDER.replace("SECONDS = 1.0, 0.0", f"SECONDS = 1.0, {seconds}")
    return state


class World:
    """A state in a folder, with its own cache."""

    def __init__(self, folder: Path, state: State) -> None:
        self.folder, self.state = folder, state
        self.cache = folder / "cache"

    def write(self) -> None:
        """Writes the state to the folder and removes documents that are not in it."""
        docs = self.folder / "docs"
        docs.mkdir(parents=True, exist_ok=True)
        for path in docs.iterdir():
            if path.name not in self.state.documents:
                path.unlink()
        files = {f"docs/{name}": text for name, text in self.state.documents.items()} | self.state.sources
        files["questions.yaml"] = json.dumps({"questions": self.state.questions})
        files["config.yaml"] = json.dumps(self.state.settings)
        for name, text in files.items():
            path = self.folder / name
            path.write_text(text, encoding="utf-8")
            os.utime(path, (_STAMP, _STAMP))

    def figures(self, cache: Path | None = None) -> str:
        """The figures of a run in this process, by default with the world's cache."""
        return figures(
            pipeline.evaluate(
                self.folder / "docs",
                self.folder / "questions.yaml",
                self.folder / "config.yaml",
                cache=cache or self.cache,
            )
        )

    def seen(self) -> list[tuple[int, list[str]]]:
        """The batches that reached the model, in order, each with its process."""
        path = self.folder / "seen.jsonl"
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [(process, texts) for process, _, texts in map(json.loads, lines)]

    def forget_seen(self) -> None:
        (self.folder / "seen.jsonl").unlink(missing_ok=True)


def figures(report: Report | str) -> str:
    """The text of a report without `provenance.run`, which may differ between two runs of the same inputs."""
    found = json.loads(report if isinstance(report, str) else report_to_json(report))
    del found["provenance"]["run"]
    return json.dumps(found)


def repeated(batches: list[tuple[int, list[str]]]) -> Counter[str]:
    """How many times too often each text reached the model, without texts that reached it once."""
    counts = Counter(text for _, texts in batches for text in texts)
    return Counter({text: count - 1 for text, count in counts.items() if count > 1})


# ---------------------------------------------------------------- processes

# Children are forked from a server that has loaded everything a run needs, so a child starts in milliseconds.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["random_changes", "tests.soak.preloaded"])


def start(world: World, out: Path, settings: dict[str, Any] | None = None) -> BaseProcess:
    """Starts a process with one run over a written world. The process writes the figures to a file."""
    process = _processes.Process(target=_run_to_file, args=(str(world.folder), settings, str(out)))
    with pytest.MonkeyPatch.context() as patch:  # the server finds its modules by this path alone
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *map(str, sys.path)]))
        process.start()
    return process


def _run_to_file(folder: str, settings: dict[str, Any] | None, out: str) -> None:
    place = Path(folder)
    config = place / "config.yaml"
    if settings is not None:
        config = place / f"{Path(out).stem}.yaml"
        config.write_text(json.dumps(settings), encoding="utf-8")
    report = pipeline.evaluate(place / "docs", place / "questions.yaml", config, cache=place / "cache")
    Path(out).write_text(figures(report), encoding="utf-8")


# ---------------------------------------------------------------- changes

Change = Callable[[State, random.Random], None]


def _edited_document(state: State, dice: random.Random) -> None:
    name = dice.choice(sorted(state.documents))
    old, new = dice.sample(_THINGS, 2)
    state.documents[name] = state.documents[name].replace(old, new)


def _added_document(state: State, dice: random.Random) -> None:
    start = dice.randrange(40)
    state.documents[f"new{dice.randrange(100)}.{dice.choice(['md', 'txt'])}"] = document(list(range(start, start + 5)))


def _copied_document(state: State, dice: random.Random) -> None:
    state.documents[f"copy{dice.randrange(100)}.md"] = dice.choice(list(state.documents.values()))


def _removed_document(state: State, dice: random.Random) -> None:
    if len(state.documents) > 1:
        del state.documents[dice.choice(sorted(state.documents))]
        for each in state.questions:
            each.pop("documents", None)


def _renamed_document(state: State, dice: random.Random) -> None:
    name = dice.choice(sorted(state.documents))
    new = f"{dice.choice('aexyz')}{dice.randrange(100)}.{dice.choice(['md', 'txt'])}"
    state.documents[new] = state.documents.pop(name)
    for each in state.questions:
        each.pop("documents", None)


def _swapped_documents(state: State, dice: random.Random) -> None:
    """Two files change names: the folder holds the same contents and the same names."""
    if len(state.documents) > 1:
        one, other = dice.sample(sorted(state.documents), 2)
        state.documents[one], state.documents[other] = state.documents[other], state.documents[one]


def _emptied_document(state: State, dice: random.Random) -> None:
    if len(state.documents) > 1:
        state.documents[dice.choice(sorted(state.documents))] = " \n"


def _added_question(state: State, dice: random.Random) -> None:
    name = f"new{dice.randrange(1000)}"
    if name not in {each["id"] for each in state.questions}:
        state.questions.insert(dice.randrange(len(state.questions) + 1), question(dice.randrange(40), name))


def _removed_question(state: State, dice: random.Random) -> None:
    if sum(bool(each["gold_snippets"]) for each in state.questions) > 1:
        with_gold = [at for at, each in enumerate(state.questions) if each["gold_snippets"]]
        del state.questions[dice.choice(with_gold)]


def _edited_query(state: State, dice: random.Random) -> None:
    dice.choice(state.questions)["query"] = f"Where is the {dice.choice(_THINGS)}, {dice.choice(_PLACES)}?"


def _edited_gold(state: State, dice: random.Random) -> None:
    one, more = sentence(dice.randrange(40)), sentence(dice.randrange(40))
    dice.choice(state.questions)["gold_snippets"] = dice.choice([[one], [one, more], [[one, more]]])


def _gold_without_effect(state: State, dice: random.Random) -> None:
    dice.choice(state.questions)["gold_snippets"] = ["Nowhere to be found."]


def _bound_question(state: State, dice: random.Random) -> None:
    dice.choice(state.questions)["documents"] = [dice.choice(sorted(state.documents))]


def _edited_tags(state: State, dice: random.Random) -> None:
    dice.choice(state.questions)["tags"] = [dice.choice(["easy", "hard"])]


def _renamed_question(state: State, dice: random.Random) -> None:
    dice.choice(state.questions)["id"] = f"id{dice.random()}"


def _shuffled_questions(state: State, dice: random.Random) -> None:
    dice.shuffle(state.questions)


def _edited_embedder(state: State, dice: random.Random) -> None:
    state.sources["stub.py"] = EMBEDDER.replace("WEIGHT, SECONDS = 1.0", f"WEIGHT, SECONDS = {dice.choice([2.0, 0.5])}")


def _edited_chunker(state: State, dice: random.Random) -> None:
    state.sources["lines.py"] = CHUNKER.replace("LINES = 2", f"LINES = {dice.choice([1, 3])}")


def _edited_strategy(state: State, dice: random.Random) -> None:
    one = dice.choice(state.settings["strategies"])
    one["params"] = {
        "fixed": {"chunk_size": dice.choice([12, 24, 30]), "overlap": dice.choice([0, 4])},
        "semantic": {
            "max_tokens": dice.choice([30, 40]),
            "min_tokens": dice.choice([0, 5]),
            "breakpoint_percentile": dice.choice([80, 95]),
            "model": dice.choice(["stub.py:Stub", "stub.py:Second"]),
        },
        "structure": {"max_tokens": dice.choice([30, 60]), "heading_path": dice.choice([True, False])},
        "lines.py:Lines": {"times": dice.choice([1, 2])},
    }[one["name"]]


def _added_strategy(state: State, dice: random.Random) -> None:
    name = dice.choice(["fixed", "structure", "lines.py:Lines"])
    state.settings["strategies"].append({"name": name, "params": {}, "label": f"s{dice.random()}"})
    _edited_strategy(state, dice)


def _removed_strategy(state: State, dice: random.Random) -> None:
    if len(state.settings["strategies"]) > 1:
        del state.settings["strategies"][dice.randrange(len(state.settings["strategies"]))]


def _relabelled_strategy(state: State, dice: random.Random) -> None:
    dice.choice(state.settings["strategies"])["label"] = f"l{dice.random()}"


def _shuffled_strategies(state: State, dice: random.Random) -> None:
    dice.shuffle(state.settings["strategies"])


def _setting(section: str, key: str, *values: Any) -> Change:
    def change(state: State, dice: random.Random) -> None:
        place = state.settings
        for part in section.split("."):
            place = place.setdefault(part, {})
        place[key] = copy.deepcopy(dice.choice(values))

    return change


CHANGES: dict[str, Change] = {
    "document edited": _edited_document,
    "document added": _added_document,
    "document copied": _copied_document,
    "document removed": _removed_document,
    "document renamed": _renamed_document,
    "documents swapped": _swapped_documents,
    "document emptied": _emptied_document,
    "question added": _added_question,
    "question removed": _removed_question,
    "query edited": _edited_query,
    "gold edited": _edited_gold,
    "gold found nowhere": _gold_without_effect,
    "question bound to a document": _bound_question,
    "tags edited": _edited_tags,
    "question renamed": _renamed_question,
    "questions in another order": _shuffled_questions,
    "embedder edited": _edited_embedder,
    "chunker edited": _edited_chunker,
    "strategy edited": _edited_strategy,
    "strategy added": _added_strategy,
    "strategy removed": _removed_strategy,
    "strategy relabelled": _relabelled_strategy,
    "strategies in another order": _shuffled_strategies,
    "another model": _setting("embedding", "model", "stub.py:Stub", "stub.py:Second"),
    "query prompt": _setting("embedding", "query_prompt", "query: ", "", "q "),
    "passage prompt": _setting("embedding", "passage_prompt", "passage: ", "", "p "),
    "retrievers": _setting("retrieval", "compare", ["bm25"], ["dense"], ["hybrid"], ["hybrid", "bm25", "dense"]),
    "top_k": _setting("retrieval", "top_k", [1], [2], [3, 1], [5, 2]),
    "candidates": _setting("retrieval", "candidates", 5, 7, 10),
    "rrf_k": _setting("retrieval", "rrf_k", 1, 60),
    "k1": _setting("retrieval.bm25", "k1", 0.0, 1.2, 2.0),
    "b": _setting("retrieval.bm25", "b", 0.0, 0.75),
    "fuzzy_threshold": _setting("eval", "fuzzy_threshold", 0.8, 0.9, 1.0),
    "ranking_metric": _setting("eval", "ranking_metric", "balanced", "recall_at_k", "mrr"),
    "balanced_lambda": _setting("eval", "balanced_lambda", 0.0, 0.05),
    "min_floor_tokens": _setting("eval", "min_floor_tokens", 0, 30),
    "seed": _setting("eval", "seed", 0, 1),
    "bootstrap_resamples": _setting("eval", "bootstrap_resamples", 100, 200),
}


def sequence(dice: random.Random, length: int) -> Iterator[tuple[str, State]]:
    """States one after the other, each a few changes after the last or, now and then, an earlier one again."""
    past = [small_state()]
    yield "the beginning", past[0]
    for _ in range(length):
        if len(past) > 1 and dice.random() < 0.2:
            at = dice.randrange(len(past) - 1)
            past.append(copy.deepcopy(past[at]))
            yield f"back to state {at}", past[-1]
            continue
        names = dice.sample(sorted(CHANGES), dice.choice([1, 1, 2, 3]))
        state = copy.deepcopy(past[-1])
        for name in names:
            CHANGES[name](state, dice)
        past.append(state)
        yield ", ".join(names), state
