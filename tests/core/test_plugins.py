import sys
from pathlib import Path

import pytest

from chunklab_core import plugins
from chunklab_core.errors import ConfigError
from chunklab_core.plugins import load_plugin, plugin_digest, plugin_file

BY_LINE = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass(frozen=True, slots=True)
class ByLine:
    width: int = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "by_line.py").write_text(BY_LINE)
    return tmp_path


def test_a_class_is_found_in_a_file_beside_the_configuration(folder: Path) -> None:
    assert load_plugin("by_line.py:ByLine", folder)(width=4).width == 4
    assert load_plugin(f"{folder}/by_line.py:ByLine") is load_plugin("by_line.py:ByLine", folder)


def test_a_class_is_found_in_an_installed_package() -> None:
    assert load_plugin("collections:OrderedDict").__name__ == "OrderedDict"


def test_a_changed_file_is_read_again(folder: Path) -> None:
    load_plugin("by_line.py:ByLine", folder)
    (folder / "by_line.py").write_text(BY_LINE.replace("= 3", "= 5"))
    assert load_plugin("by_line.py:ByLine", folder)().width == 5


def test_a_plugin_has_a_file_unless_it_is_built_in(folder: Path) -> None:
    assert plugin_file("by_line.py:ByLine", folder) == (folder / "by_line.py").resolve()
    assert plugin_file("json.decoder:JSONDecoder") is not None
    assert plugin_file("sys:path") is None


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("gone.py:ByLine", "the file gone.py does not exist. Write its path"),
        ("by_line.py:ByLin", "does not define 'ByLin'; did you mean 'ByLine'?"),
        ("no_such_package_here:Thing", "importing no_such_package_here failed: ModuleNotFoundError"),
        ("broken.py:Thing", "importing broken.py failed: ZeroDivisionError"),
        (":Thing", "Write file.py:Class or package.module:Class"),
        ("by_line.py:", "Write file.py:Class or package.module:Class"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_one_line(folder: Path, reference: str, message: str) -> None:
    (folder / "broken.py").write_text("1 / 0")
    with pytest.raises(ConfigError) as caught:
        load_plugin(reference, folder)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("edited", "counts"),
    [("by_line.py", True), ("rules_of_mine/deep.py", True), ("words_of_mine.py", True), ("alone_of_mine.py", False)],
)
def test_the_users_own_files_that_a_plugin_imports_are_part_of_it(
    edited: str, counts: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`by_line.py` imports a package, one module of which imports another file; no file imports `alone_of_mine.py`."""
    monkeypatch.syspath_prepend(str(folder))
    for name in [name for name in sys.modules if name.startswith("rules_of_mine")]:
        monkeypatch.delitem(sys.modules, name)
    (folder / "rules_of_mine").mkdir()
    for name, source in {
        "by_line.py": f"{BY_LINE}\nimport re\nimport numpy\nfrom rules_of_mine.deep import WIDTH\n",
        "rules_of_mine/__init__.py": "",
        "rules_of_mine/deep.py": "def width():\n    import words_of_mine\n\n\nWIDTH = 3\n",
        "words_of_mine.py": "",
        "alone_of_mine.py": "",
    }.items():
        (folder / name).write_text(source)

    def in_a_new_process() -> list[str | None]:
        plugins._digest_at_first.cache_clear()
        return [plugin_digest(name, folder) for name in ("by_line.py:ByLine", "rules_of_mine.deep:width")]

    before = in_a_new_process()
    assert in_a_new_process() == before
    (folder / edited).write_text((folder / edited).read_text() + "\n")

    assert [after != first for after, first in zip(in_a_new_process(), before, strict=True)] == [
        counts,
        counts and edited != "by_line.py",
    ]
