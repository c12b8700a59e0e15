import sys
import unicodedata
from pathlib import Path

import pytest

from chunklab_core.cache import keys as fingerprint
from chunklab_core.cache.keys import code_of_function, code_of_room, digest, digest_bytes, digest_file, stage_key

# A core in miniature: the stage `cut` of `pipeline` uses the room `chunk`, which uses the shelf.
SOURCES = {
    "__init__": '"""Core."""\n',
    "shelf": '"""Shelf."""\n\n\ndef half(n):\n    return n // 2\n\n\ndef unused(n):\n    return n\n',
    "other": "def other(n):\n    return n\n",
    "chunk/__init__": "from mini_core.shelf import half\n\n\ndef chunk(text):\n    return text[: half(len(text))]\n",
    "chunk/method": "def method():\n    return 1\n",
    "chunk/formats/__init__": "",
    "chunk/formats/deep": "def deep():\n    return 1\n",
    "pipeline": (
        "from mini_core.chunk import chunk\n"
        "from mini_core.other import other\n\n\n"
        "LIMIT = 3\n\n\n"
        "def cut(text):\n    '''Docs.'''\n    return _limited(chunk(text))\n\n\n"
        "def _limited(text):\n    return text[:LIMIT]\n\n\n"
        "def count(text):\n    return other(len(text))\n"
    ),
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
        for memory in (
            fingerprint._parsed,
            fingerprint._facts,
            fingerprint._module_or_member,
            fingerprint.worked_out,
        ):
            memory.cache_clear()

    def keys(self) -> dict[str, str]:
        return {
            "room": code_of_room("chunk"),
            "cut": code_of_function("mini_core.pipeline", "cut"),
            "count": code_of_function("mini_core.pipeline", "count"),
        }


@pytest.fixture
def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Core:
    made = Core(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(fingerprint, "PACKAGE", "mini_core")
    made.forget()
    yield made
    made.forget()
    for name in [name for name in sys.modules if name.startswith("mini_core")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("module", "old", "new", "changed"),
    [
        ("shelf", "n // 2", "n // 3", {"room", "cut"}),  # a function that the room calls
        ("chunk/__init__", "text[:", "text[1:", {"room", "cut"}),
        ("chunk/method", "return 1", "return 2", {"room"}),  # found by its name in a table, so no import shows it
        ("chunk/formats/deep", "return 1", "return 2", {"room"}),  # a folder further down
        ("other", "return n", "return -n", {"count"}),
        ("pipeline", "LIMIT = 3", "LIMIT = 4", {"cut"}),  # a constant that the stage's helper uses
        ("pipeline", "text[:LIMIT]", "text[LIMIT:]", {"cut"}),
        ("pipeline", "'''Docs.'''", "'''Other words.'''", set()),
        ("pipeline", "\n\n\nLIMIT", "\n# a remark\n\n\nLIMIT", set()),
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


@pytest.mark.parametrize(
    ("written", "old", "new"),
    [
        ("LIMIT, OTHER = 3, 4", "3, 4", "2, 4"),
        ("(LIMIT, *OTHER) = [3, 4]", "[3, 4]", "[2, 4]"),
        ("LIMIT: int = 3", "= 3", "= 2"),
        ("LIMIT = 3\nLIMIT = LIMIT + 1", "= 3", "= 2"),
        ("LIMIT = 3\nLIMIT += 1", "+= 1", "+= 2"),
        ("if True:\n    LIMIT = 3", "= 3", "= 2"),
        ("try:\n    LIMIT = 2\nexcept ValueError:\n    LIMIT = 3", "= 3", "= 4"),
        ("for LIMIT in (1, 3):\n    pass", "(1, 3)", "(1, 2)"),
        ("if True:\n    def _limited(text):\n        return text[:3]", ":3", ":2"),
    ],
)
def test_a_name_counts_however_it_is_bound(core: Core, written: str, old: str, new: str) -> None:
    core.edit("pipeline", "LIMIT = 3", written)
    before = core.keys()
    core.edit("pipeline", old, new)

    assert {name for name, key in core.keys().items() if key != before[name]} == {"cut"}


def test_a_table_of_all_stages_does_not_tie_their_keys_together(core: Core) -> None:
    core.edit("pipeline", "LIMIT = 3", "TABLE = {'cut': lambda: cut, 'count': lambda: count}\nLIMIT = 3")
    core.edit("pipeline", "def _limited(text):\n", "def _limited(text):\n    TABLE\n")

    def key(apart: frozenset[str]) -> str:
        return code_of_function("mini_core.pipeline", "cut", apart)

    apart = frozenset({"TABLE"})
    tied, free = key(frozenset()), key(apart)
    core.edit("other", "return n", "return -n")  # what `count` alone uses

    assert key(apart) == free
    assert key(frozenset()) != tied


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


def test_golden_key() -> None:
    """SHA-256 of the JSON text that is written out here; if it changes, every cache in the world is lost."""
    unicode = f'"libraries":{{"unicode":"{unicodedata.unidata_version}"}}'
    text = f'{{"code":"abc","inputs":{{"documents":"parse/1"}},{unicode},"parameters":{{"k":5}},"stage":"chunk"}}'
    key = stage_key("chunk", code="abc", parameters={"k": 5}, inputs={"documents": "parse/1"}, libraries=())

    assert key == digest_bytes(text.encode())
    assert digest_bytes(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"abc")

    assert digest_file(tmp_path / "one") == digest_bytes(b"abc")
