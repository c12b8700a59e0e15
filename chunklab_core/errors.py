"""Errors for the user. Each message states what is wrong, with the value, and then the remedy."""

from __future__ import annotations

from collections.abc import Iterable

_CLOSE = 0.6  # share of letters that agree


class ChunklabError(Exception):
    """Base of all errors that the user sees as one line, without a traceback."""


class ConfigError(ChunklabError):
    """The input cannot be used: a setting, a question file, a folder or a model."""


class CacheRefusedError(ConfigError):
    """The cache folder cannot be written to: it is read-only, or its disk is full."""

    @classmethod
    def of(cls, root: object, error: Exception) -> CacheRefusedError:
        """The error for a folder that refused a write; `error` is the reason."""
        reason = getattr(error, "strerror", None) or error
        return cls(
            f"Cannot write to cache folder {root} ({reason}). Finished results are safe. "
            "Free some space and run again, or name another folder with --cache-dir."
        )


class ContractError(ChunklabError):
    """A plug-in, or a built-in method, broke the rules of its room."""


class UnreadableDocument(ChunklabError):
    """One file cannot be read; the run continues with the others and lists it under `skipped`.

    The message is the reason alone ("needs a password"), because the caller knows the file.
    """


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or the error's type when it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name closest to the one that was typed."""
    return max(sorted(known), key=lambda word: _likeness(name, word))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """How a sentence about an unknown name ends: `; did you mean 'x'?` where a known one is close, else a full stop."""
    close = [word for word in known if _likeness(name, word) >= _CLOSE]
    return f"; did you mean {nearest(name, close)!r}?" if close else "."


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one.lower(), other.lower()).ratio()
