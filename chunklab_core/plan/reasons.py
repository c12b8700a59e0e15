"""Why a result has to be made: the difference to an earlier run, as codes with arguments.

Everything that can change a key is part of the comparison, so nothing changes without a reason.
`chunklab_core.plan.sentences` has the words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import Ref, stage_of
from chunklab_core.plan.comparison import Comparison, Explained, differences
from chunklab_core.stages import all_stages

Code = Literal[
    "first_run",  # no earlier run to compare with
    "new",  # the earlier run had no such node
    "lost",  # the store has lost the result
    "refresh",
    "no_cache",
    "unfinished",  # how the earlier run ended (None: still running), its start
    "value",  # name of a parameter or a library, before, now
    "plugin",  # name of its file
    "model",  # name before, now
    "model_files",  # name
    "code",  # stage
    "follows",  # a result it reads was made again: stage, label (or the number of such results)
    "added",  # it reads one result more: as above
    "removed",  # it reads one result less: as above
    "order",  # of the results of this stage
    "input",  # kind of input; how it changed is no longer known
    "things_edited",  # thing, names
    "things_added",  # thing, names
    "things_removed",  # thing, names
    "thing_renamed",  # thing, old name, new name
    "field_edited",  # field of a question, ids
    "file_names",
    "question_order",
]

_FEW = 3  # results that are named; more are counted by stage
_FIELDS = {"queries": ("query",), "gold": ("slots", "documents"), "tags": ("tags",)}  # of a question, by kind of input


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why a result has to be made; `Code` lists the arguments of each code."""

    code: Code
    arguments: tuple[Any, ...] = ()


Reasons = tuple[Reason, ...]
_ResultName = tuple[str, str]  # stage and label; for an input, its kind and ""


def reasons_of(comparison: Comparison, missing: Collection[Ref], refresh: Collection[str] = ()) -> dict[Ref, Reasons]:
    """The reasons for each result in `missing`, in the order of the work."""
    reasons: dict[Ref, Reasons] = {}
    for node in comparison.now["nodes"]:
        if node["ref"] in missing and node["ref"] not in reasons:
            refreshed = node["stage"] in refresh
            reasons[node["ref"]] = (Reason("refresh"),) if refreshed else _reasons(comparison, node)
    return reasons


def _reasons(comparison: Comparison, node: Explained) -> Reasons:
    if comparison.earlier is None:
        return (Reason("first_run"),)
    old = comparison.counterpart(node)
    if old is None:
        return (Reason("new"),)
    if old["ref"] == node["ref"]:
        finished = comparison.earlier.how == "done"
        arguments = (comparison.earlier.how, comparison.earlier.started)
        return (Reason("lost") if finished else Reason("unfinished", arguments),)
    inputs, results = _of_inputs(comparison, node, old)
    found = [*_of_parameters(comparison, node, old), *inputs, *_of_code(node, old), *results]
    return tuple(reason for index, reason in enumerate(found) if reason not in found[:index]) or (Reason("lost"),)


# ---------------------------------------------------------------- parameters, code and libraries


def _of_parameters(comparison: Comparison, node: Explained, old: Explained) -> Iterator[Reason]:
    for path, before, now in differences(node["parameters"], old["parameters"]):
        name = path[-1]
        if name == "cells" or (name == "pdf" and None in (before, now)):
            continue  # the scores, or the documents, that were added, removed or moved show it
        if "model" in path and name != "prompt":
            yield from _of_model(comparison, node, old)
        elif name == "plugin":
            yield Reason("plugin", (PurePath(str(node["beside"]["target"]).rpartition(":")[0]).name,))
        elif name == "prompt" and "texts" in node["inputs"]:
            is_query = stage_of(node["inputs"]["texts"]) == "queries"
            yield Reason("value", ("query_prompt" if is_query else "passage_prompt", before, now))
        else:
            yield Reason("value", (name, before, now))


def _of_model(comparison: Comparison, node: Explained, old: Explained) -> Iterator[Reason]:
    """A model's digest covers its files and its libraries; the name and the versions tell which of them changed."""
    now, before = (each["beside"].get("model_place", {}).get("name") for each in (node, old))
    versions = list(_of_versions(comparison.now["backend"], comparison.before["backend"]))
    if now != before:
        yield Reason("model", (before, now))
    else:
        yield from versions or [Reason("model_files", (now,))]


def _of_code(node: Explained, old: Explained) -> Iterator[Reason]:
    """Edited code. Another reader or chunker is other code, too, but the documents or the parameters show it."""
    if node["code"] != old["code"] and node["chosen"] == old["chosen"]:
        yield Reason("code", (node["stage"],))
    yield from _of_versions(node["libraries"], old["libraries"])


def _of_versions(now: Mapping[str, str], before: Mapping[str, str]) -> Iterator[Reason]:
    """The libraries that both runs used, in other versions."""
    return (
        Reason("value", (name, before[name], now[name])) for name in now if before.get(name, now[name]) != now[name]
    )


# ---------------------------------------------------------------- inputs


def _of_inputs(comparison: Comparison, node: Explained, old: Explained) -> tuple[list[Reason], list[Reason]]:
    """The changes in what the user gave, and those in the results of other nodes."""
    inputs: list[Reason] = []
    results: list[Reason] = []
    for name in node["inputs"]:
        now, before = _refs(node["inputs"][name]), _refs(old["inputs"].get(name, []))
        if sorted(now) == sorted(before) and now != before:
            inputs.append(Reason("order", (stage_of(now[0]),)))
        new = dict.fromkeys(_name(comparison.now, ref) for ref in now if ref not in before)
        gone = dict.fromkeys(_name(comparison.before, ref) for ref in before if ref not in now)
        for kind in [kind for kind, _ in new if kind not in all_stages()]:
            inputs += _of_input(comparison, kind)
        results += _of_results(
            comparison, *([name for name in names if name[0] in all_stages()] for names in (new, gone))
        )
    return inputs, results


def _refs(value: Any) -> list[Ref]:
    return [Ref(value)] if isinstance(value, str) else [Ref(ref) for ref in value]


def _name(run: Mapping[str, Any], ref: Ref) -> _ResultName:
    return next(((node["stage"], node["label"]) for node in run["nodes"] if node["ref"] == ref), (stage_of(ref), ""))


def _of_results(comparison: Comparison, new: Sequence[_ResultName], gone: Sequence[_ResultName]) -> Iterator[Reason]:
    """The results that were made again, those that the earlier run did not read, and those that only it read."""
    names_before = {name: (name[0], comparison.label_before(name[1])) for name in new}
    yield from _few("follows", [name for name in new if names_before[name] in gone])
    yield from _few("added", [name for name in new if names_before[name] not in gone])
    yield from _few("removed", [name for name in gone if name not in names_before.values()])


def _few(code: Code, names: Sequence[_ResultName]) -> list[Reason]:
    """A reason for each result; where there are many, one for each stage, with their number."""
    if len(names) < _FEW:
        return [Reason(code, name) for name in names]
    return [Reason(code, counted) for counted in Counter(stage for stage, _ in names).items()]


def _of_input(comparison: Comparison, kind: str) -> list[Reason]:
    """What the user changed in the documents (kind `corpus`) or in the questions (`queries`, `gold`, `tags`)."""
    source = "corpus" if kind == "corpus" else "questions"
    try:
        before, now = (
            unpack_json(comparison.store.read(Ref(run[source]))) for run in (comparison.before, comparison.now)
        )
    except KeyError:  # the inputs of the earlier run were removed
        return [Reason("input", (kind,))]
    return document_changes(before, now) if kind == "corpus" else question_changes(before, now, _FIELDS[kind])


def document_changes(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> list[Reason]:
    """The files of a folder that were edited, added, removed or renamed."""
    old, new = ({file["doc_id"]: file["digest"] for file in files} for files in (before, now))
    edited = [name for name in new if name in old and new[name] != old[name]]
    changes = [Reason("things_edited", ("document", edited))] if edited else []
    return changes + _moved("document", old, new) or [Reason("file_names")]


def question_changes(
    before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]], fields: tuple[str, ...]
) -> list[Reason]:
    """The questions that were added, removed or renamed, and those edited in `fields` (`query`, `slots`, ...)."""
    old, new = ({each["question_id"]: each for each in questions} for questions in (before, now))
    contents = (
        {name: [each["query"], each["slots"], each["documents"]] for name, each in questions.items()}
        for questions in (old, new)
    )
    changes = _moved("question", *contents)
    for field in fields:
        edited = [name for name in new if name in old and new[name][field] != old[name][field]]
        changes += [Reason("field_edited", (field, edited))] if edited else []
    return changes or [Reason("question_order")]


def _moved(thing: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Reason]:
    """Things by name that were added and removed; one with the content of a removed one was renamed."""
    removed, added = [name for name in old if name not in new], [name for name in new if name not in old]
    renamed = []
    for name in list(removed):
        twin = next((other for other in added if new[other] == old[name]), None)
        if twin is not None:
            renamed.append(Reason("thing_renamed", (thing, name, twin)))
            removed.remove(name)
            added.remove(twin)
    moved = [Reason("things_added", (thing, added))] if added else []
    moved += [Reason("things_removed", (thing, removed))] if removed else []
    return moved + renamed
