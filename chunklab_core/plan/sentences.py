"""The reasons of a plan in words, for the plan, the log of a task and the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from chunklab_core.plan.comparison import MISSING
from chunklab_core.plan.reasons import Code, Reason

_NAMED = 3  # things in one reason
_WORDS = {"depth": "search depth", "resamples": "bootstrap_resamples", "slots": "gold"}
_ENDS = {"failed": "failed", "stopped": "was stopped", "killed": "was killed"}


def sentence(reason: Reason) -> str:
    """A reason in the user's words, without a full stop."""
    return _SENTENCES[reason.code](*reason.arguments)


def _unfinished(how: str | None, started: datetime) -> str:
    if how is None:
        return "another run is still making it"
    return f"the run of {started:%Y-%m-%d %H:%M} UTC {_ENDS[how]} before this was finished"


def _word(name: str) -> str:
    return _WORDS.get(name, name)


def _value(value: Any) -> str:
    if value is MISSING:
        return "not set"
    if value is None:
        return "none"
    if isinstance(value, str):
        return value if value and value.split() == [value] else repr(value)
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _result(stage: str, label: str | int) -> str:
    """One result by its label, or the number of results of a stage."""
    return f"{label} {stage} results" if isinstance(label, int) else f"{stage} {label}"


def _things(thing: str, names: Sequence[str]) -> str:
    """A few things by name; for many, their number and the first of them. A document needs no word before its name."""
    if len(names) == 1:
        return names[0] if thing == "document" else f"{thing} {names[0]}"
    more = ", ..." if len(names) > _NAMED else ""
    return f"{len(names)} {thing}s ({', '.join(names[:_NAMED])}{more})"


_SENTENCES: Mapping[Code, Callable[..., str]] = {
    "first_run": lambda: "first run with this cache",
    "new": lambda: "new in this run",
    "lost": lambda: "result missing or damaged",
    "refresh": lambda: "--refresh",
    "no_cache": lambda: "--no-cache",
    "unfinished": _unfinished,
    "value": lambda name, before, now: f"{_word(name)} {_value(before)} -> {_value(now)}",
    "plugin": lambda file: f"{file} or a module that it imports edited",
    "model": lambda before, now: f"embedding model {before or 'none'} -> {now or 'none'}",
    "model_files": lambda name: f"files of embedding model {name} changed",
    "code": lambda stage: f"code of {stage} changed",
    "follows": lambda stage, label: f"follows {_result(stage, label)}",
    "added": lambda stage, label: f"{_result(stage, label)} added",
    "removed": lambda stage, label: f"{_result(stage, label)} removed",
    "order": lambda stage: f"order of the {stage} results changed",
    "input": lambda kind: f"{'documents' if kind == 'corpus' else kind} changed",
    "things_edited": lambda thing, names: f"{_things(thing, names)} edited",
    "things_added": lambda thing, names: f"{_things(thing, names)} added",
    "things_removed": lambda thing, names: f"{_things(thing, names)} removed",
    "thing_renamed": lambda thing, old, new: f"{_things(thing, [old])} renamed to {new}",
    "field_edited": lambda field, names: f"{_word(field)} of {_things('question', names)} edited",
    "file_names": lambda: "file names changed",
    "question_order": lambda: "order of the questions changed",
}
