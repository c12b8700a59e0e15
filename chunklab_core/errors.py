"""The errors that a person is meant to read, each telling what was found, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Iterable

_CLOSE = 0.6  # of the letters agree


class ChunklabError(Exception):
    """Base of all errors that are shown as one line, without a traceback."""


class ConfigError(ChunklabError):
    """The input cannot be used: a setting, a question file, a folder or a model."""


class CacheRefusedError(ConfigError):
    """The cache folder takes nothing: it is read-only, or its disk is full."""

    @classmethod
    def of(cls, root: object, error: Exception) -> CacheRefusedError:
        """The error for a folder that refused what was to be written; `error` says why."""
        reason = getattr(error, "strerror", None) or error
        return cls(
            f"The cache folder {root} takes nothing more ({reason}); what was finished is kept. "
            "Free some space and run again, or name another folder with --cache-dir."
        )


class ContractError(ChunklabError):
    """A plug-in, or a built-in method, broke the promise of its room."""


class UnreadableDocument(ChunklabError):
    """One file cannot be read; the run goes on with the others and lists it under `skipped`.

    The message is the reason alone ("needs a password"), for the caller knows the file.
    """


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or the error's type when it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like the one that was typed."""
    return max(sorted(known), key=lambda word: _likeness(name, word))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """How a sentence about an unknown name ends: `; did you mean 'x'?` where a known one is close, else a full stop."""
    close = [word for word in known if _likeness(name, word) >= _CLOSE]
    return f"; did you mean {nearest(name, close)!r}?" if close else "."


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one.lower(), other.lower()).ratio()
