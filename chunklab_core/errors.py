"""Errors for the user. Each message states what is wrong, with the value, and then the remedy."""

from __future__ import annotations

from collections.abc import Iterable

from chunklab_core.records.documents import Note

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


# What the reader of a file may remark, by code. With the file's name in front, each is a sentence.
NOTE_TEXTS = {
    "cannot_open": "cannot be opened: {cause}",
    "damaged": "is damaged: {cause}",
    "empty_file": "is empty (0 bytes)",
    "encrypted": "is encrypted; install the package `cryptography` to read it",
    "format_unknown": "has no suffix, so its format is unknown",
    "format_unsupported": "has a format that is not supported ({suffix})",
    "hidden": "is hidden (its name begins with a dot)",
    "link_to_folder": "is a link to a folder; give the folder itself",
    "name_not_utf8": "has a name or a folder whose name is not UTF-8; rename it",
    "needs_password": "needs a password; remove the password, or leave the file out",
    "nested_too_deeply": "is damaged: its parts are nested too deeply",
    "no_reader": "has no reader for {suffix}; known: {known}",
    "no_suffix": "has no reader for a name without suffix; known: {known}",
    "no_text": "has no text",
    "no_text_layer": "has no text layer (pages: {pages}), so no text was read; is it a scan?",
    "not_docx": "is not a DOCX file, or is damaged: {cause}",
    "not_pdf": "is not a PDF (no %PDF mark at its start)",
    "not_regular": "is not a regular file, or is a broken link",
    "not_text": "is not text (it contains zero bytes); expected UTF-8, UTF-16, UTF-32 or Windows-1252",
    "not_utf8": "is not UTF-8; read as Windows-1252",
    "not_zip": "is not a DOCX file (not a zip archive)",
    "nul_characters": "had {count} NUL characters, which are left out",
    "old_doc": "needs a password, or is an old .doc file; save it as .docx without a password",
    "page_unreadable": "has a page that cannot be read ({page}): {cause}",
    "pages_without_text": "has {n_blank} of {pages} pages without text: {blank}",
    "pypdf_remark": "has a problem that pypdf reports: {remark}",
    "pypdf_remarks": "has a problem that pypdf reports: {remark} (and {more} more)",
    "wrong_encoding": "is not {encoding} text (byte {byte}); save it as UTF-8",
}


def note_text(note: Note) -> str:
    """A note on a file in words, to be read after the file's name."""
    shown = {
        key: ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        for key, value in note.arguments.items()
    }
    return NOTE_TEXTS[note.code].format(**shown)


class UnreadableDocument(ChunklabError):
    """One file cannot be read; the run continues with the others and lists it under `skipped`.

    The message is the reason alone ("needs a password"), because the caller knows the file.
    """

    def __init__(self, note: Note) -> None:
        super().__init__(note)
        self.note = note

    def __str__(self) -> str:
        return note_text(self.note)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or the error's type when it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def did_you_mean(name: str, known: Iterable[str], closeness: float = _CLOSE) -> str:
    """The end of a sentence about an unknown name: `; did you mean 'x'?`, or a full stop where no known name is close.

    `closeness` is the share of letters that must agree; 0 always names the closest.
    """
    from difflib import SequenceMatcher

    likeness = {word: SequenceMatcher(None, name.lower(), word.lower()).ratio() for word in sorted(known)}
    closest = max(likeness, key=lambda word: likeness[word], default=None)
    return f"; did you mean {closest!r}?" if closest is not None and likeness[closest] >= closeness else "."
