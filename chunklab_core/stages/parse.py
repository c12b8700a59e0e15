"""Stage parse: every file of a folder as a document. A file that was parsed before, under any name, is reused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chunklab_core.cache.formats import pack_json, unpack_json
from chunklab_core.cache.protocol import Items, Ref, ResultStore
from chunklab_core.errors import ConfigError, note_text
from chunklab_core.parse import Reader, reader_of
from chunklab_core.parse.files import parse_files
from chunklab_core.records.documents import SourceFile, UnreadFile
from chunklab_core.stages.documents import stored_documents
from chunklab_core.stages.stage import TOKENS, Arguments, Made, Progress, Stage

PDF = "pypdf"  # of files without PDF, which no setting of PDF concerns
_NAMED = 3  # files in the error


def parse(
    store: ResultStore,
    progress: Progress,
    *,
    corpus: Ref,
    suffixes: Sequence[str],  # noqa: ARG001 - they follow from the corpus, and choose its readers
    pdf: str | None,
    folder: str,
) -> Made:
    """The entry of each document, and the files that cannot be read."""
    files = [SourceFile(**file) for file in unpack_json(store.read(corpus))]
    keys = parse_keys(files, pdf)
    missing = set(store.missing_items("parse", keys))
    todo = {key: file for key, file in zip(keys, files, strict=True) if key in missing}
    reasons = {}
    parsed_files = parse_files(list(todo.values()), Path(folder), pdf=pdf or PDF)
    for done, (key, file) in enumerate(zip(todo, parsed_files, strict=True), start=1):
        if file.reason:
            reasons[key] = file.reason
        elif file.payload is not None:
            store.put_items("parse", {key: file.payload})
        progress(done, len(todo) + 1)
    parsed = [(file, key) for file, key in zip(files, keys, strict=True) if key not in reasons]
    skipped = [UnreadFile(f.doc_id, reasons[k]) for f, k in zip(files, keys, strict=True) if k in reasons]
    if files and not parsed:
        named = "; ".join(f"{file.path} {note_text(file.note)}" for file in skipped[:_NAMED])
        raise ConfigError(f"None of the {len(files)} documents can be read ({named}). Name a folder with documents.")
    payload = {"documents": _entries(store, parsed), "skipped": [asdict(file) for file in skipped]}
    return pack_json(payload), Items("parse", tuple(key for _, key in parsed))


def _entries(store: ResultStore, parsed: Sequence[tuple[SourceFile, bytes]]) -> list[dict[str, Any]]:
    documents = stored_documents(store, [file.doc_id for file, _ in parsed], [key for _, key in parsed])
    return [
        {
            "id": document.doc_id,
            "digest": file.digest,
            "characters": len(document.text),
            "tokens": n_tokens,
            "warnings": [asdict(note) for note in document.warnings],
        }
        for (file, _), (document, n_tokens) in zip(parsed, documents, strict=True)
    ]


def parse_keys(files: Sequence[SourceFile], pdf: str | None) -> list[bytes]:
    """The key under which each file is kept once it is parsed: its reader and its bytes."""
    keys: dict[int, bytes] = {}
    suffixes = [Path(file.path).suffix.lower() for file in files]
    for suffix in set(suffixes):
        rows = [row for row, each in enumerate(suffixes) if each == suffix]
        parts = ([suffix, files[row].digest] for row in rows)
        keys |= zip(rows, STAGE.item_keys({"suffixes": [suffix], "pdf": pdf}, {}, parts), strict=True)
    return [keys[row] for row in range(len(files))]


def _readers(arguments: Arguments) -> list[str]:
    """The readers of these suffixes, in their order."""
    return [_reader(suffix, arguments).location for suffix in arguments["suffixes"]]


def _libraries(arguments: Arguments) -> list[str]:
    return [name for suffix in arguments["suffixes"] for name in _reader(suffix, arguments).libraries]


def _reader(suffix: str, arguments: Arguments) -> Reader:
    return reader_of(suffix, arguments["pdf"] or PDF)


STAGE = Stage(
    parse,
    "Every document of a folder, parsed.",
    inputs=("corpus",),
    unkeyed=("suffixes", "folder"),
    chosen=_readers,
    libraries=TOKENS,
    chosen_libraries=_libraries,
    items="documents",
    in_report=True,
)
