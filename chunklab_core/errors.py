"""The errors that a person is meant to read, each telling what was found, what was expected and what to do."""

from __future__ import annotations


class ChunklabError(Exception):
    """Base of all errors that are shown as one line, without a traceback."""


class ConfigError(ChunklabError):
    """The input cannot be used: a setting, a question file, a folder or a model."""


class ContractError(ChunklabError):
    """A plug-in, or a built-in method, broke the promise of its room."""


class UnreadableDocument(ChunklabError):
    """One file cannot be read; the run goes on with the others and lists it under `skipped`.

    The message is the reason alone ("needs a password"), for the caller knows the file.
    """
