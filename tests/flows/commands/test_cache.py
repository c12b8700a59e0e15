"""`chunklab cache`: what it prints, what it removes, and what it refuses."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chunklab_core.cache.fallback import MARK
from chunklab_core.cache.files import write_atomically
from chunklab_core.cache.store import Items, Ref, Store
from chunklab_core.errors import ConfigError
from flows import cli
from flows.commands.cache import parse_age, parse_size

OLD, NEW = Ref("chunk/0001"), Ref("chunk/0002")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A result of 40 days ago with two items of its own, and one of yesterday."""
    store = Store(tmp_path / "cache")
    write_atomically(store.root / MARK, [b"3\n"])
    keys = tuple(bytes([number]) * 32 for number in range(2))
    store.put_items("chunk", dict.fromkeys(keys, b"text"))
    store.write(OLD, b"old", Items("chunk", keys))
    store.write(NEW, b"new")
    for days, ref in ((40, OLD), (1, NEW)):
        used = (datetime.now(UTC) - timedelta(days=days)).timestamp()
        os.utime(store.path_of(ref), (used, used))  # no run is on record, so the time of the file counts
    store.close()
    return store


def ended(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> tuple[object, str, str]:
    """Status, standard output and standard error of `chunklab cache` with these arguments."""
    with pytest.raises(SystemExit) as end:
        cli.console_script(["cache", *arguments, "--cache-dir", str(folder)])
    return end.value.code, *capsys.readouterr()


def test_info_shows_the_cache_and_changes_nothing(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}

    status, out, err = ended(capsys, store.root, "info")
    assert (status, err) == (0, "")
    assert "results of chunk" in out
    assert "Used by no recorded run: 2 results." in out
    assert json.loads(ended(capsys, store.root, "info", "--json")[1])["n_unused"] == 2
    assert {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()} == before


def test_verify_removes_damaged_results_and_ends_with_status_1(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(capsys, store.root, "verify") == (0, "Checked 2 results and 2 items: none damaged.\n", "")
    store.path_of(NEW).write_bytes(b"damaged")

    found = f"Checked 2 results and 2 items: 1 damaged.\n  damaged and removed: {NEW}\n"
    assert ended(capsys, store.root, "verify") == (1, found, "")
    assert Store(store.root).refs() == [OLD]


def test_prune_removes_old_results_with_their_items(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = ended(capsys, store.root, "prune", "--older-than", "30d")

    assert (status, err) == (0, "")
    assert out.startswith("Removed 1 result and 2 items (")
    assert Store(store.root).refs() == [NEW]


def test_prune_without_an_option_is_refused_in_one_line(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = ended(capsys, store.root, "prune")

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "--older-than" in err


def test_clear_leaves_an_empty_folder(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(capsys, store.root, "clear")[0] == 0
    assert list(store.root.iterdir()) == []
    assert "The cache is empty." in ended(capsys, store.root, "info")[1]


@pytest.mark.parametrize("action", [["info"], ["verify"], ["prune", "--unused"], ["clear"]])
def test_a_folder_that_never_was_a_cache_is_refused(
    action: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")

    status, out, err = ended(capsys, tmp_path, *action)

    assert (status, out) == (2, "")
    assert str(tmp_path) in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_empty_path_does_not_mean_the_default_folder(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["run", "--cache-dir", ""], ["cache", "info", "--cache-dir", " "]):
        with pytest.raises(SystemExit) as end:
            cli.console_script(arguments)
        assert end.value.code == 2
        assert "the path is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("size", "n_bytes"), [("500MB", 500_000_000), ("1.5 gb", 1_500_000_000), ("0B", 0), ("7kb", 7_000)]
)
def test_a_size_is_a_number_and_a_unit(size: str, n_bytes: int) -> None:
    assert parse_size(size) == n_bytes


@pytest.mark.parametrize(("age", "hours"), [("12h", 12), ("30d", 720), ("2w", 336), ("30m", 0.5)])
def test_an_age_is_a_number_and_a_unit(age: str, hours: float) -> None:
    assert parse_age(age) == timedelta(hours=hours)


@pytest.mark.parametrize("age", ["30", "d", "-3d", "5y", "1.5d", "999999d", "999999999999d"])
def test_any_other_age_is_refused(age: str) -> None:
    with pytest.raises(ConfigError, match="--older-than is"):
        parse_age(age)


@pytest.mark.parametrize("size", ["5", "GB", "-1GB", "5 apples", "9" * 400 + "GB"])
def test_any_other_size_is_refused(size: str) -> None:
    with pytest.raises(ConfigError, match="--max-size is"):
        parse_size(size)
