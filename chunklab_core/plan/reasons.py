"""Why a result has to be made: what differs from the run before, in the user's words.

A key says that two pieces of work differ and not how. So a run's record holds the parts of which its keys were made,
and the parts of the next run's keys are laid beside them. Whatever can change a key is one of the parts, so nothing
changes without a reason; only the wording looks at what kind of part it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from chunklab_core.cache.formats import pack_json, unpack_json
from chunklab_core.cache.keys import version_of, versions_of
from chunklab_core.cache.protocol import Ref, stage_of
from chunklab_core.cache.run_records import RunRecord
from chunklab_core.cache.runs import records
from chunklab_core.cache.store import Store
from chunklab_core.models.sentence_transformer import LIBRARIES
from chunklab_core.stages import all_stages
from chunklab_core.stages.stage import Node

NEVER = "never run on this cache"
NEW = "new in this run"
LOST = "result missing or damaged"
REFRESHED = "--refresh"

_NAMED = 3  # in one reason
_WORDS = {"depth": "depth of the search", "resamples": "bootstrap_resamples"}
_FIELDS = {"queries": ("query",), "gold": ("slots", "documents"), "tags": ("tags",)}  # of a question, by kind of input
_MISSING = object()

Explained = Mapping[str, Any]
"""One node as a record holds it: stage, label, ref, parameters, inputs, and what stands beside its key."""


def explain(run: Mapping[str, Any], work: Sequence[Node]) -> dict[str, Any]:
    """What shapes the results of a run, in plain JSON types; `run` is what the door kept."""
    nodes = []
    for one in work:
        parts = all_stages()[one.stage].key_parts(one.arguments)
        beside = {name: one.arguments[name] for name in all_stages()[one.stage].unkeyed}
        of_node = {**parts, "libraries": versions_of(parts["libraries"]), "beside": beside}
        nodes.append({"stage": one.stage, "label": one.label, "ref": one.ref, **of_node})
    named = {name: run[name] for name in ("folder", "asked_in", "corpus", "questions")}
    backend = {name: version_of(name) for name in LIBRARIES}
    explained: dict[str, Any] = unpack_json(pack_json({**named, "backend": backend, "nodes": nodes}))
    return explained


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside an earlier one.

    Attributes:
        store: holds the inputs of both, unless those of the earlier run were taken away.
        now, before: what `explain` made of each; `before` is empty where there is no earlier run.
        earlier: the record of the earlier run, if there is one.
        labels: by label of a strategy that bears another one now, the label that it bore.
    """

    store: Store
    now: Mapping[str, Any]
    before: Mapping[str, Any]
    earlier: RunRecord | None
    labels: Mapping[str, str]

    def counterpart(self, node: Explained) -> Explained | None:
        """The node of the earlier run that did the same work."""
        wanted = (node["stage"], self.label_before(node["label"]))
        return next((old for old in self.before.get("nodes", ()) if (old["stage"], old["label"]) == wanted), None)

    def label_before(self, label: str) -> str:
        """What a strategy, or a cell of it, was called in the earlier run."""
        strategy, slash, retriever = label.rpartition("/")
        return self.labels.get(label) or self.labels.get(strategy, strategy) + slash + retriever


def compare(store: Store, now: Mapping[str, Any], but: str = "") -> Comparison:
    """A run beside the most similar earlier one: over the same folder and questions file, else the latest.

    Args:
        store: the cache.
        now: what `explain` made of the run.
        but: the id of the run itself, when it is on record already.
    """
    earlier = _most_similar(now, (one for one in records(store, but) if one.explained))
    before = earlier.explained if earlier else {}
    return Comparison(store, now, before, earlier, _renamed(now, before))


def reasons_of(comparison: Comparison, todo: Collection[Ref], refresh: Collection[str] = ()) -> dict[Ref, list[str]]:
    """Why each node has to run, for all references in `todo`, in the order of the work."""
    found: dict[Ref, list[str]] = {}
    for node in comparison.now["nodes"]:
        if node["ref"] in todo and node["ref"] not in found:
            found[node["ref"]] = [REFRESHED] if node["stage"] in refresh else _why(comparison, node)
    return found


def _why(comparison: Comparison, node: Explained) -> list[str]:
    if comparison.earlier is None:
        return [NEVER]
    old = comparison.counterpart(node)
    if old is None:
        return [NEW]
    if old["ref"] == node["ref"]:
        return [_unfinished(comparison.earlier) or LOST]
    parameters = [*_parameters(comparison, node, old)]
    inputs, follows = _inputs(comparison, node, old)
    said = dict.fromkeys([*parameters, *inputs, *_code(node, old), *follows])
    return list(said) or [LOST]


def _unfinished(earlier: RunRecord) -> str | None:
    if earlier.how == "done":
        return None
    if earlier.how is None:
        return "not yet finished by a run that is going on"
    how = {"failed": "failed", "stopped": "was stopped", "killed": "was killed"}[earlier.how]
    return f"not finished by the run of {earlier.started:%Y-%m-%d %H:%M} UTC, which {how}"


# ---------------------------------------------------------------- which run to compare with


def _most_similar(now: Mapping[str, Any], earlier: Iterator[RunRecord]) -> RunRecord | None:
    latest = same_folder = None
    for record in earlier:
        if record.explained["folder"] == now["folder"]:
            if record.explained["asked_in"] == now["asked_in"]:
                return record
            same_folder = same_folder or record
        latest = latest or record
    return same_folder or latest


def _renamed(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, str]:
    """By new label of a strategy, the label of the one of the same method that it stands closest to."""
    new, old = ({node["label"]: node for node in run.get("nodes", ()) if _is_cut(node)} for run in (now, before))
    free = {label: node for label, node in old.items() if label not in new}
    renamed = {}
    for label, node in new.items():
        alike = {name: one for name, one in free.items() if _method(one) == _method(node)}
        if label not in old and alike:
            renamed[label] = min(
                alike, key=lambda name: len([*_differing(node["parameters"], alike[name]["parameters"])])
            )
            del free[renamed[label]]
    return renamed


def _is_cut(node: Explained) -> bool:
    return isinstance(node["parameters"].get("strategy"), Mapping)


def _method(node: Explained) -> str:
    name: str = node["parameters"]["strategy"]["name"]
    return name


# ---------------------------------------------------------------- parameters, code and libraries


def _parameters(comparison: Comparison, node: Explained, old: Explained) -> Iterator[str]:
    for path, before, now in _differing(node["parameters"], old["parameters"]):
        if path[-1] == "cells":
            continue  # the scores that come, go or stand elsewhere tell it
        if "model" in path and path[-1] != "prompt":
            yield from _model(comparison, node, old)
        elif path[-1] == "plugin":
            yield f"{PurePath(str(node['beside']['target']).rpartition(':')[0]).name} or what it imports edited"
        else:
            yield f"{_word(path[-1], node)} {_shown(before)} -> {_shown(now)}"


def _differing(now: Any, before: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The path of every value that differs, with the value before and the value now."""
    if isinstance(now, Mapping) and isinstance(before, Mapping):
        for name in dict.fromkeys([*now, *before]):
            yield from _differing(now.get(name, _MISSING), before.get(name, _MISSING), (*path, name))
    elif now is _MISSING or before is _MISSING or (type(now), now) != (type(before), before):
        yield path, before, now


def _word(name: str, node: Explained) -> str:
    if name == "prompt" and "texts" in node["inputs"]:
        return "query_prompt" if stage_of(node["inputs"]["texts"]) == "queries" else "passage_prompt"
    return _WORDS.get(name, name)


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "not set"
    if value is None:
        return "none"
    if isinstance(value, str):
        return value if value and value.split() == [value] else repr(value)
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _model(comparison: Comparison, node: Explained, old: Explained) -> Iterator[str]:
    """A model's digest covers its files and its libraries, so what stands beside it tells which of them changed."""
    now, before = (one["beside"].get("model_place", {}).get("name", "none") for one in (node, old))
    versions = _versions(comparison.now["backend"], comparison.before["backend"])
    if now != before:
        yield f"embedding model {before} -> {now}"
    elif versions:
        yield from versions
    else:
        yield f"embedding model {now} replaced"


def _code(node: Explained, old: Explained) -> Iterator[str]:
    if node["code"] != old["code"]:
        yield f"code of {node['stage']} changed"
    yield from _versions(node["libraries"], old["libraries"])


def _versions(now: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    return [f"{path[-1]} {_shown(old)} -> {_shown(new)}" for path, old, new in _differing(now, before)]


# ---------------------------------------------------------------- inputs


def _inputs(comparison: Comparison, node: Explained, old: Explained) -> tuple[list[str], list[str]]:
    """What changed among a node's inputs: the user's own first, then the results that it follows."""
    own: list[str] = []
    follows: list[str] = []
    for name in node["inputs"]:
        now, before = _as_list(node["inputs"][name]), _as_list(old["inputs"].get(name, []))
        if sorted(now) == sorted(before) and now != before:
            own.append(f"order of the {stage_of(now[0])} results changed")
        new = {_name(comparison.now, ref): ref for ref in now if ref not in before}
        gone = {_name(comparison.before, ref): ref for ref in before if ref not in now}
        left = dict(gone)
        made_anew: list[str] = []
        more: list[str] = []
        for named, ref in new.items():
            earlier = left.pop(_name_before(comparison, named), None)
            if stage_of(ref) not in all_stages():
                own += _door(comparison, stage_of(ref))
            else:
                (made_anew if earlier else more).append(named)
        follows += [*_few("follows {}", made_anew), *_few("{} new", more), *_few("{} left out", [*left])]
    return own, follows


def _few(way: str, names: Sequence[str]) -> list[str]:
    """What is said of each result; of many, how many of each stage."""
    if len(names) < _NAMED:
        return [way.format(name) for name in names]
    stages = Counter(name.partition(" ")[0] for name in names)
    return [way.format(f"{n} {stage} results") for stage, n in stages.items()]


def _as_list(refs: Any) -> list[Ref]:
    return [Ref(refs)] if isinstance(refs, str) else [Ref(ref) for ref in refs]


def _name(run: Mapping[str, Any], ref: Ref) -> str:
    """A result as the user knows it: its stage and its label; of an input, what it holds."""
    return next((f"{node['stage']} {node['label']}" for node in run["nodes"] if node["ref"] == ref), stage_of(ref))


def _name_before(comparison: Comparison, name: str) -> str:
    stage, blank, label = name.partition(" ")
    return stage + blank + comparison.label_before(label) if blank else name


def _door(comparison: Comparison, kind: str) -> list[str]:
    """What the user changed in the documents (kind `corpus`) or in the questions (`queries`, `gold`, `tags`)."""
    source = "corpus" if kind == "corpus" else "questions"
    try:
        before, now = (
            unpack_json(comparison.store.read(Ref(run[source]))) for run in (comparison.before, comparison.now)
        )
    except KeyError:  # those of the earlier run are no longer kept
        return ["documents changed" if kind == "corpus" else f"{kind} changed"]
    if kind == "corpus":
        return document_changes(before, now)
    return question_changes(before, now, _FIELDS[kind])


def document_changes(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> list[str]:
    """What happened to the files of a folder: edited, added, removed, renamed."""
    old, new = ({file["doc_id"]: file["digest"] for file in files} for files in (before, now))
    return _said("document", old, new, "{} edited") or ["file names changed"]


def question_changes(
    before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]], fields: tuple[str, ...]
) -> list[str]:
    """What happened to the questions as far as these fields say it: `query`, `slots` and `documents`, or `tags`."""
    old, new = ({each["question_id"]: _content(each) for each in questions} for questions in (before, now))
    said = _said("question", old, new, "")
    for name in fields:
        was, is_now = ({each["question_id"]: each[name] for each in questions} for questions in (before, now))
        edited = [each for each in is_now if each in was and was[each] != is_now[each]]
        if edited:
            said.append(f"{'gold' if name == 'slots' else name} of {_listed('question', edited)} edited")
    return said or ["order of the questions changed"]


def _content(question: Mapping[str, Any]) -> Any:
    return [question["query"], question["slots"], question["documents"]]


def _said(thing: str, old: Mapping[str, Any], new: Mapping[str, Any], edited: str) -> list[str]:
    """Added, removed and renamed things by their names, and those edited where `edited` says how to put it."""
    removed, added = [name for name in old if name not in new], [name for name in new if name not in old]
    said = []
    for name in list(removed):
        twin = next((other for other in added if new[other] == old[name]), None)
        if twin is not None:
            said.append(f"{_listed(thing, [name])} renamed to {twin}")
            removed.remove(name)
            added.remove(twin)
    changed = [name for name in new if name in old and new[name] != old[name]] if edited else []
    ways = ((changed, edited), (added, "{} added"), (removed, "{} removed"))
    return [way.format(_listed(thing, names)) for names, way in ways if names] + said


def _listed(thing: str, names: Sequence[str]) -> str:
    """A few things by name; of many, how many and the first of them. A document's name needs no word before it."""
    if len(names) == 1:
        return names[0] if thing == "document" else f"{thing} {names[0]}"
    more = ", ..." if len(names) > _NAMED else ""
    return f"{len(names)} {thing}s ({', '.join(names[:_NAMED])}{more})"
