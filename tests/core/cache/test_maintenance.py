import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from chunklab_core.cache import runs
from chunklab_core.cache.maintenance import clear, inventory, verify
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.prune import prune
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError
from flows.cache import parse_age, parse_size
from tests.core.cache.small_cache import NEW, OLD, ONLY_OLD, ORPHAN, filled, ran


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return filled(tmp_path / "cache")


def test_the_inventory_counts_by_stage_and_shelf(store: Store) -> None:
    found = inventory(store)
    assert [(part.name, part.count) for part in found.results] == [("chunk", 2)]
    assert [(part.name, part.count) for part in found.shelves] == [("chunk", 4)]
    assert found.n_bytes >= 100_000
    assert (found.n_runs, found.n_living, found.last_used, found.n_unused) == (0, 0, None, 2)


@pytest.mark.parametrize("change", [clear, lambda store: prune(store, max_bytes=0)])
def test_a_folder_that_cannot_be_changed_is_one_line(
    change: Callable[[Store], object], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(runs.FileLock, "acquire", refused)
    with pytest.raises(ConfigError, match=r"Cannot change cache folder .* \(Read-only file system\)") as caught:
        change(store)
    assert "\n" not in str(caught.value)


def test_verify_removes_what_is_damaged_and_leaves_the_rest(store: Store) -> None:
    assert verify(store).damaged == ()
    store.put_items("chunk", {ORPHAN: b"fine"})
    store.path_of(NEW).write_bytes(store.path_of(NEW).read_bytes()[:-1] + b"?")
    found = verify(Store(store.root))
    assert (found.n_results, found.n_items, found.damaged) == (2, 4, (NEW,))
    assert Store(store.root).refs() == [OLD]


def test_verify_finds_a_damaged_item_and_the_result_that_needs_it(store: Store) -> None:
    import sqlite3

    store.close()
    with sqlite3.connect(store.root / "items/chunk/items.sqlite") as rows:
        rows.execute("UPDATE items SET value = 'other' WHERE key = ?", (ONLY_OLD,))
    rows.close()
    found = verify(Store(store.root))
    assert found.damaged == ("1 items of chunk", OLD)
    assert verify(Store(store.root)).damaged == ()


def test_clear_removes_all_of_ours_and_nothing_else(store: Store) -> None:
    ran(store, OLD)
    (store.root / "letter.txt").write_text("mine")
    assert clear(store) > 100_000
    assert [path.name for path in store.root.iterdir()] == ["letter.txt"]
    assert clear(Store(store.root / "no such folder")) == 0


def test_clear_is_refused_while_a_run_is_running(store: Store) -> None:
    with runs.begin(store, Ref("inputs/1"), [OLD]), pytest.raises(ConfigError, match="A run is running"):
        clear(store)
    assert store.refs() == [OLD, NEW]


@pytest.mark.parametrize(
    ("typed", "n_bytes"), [("500MB", 500_000_000), ("1.5 gb", 1_500_000_000), ("0B", 0), ("7kb", 7_000)]
)
def test_sizes(typed: str, n_bytes: int) -> None:
    assert parse_size(typed) == n_bytes


@pytest.mark.parametrize(("typed", "hours"), [("12h", 12), ("30d", 720), ("2w", 336), ("30m", 0.5)])
def test_ages(typed: str, hours: float) -> None:
    assert parse_age(typed) == timedelta(hours=hours)


@pytest.mark.parametrize("typed", ["30", "d", "-3d", "5y", "1.5d", "999999d", "999999999999d"])
def test_an_age_that_is_none_is_refused(typed: str) -> None:
    with pytest.raises(ConfigError, match="--older-than is"):
        parse_age(typed)


@pytest.mark.parametrize("typed", ["5", "GB", "-1GB", "5 apples", "9" * 400 + "GB"])
def test_a_size_that_is_none_is_refused(typed: str) -> None:
    with pytest.raises(ConfigError, match="--max-size is"):
        parse_size(typed)


def command(store: Store, *words: str) -> subprocess.CompletedProcess[str]:
    line = "import sys; from flows.cli import console_script; sys.argv[0] = 'chunklab'; console_script()"
    arguments = [sys.executable, "-c", line, "cache", *words, "--cache-dir", str(store.root)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_the_command_line(store: Store) -> None:
    told = command(store, "info")
    assert told.returncode == 0, told.stderr
    assert "results of chunk" in told.stdout
    store.close()
    before = {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}
    assert json.loads(command(store, "info", "--json").stdout)["n_unused"] == 2
    assert {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()} == before
    store.path_of(NEW).write_bytes(b"damaged")
    found = command(store, "verify")
    assert (found.returncode, found.stderr) == (1, "")
    assert f"damaged, taken away: {NEW}" in found.stdout
    assert "1 result and 2 items taken away" in command(store, "prune", "--older-than", "30d").stdout
    nothing = command(store, "prune")
    assert (nothing.returncode, nothing.stderr.count("\n"), nothing.stdout) == (2, 1, "")
    assert command(store, "clear").returncode == 0
    assert list(store.root.iterdir()) == []


def test_clear_leaves_the_files_of_the_user(store: Store) -> None:
    mine = [store.root / place for place in ("results/table.csv", "results/score/final.csv", "runs/exp1.log")]
    mine += [store.root / "items" / "list.txt", store.root / "prefect" / "notes.txt"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    ran(store, OLD)
    clear(store)
    assert sorted(path for path in store.root.rglob("*") if path.is_file()) == sorted(mine)


def test_a_folder_that_never_was_a_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    for words in (["info"], ["verify"], ["prune", "--unused"], ["clear"]):
        told = command(Store(tmp_path), *words)
        assert (told.returncode, told.stdout) == (2, "")
        assert "is not a cache" in told.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_empty_path_does_not_mean_the_usual_folder(store: Store) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "flows.evaluate", "--cache-dir", ""], capture_output=True, text=True, check=False
    )
    assert told.returncode == 2
    assert "the path is empty" in told.stderr


@pytest.mark.parametrize("change", [lambda store: prune(store, unused=True), clear])
def test_nothing_is_removed_while_a_run_starts(store: Store, change: Callable[[Store], object]) -> None:
    with runs.about_to_begin(store):
        with pytest.raises(ConfigError, match="A run is starting"):
            change(store)
        with runs.begin(store, Ref("inputs/1"), [OLD]):
            prune(store, unused=True)  # now it is known what it needs
            assert OLD in store.refs()
    change(store)
    assert list((store.root / "runs").glob("*.lock")) == []
