"""Parses many files, on all cores where that pays; one unreadable file does not stop the others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chunklab_core.cache.keys import digest_bytes
from chunklab_core.errors import ConfigError, UnreadableDocument
from chunklab_core.parse import reader_of
from chunklab_core.parse.reading import read_document
from chunklab_core.parse.stored import pack_document
from chunklab_core.records.documents import Note, SourceFile
from chunklab_core.tokens import count_tokens

_WORTH_PROCESSES = 4_000_000  # bytes; for fewer, starting processes takes longer than parsing


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The result for one file: a packed document, or the reason why there is none."""

    payload: bytes | None
    reason: Note | None = None


def parse_files(files: Sequence[SourceFile], folder: Path, *, pdf: str) -> Iterator[ParsedFile]:
    """The result for each file, in their order."""
    if len(files) < 2 or sum(file.n_bytes for file in files) < _WORTH_PROCESSES:
        yield from (parse_file(file, folder, pdf) for file in files)
        return
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=os.cpu_count() or 1, return_as="generator", batch_size="auto")
    yield from workers(delayed(parse_file)(file, folder, pdf) for file in files)


def parse_file(file: SourceFile, folder: Path, pdf: str) -> ParsedFile:
    """The result for one file.

    Raises:
        ConfigError: its bytes changed after the folder was listed. This is no result, because a result is kept under
            the digest of the bytes that were listed.
    """
    try:
        content = (folder / file.path).read_bytes()
    except OSError as error:
        raise ConfigError(f"{file.path} can no longer be read ({error.strerror}). Run again.") from error
    if digest_bytes(content) != file.digest:
        raise ConfigError(f"{file.path} changed during the run. Run again.")
    try:
        document = read_document(reader_of(Path(file.path).suffix, pdf).location, file.doc_id, content)
    except UnreadableDocument as error:
        return ParsedFile(None, error.note)
    return ParsedFile(pack_document(document, count_tokens(document.text)))
