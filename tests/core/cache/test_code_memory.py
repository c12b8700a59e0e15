"""Fingerprints of code are worked out once for the same files, and anew as soon as one byte of them changes."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chunklab_core.cache import code_memory
from chunklab_core.cache import keys as fingerprint
from chunklab_core.cache.code_memory import code_remembered
from chunklab_core.cache.keys import code_of_modules, digest_bytes, sources_of_package, worked_out
from chunklab_core.cache.store import Store

SOURCES = {
    "__init__.py": "",
    "shelf.py": "def half(n):\n    return n // 2\n",
    "chunk/__init__.py": "",
    "chunk/build.py": "from tiny_core.shelf import half\n",
    "cut.py": "from tiny_core.chunk.build import half\n\n\ndef cut(n):\n    return half(n)\n",
}


class Process:
    """A core in miniature and a cache; each `keys` is what a new process would find."""

    def __init__(self, folder: Path) -> None:
        self.core, self.store, self.parsed = folder / "tiny_core", Store(folder / "cache"), 0
        for name, source in SOURCES.items():
            (self.core / name).parent.mkdir(parents=True, exist_ok=True)
            (self.core / name).write_text(source)

    def keys(self) -> tuple[str, str]:
        forget()
        with code_remembered(self.store):
            return code_of_modules(["tiny_core.chunk.build"]), code_of_modules(["tiny_core.chunk", "tiny_core.cut"])


def forget() -> None:
    for memory in (
        fingerprint._facts,
        fingerprint._module_or_member,
        worked_out,
        code_memory._sources_at_first,
    ):
        memory.cache_clear()


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    made = Process(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(fingerprint, "PACKAGE", "tiny_core")
    parse = fingerprint.ast.parse

    def counted(source: str) -> object:
        made.parsed += 1
        return parse(source)

    monkeypatch.setattr(fingerprint.ast, "parse", counted)
    yield made
    forget()
    for name in [name for name in sys.modules if name.startswith("tiny_core")]:
        del sys.modules[name]


def test_a_second_process_parses_no_module_and_finds_the_same(process: Process) -> None:
    first = process.keys()
    assert process.parsed > 0
    process.parsed = 0

    assert process.keys() == first
    assert process.parsed == 0


@pytest.mark.parametrize("name", SOURCES)
def test_one_byte_in_any_file_is_enough_to_parse_again(process: Process, name: str) -> None:
    first = process.keys()
    path = process.core / name
    before = path.stat()
    path.write_text(path.read_text().replace("// 2", "// 3") if name == "shelf.py" else path.read_text() + "\n")
    process.parsed = 0

    assert (process.keys() != first) == (name == "shelf.py")  # an empty line is no part of the code
    assert process.parsed > 0
    assert path.stat().st_ino == before.st_ino


def test_a_file_more_and_another_python_are_other_sources(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sources_of_package()
    (process.core / "chunk" / "more.py").write_text("")
    more = sources_of_package()
    monkeypatch.setattr(sys, "version", "4.0")

    assert len({first, more, sources_of_package()}) == 3


def test_a_file_edited_while_the_code_is_worked_out_leaves_nothing_behind(process: Process) -> None:
    """Else what was read of the edited file would be found under the sources as they were."""
    forget()
    with code_remembered(process.store):
        (process.core / "shelf.py").write_text("def half(n):\n    return n / 2\n")
        edited = code_of_modules(["tiny_core.chunk.build"])
    (process.core / "shelf.py").write_text(SOURCES["shelf.py"])

    assert process.keys()[0] != edited


def test_a_damaged_entry_is_worked_out_again(process: Process) -> None:
    first = process.keys()
    (kept,) = [path for path in (process.store.root / "results" / "code").rglob("*") if path.is_file()]
    kept.write_bytes(kept.read_bytes().replace(digest_bytes(b"")[:4].encode(), b"0000") + b" ")
    process.parsed = 0

    assert process.keys() == first
    assert process.parsed > 0


def test_a_folder_that_takes_nothing_ends_no_run(process: Process, tmp_path: Path) -> None:
    first = process.keys()
    (tmp_path / "taken").write_text("")
    process.store = Store(tmp_path / "taken")

    assert process.keys() == first
