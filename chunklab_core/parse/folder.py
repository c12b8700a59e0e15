"""What lies in a folder of documents: every file is either taken or named with the reason why not."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chunklab_core.cache.keys import digest_file
from chunklab_core.errors import ConfigError
from chunklab_core.records.documents import SkippedFile


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to parse: its id (path relative to the folder, /, NFC), its own path there, its SHA-256 and size."""

    doc_id: str
    path: str
    digest: str
    n_bytes: int


def list_documents(docs: Path, is_supported: Callable[[str], bool]) -> tuple[Path, list[SourceFile], list[SkippedFile]]:
    """The folder, its readable documents in the order of their ids, and the files that were left out and why.

    `docs` may be a single file; its folder is then the folder, and no other file is looked at.

    Raises:
        ConfigError: there is no such folder, it cannot be read, or it holds no file of a supported format.
    """
    if not docs.exists():
        raise ConfigError(f"There is no folder {docs}. Give the folder that holds your documents with --docs.")
    folder = docs if docs.is_dir() else docs.parent
    names = sorted(_walk(folder)) if docs.is_dir() else [docs.name]
    taken: list[SourceFile] = []
    skipped: list[SkippedFile] = []
    for name in names:
        reason = _reason_to_skip(folder / name, is_supported)
        doc_id = unicodedata.normalize("NFC", name.encode("utf-8", "backslashreplace").decode())
        try:
            if not reason:
                path = folder / name
                taken.append(SourceFile(doc_id, name, digest_file(path), path.stat().st_size))
                continue
        except OSError as error:
            reason = f"cannot be read ({error.strerror})"
        skipped.append(SkippedFile(doc_id, reason))
    _refuse_nothing(docs, taken, skipped)
    _refuse_equal_names(taken)
    return folder, sorted(taken, key=lambda file: file.doc_id), skipped


def _walk(folder: Path) -> Iterator[str]:
    """Paths of all files below a folder, relative and with /; hidden folders are named but not entered."""

    def give_up(error: OSError) -> None:
        raise ConfigError(f"The folder {error.filename} cannot be read ({error.strerror}).") from error

    for at, folders, files in os.walk(folder, onerror=give_up):
        hidden = [name for name in folders if name.startswith(".")]
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if (Path(at) / name).is_symlink()]
        below = Path(at).relative_to(folder)
        for name in [*files, *hidden, *links]:
            yield (below / name).as_posix()


def _reason_to_skip(path: Path, is_supported: Callable[[str], bool]) -> str:
    if not is_unicode(path):
        return "its name, or that of its folder, is not UTF-8; rename it"
    if path.name.startswith("."):
        return "hidden (its name begins with a dot)"
    if path.is_dir():
        return "a link to a folder; give the folder itself"
    if not path.is_file():
        return "not a regular file, or a broken link"
    if not is_supported(path.suffix.lower()):
        return f"format {path.suffix.lower() or 'without a suffix'} is not supported"
    return ""


def is_unicode(path: Path) -> bool:
    """Whether a path can be written into a report; names of files may be any bytes."""
    return not any("\ud800" <= letter <= "\udfff" for letter in str(path))


def _refuse_nothing(docs: Path, taken: list[SourceFile], skipped: list[SkippedFile]) -> None:
    if taken:
        return
    if not skipped:
        raise ConfigError(f"The folder {docs} is empty. Give a folder that holds documents with --docs.")
    example = skipped[0]
    raise ConfigError(
        f"{docs} holds no document that can be read: {len(skipped)} files were left out, "
        f"such as {example.path} ({example.reason}). Supported are Markdown, text, PDF and DOCX."
    )


def _refuse_equal_names(taken: list[SourceFile]) -> None:
    seen: dict[str, str] = {}
    for file in taken:
        if file.doc_id in seen:
            raise ConfigError(
                f"Two files have the same name {file.doc_id!r} once accents are composed; rename one of them."
            )
        seen[file.doc_id] = file.path
