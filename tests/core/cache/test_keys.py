import sys
import unicodedata
from pathlib import Path

import pytest

from chunklab_core.cache import keys
from chunklab_core.cache.keys import code_of_modules, digest, digest_bytes, digest_file, stage_key

# A core in miniature: the stage `cut` uses the room `chunk`, which uses what lies below.
SOURCES = {
    "__init__": '"""Core."""\n',
    "shelf": '"""Shelf."""\n\n\ndef half(n):\n    return n // 2\n',
    "other": "def other(n):\n    return n\n",
    "errors": "TEXT = 'wrong'\n\n\nclass ConfigError(Exception):\n    pass\n",
    "cache/__init__": "",
    "cache/store": "def read(ref):\n    return ref\n",
    "chunk/__init__": "TABLE = {'method': 'mini_core.chunk.method'}\n",
    "chunk/build": "from mini_core.shelf import half\n\n\ndef chunk(text):\n    return text[: half(len(text))]\n",
    "chunk/method": "def method():\n    return 1\n",
    "chunk/formats/__init__": "",
    "chunk/formats/deep": "def deep():\n    return 1\n",
    "stages/__init__": "",
    "stages/cut": (
        '"""Stage cut."""\n'
        "import logging\n"
        "from mini_core.cache.store import read\n"
        "from mini_core.chunk import TABLE\n"
        "from mini_core.chunk.build import chunk\n"
        "from mini_core.errors import ConfigError\n\n"
        "_log = logging.getLogger(__name__)\n\n\n"
        "def cut(ref):\n"
        "    '''Docs.'''\n"
        "    _log.info('cut %s', ref)\n"
        "    if not ref:\n"
        "        raise ConfigError('nothing to cut')\n"
        "    return chunk(read(ref))\n"
    ),
    "stages/count": "def count(text):\n    from mini_core.other import other\n    return other(len(text))\n",
}
NAMED = {
    "cut": ["mini_core.stages.cut"],
    "by method": ["mini_core.stages.cut", "mini_core.chunk.method"],
    "by deep": ["mini_core.stages.cut", "mini_core.chunk.formats.deep"],
    "count": ["mini_core.stages.count"],
    "table": ["mini_core.chunk"],
}


class Core:
    """The miniature core on disk; `edit` changes one file and forgets what was read of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "mini_core"
        for name, source in SOURCES.items():
            path = self.folder / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)

    def edit(self, module: str, old: str, new: str) -> None:
        path = self.folder / f"{module}.py"
        source = path.read_text()
        assert old in source
        path.write_text(source.replace(old, new))
        self.forget()

    def forget(self) -> None:
        for memory in (keys._facts, keys._module_or_member, keys.worked_out):
            memory.cache_clear()

    def keys(self) -> dict[str, str]:
        return {name: code_of_modules(modules) for name, modules in NAMED.items()}


@pytest.fixture
def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Core:
    made = Core(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(keys, "PACKAGE", "mini_core")
    made.forget()
    yield made
    made.forget()
    for name in [name for name in sys.modules if name.startswith("mini_core")]:
        del sys.modules[name]


CUT = {"cut", "by method", "by deep"}


@pytest.mark.parametrize(
    ("module", "old", "new", "changed"),
    [
        ("stages/cut", "return chunk(", "return 0 or chunk(", CUT),
        ("chunk/build", "text[:", "text[1:", CUT),  # imported by the stage
        ("shelf", "n // 2", "n // 3", CUT),  # imported by what the stage imports
        ("chunk/method", "return 1", "return 2", {"by method"}),  # named by a table
        ("chunk/formats/deep", "return 1", "return 2", {"by deep"}),  # in a folder further down
        ("other", "return n", "return -n", {"count"}),  # imported inside a function
        ("chunk/__init__", "'method'", "'another'", {"table"}),  # a table counts only where it is named
        ("cache/store", "return ref", "return ref or 0", set()),
        ("errors", "'wrong'", "'not right'", set()),
        ("stages/cut", "'nothing to cut'", "'there is nothing to cut'", set()),
        ("stages/cut", "'cut %s'", "'cutting %s'", set()),
        ("stages/cut", "'''Docs.'''", "'''Other words.'''", set()),
        ("stages/cut", "    if not ref", "    # a remark\n\n    if not ref", set()),
        ("stages/cut", "if not ref", "if ref is None", CUT),  # when an error is raised does count
        ("shelf", '"""Shelf."""', '"""The shelf."""', set()),
    ],
)
def test_a_change_of_code_changes_the_keys_of_what_uses_it(
    core: Core, module: str, old: str, new: str, changed: set[str]
) -> None:
    before = core.keys()
    core.edit(module, old, new)
    after = core.keys()

    assert {name for name in before if before[name] != after[name]} == changed


BASE = {
    "stage": "chunk",
    "code": "abc",
    "parameters": {"max_tokens": 800},
    "inputs": {"documents": "parse/1"},
    "libraries": ("numpy",),
}


@pytest.mark.parametrize(
    "change",
    [
        {"stage": "embed"},
        {"code": "abd"},
        {"parameters": {"max_tokens": 801}},
        {"parameters": {"max_tokens": "800"}},
        {"parameters": {"max_tokens": 800.0}},
        {"parameters": {"max_tokens": 800, "overlap": None}},
        {"inputs": {"documents": "parse/2"}},
        {"inputs": {"other": "parse/1"}},
        {"libraries": ("pyyaml",)},
    ],
)
def test_every_part_of_a_key_counts(change: dict[str, object]) -> None:
    assert stage_key(**BASE) != stage_key(**{**BASE, **change})


def test_the_order_of_parameters_does_not_count() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})


def test_a_key_is_the_digest_of_its_parts_as_json() -> None:
    """SHA-256 of the JSON text that is written out here; if it changes, every cache in the world is lost."""
    unicode = f'"libraries":{{"unicode":"{unicodedata.unidata_version}"}}'
    text = f'{{"code":"abc","inputs":{{"documents":"parse/1"}},{unicode},"parameters":{{"k":5}},"stage":"chunk"}}'
    key = stage_key("chunk", code="abc", parameters={"k": 5}, inputs={"documents": "parse/1"}, libraries=())

    assert key == digest_bytes(text.encode())
    assert digest_bytes(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"abc")

    assert digest_file(tmp_path / "one") == digest_bytes(b"abc")
