"""The files of a folder of documents: each is either listed for parsing or skipped with a reason."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path

from chunklab_core.cache.keys import digest_file
from chunklab_core.errors import ConfigError, note_text
from chunklab_core.records.documents import Note, SourceFile, UnreadFile


def list_documents(docs: Path, readers: Collection[str]) -> tuple[Path, list[SourceFile], list[UnreadFile]]:
    """The folder, its documents in the order of their ids, and the files that are skipped, with the reason.

    Args:
        docs: a folder, or a single file; other files in the file's folder are then ignored.
        readers: the suffixes that have a reader, in lower case.

    Raises:
        ConfigError: the folder does not exist, cannot be read, or holds no file of a supported format.
    """
    if not docs.exists():
        raise ConfigError(f"The folder {docs} does not exist. Give the folder of your documents with --docs.")
    folder = docs if docs.is_dir() else docs.parent
    names = sorted(_walk(folder)) if docs.is_dir() else [docs.name]
    listed: list[SourceFile] = []
    skipped: list[UnreadFile] = []
    for name in names:
        path = folder / name
        reason = _reason_to_skip(path, readers)
        doc_id = unicodedata.normalize("NFC", name.encode("utf-8", "backslashreplace").decode())
        try:
            if reason is None:
                listed.append(SourceFile(doc_id, name, digest_file(path), path.stat().st_size))
        except OSError as error:
            reason = Note("cannot_open", {"cause": error.strerror})
        if reason is not None:
            skipped.append(UnreadFile(doc_id, reason))
    _refuse_nothing(docs, listed, skipped)
    _refuse_equal_names(listed)
    return folder, sorted(listed, key=lambda file: file.doc_id), skipped


def _walk(folder: Path) -> Iterator[str]:
    """Paths of all files below a folder, relative and with /; hidden folders are listed but not entered."""

    def give_up(error: OSError) -> None:
        raise ConfigError(f"The folder {error.filename} cannot be read ({error.strerror}).") from error

    for parent, folders, files in os.walk(folder, onerror=give_up):
        hidden = [name for name in folders if name.startswith(".")]
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        below = Path(parent).relative_to(folder)
        for name in [*files, *hidden, *links]:
            yield (below / name).as_posix()


def _reason_to_skip(path: Path, readers: Collection[str]) -> Note | None:
    if not is_unicode(path):
        return Note("name_not_utf8")
    if path.name.startswith("."):
        return Note("hidden")
    if path.is_dir():
        return Note("link_to_folder")
    if not path.is_file():
        return Note("not_regular")
    if not path.suffix:
        return Note("format_unknown")
    suffix = path.suffix.lower()
    return None if suffix in readers else Note("format_unsupported", {"suffix": suffix})


def is_unicode(path: Path) -> bool:
    """Whether a report can hold the path; file names may be any bytes."""
    return not any("\ud800" <= letter <= "\udfff" for letter in str(path))


def _refuse_nothing(docs: Path, listed: list[SourceFile], skipped: list[UnreadFile]) -> None:
    if listed:
        return
    if not skipped:
        raise ConfigError(f"The folder {docs} is empty. Give a folder with documents with --docs.")
    example = skipped[0]
    raise ConfigError(
        f"{docs} has no document that can be read. {len(skipped)} files are skipped; for example, {example.path} "
        f"{note_text(example.note)}. Give a folder with Markdown, text, PDF or DOCX files."
    )


def _refuse_equal_names(listed: list[SourceFile]) -> None:
    seen: dict[str, str] = {}
    for file in listed:
        if file.doc_id in seen:
            raise ConfigError(
                f"Two files have the same name {file.doc_id!r} once accents are composed; rename one of them."
            )
        seen[file.doc_id] = file.path
