"""A run continues where the cache folder is read-only, full, from another version, or cleared meanwhile."""

import errno
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunklab_core import pipeline
from chunklab_core.cache import fallback, store
from chunklab_core.cache.fallback import FORMAT, run_patiently, usable_cache
from chunklab_core.cache.protocol import MissingError, Ref
from chunklab_core.cache.store import Store
from chunklab_core.errors import CacheRefusedError, ConfigError
from chunklab_core.report.json import report_to_mapping

STUB = """\
from pathlib import Path
import numpy as np

class Letters:
    def __call__(self, texts):
        with Path(__file__).with_name("sent.txt").open("a") as file:
            file.writelines(f"{text!r}\\n" for text in texts)
        return np.array([[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts], dtype=np.float32)
"""
QUESTIONS = [
    {"id": "refunds", "query": "How long do refunds take?", "gold_snippets": ["Refunds take five days."]},
    {"id": "parcels", "query": "When do parcels arrive?", "gold_snippets": ["Parcels arrive after three days."]},
]


class World:
    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        (folder / "docs").mkdir()
        (folder / "docs" / "refunds.txt").write_text("Refunds take five days.")
        (folder / "docs" / "parcels.txt").write_text("Parcels arrive after three days. " + "They travel slowly. " * 40)
        (folder / "questions.yaml").write_text(json.dumps({"questions": QUESTIONS}))
        (folder / "mine.py").write_text(STUB)

    def settings(self, top_k: int = 2) -> dict[str, Any]:
        return {
            "embedding": {"model": f"{self.folder / 'mine.py'}:Letters"},
            "retrieval": {"mode": "dense", "top_k": top_k},
            "strategies": [{"name": "fixed", "params": {"chunk_size": 32, "overlap": 0}}],
        }

    def run(self, top_k: int = 2, cache: Path | None = None) -> str:
        """The figures of a run."""
        where = self.folder / "questions.yaml"
        report = pipeline.evaluate(self.folder / "docs", where, self.settings(top_k), cache=cache or self.cache)
        mapping = report_to_mapping(report)
        del mapping["provenance"]["run"]
        return json.dumps(mapping, default=lambda number: number.item())

    def texts_sent(self) -> int:
        return len((self.folder / "sent.txt").read_text().splitlines())

    def content(self) -> dict[str, bytes]:
        files = (path for path in self.cache.rglob("*") if path.is_file())
        return {path.relative_to(self.cache).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def refuse(monkeypatch: pytest.MonkeyPatch, folder: Path, number: int, after: int = 0) -> None:
    """From the given write on, writing below a folder fails as on a real system (root ignores file modes)."""
    left = after

    def refusing(write: Callable[..., Any]) -> Callable[..., Any]:
        def tried(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            where = Path(named["dir"]) if "dir" in named else arguments[0]
            if where.is_relative_to(folder):
                left -= 1
                if left < 0:
                    raise OSError(number, os.strerror(number))
            return write(*arguments, **named)

        return tried

    if after == 0:
        monkeypatch.setattr(tempfile, "TemporaryFile", refusing(tempfile.TemporaryFile))
    monkeypatch.setattr(store, "write_atomically", refusing(store.write_atomically))


# ---------------------------------------------------------------- read-only


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_read_only_folder_is_reused_and_new_results_last_for_the_run(
    world: World, temporary: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    expected = world.run(top_k=1, cache=world.folder / "another")
    world.run(top_k=2)
    before, sent = world.content(), world.texts_sent()
    refuse(monkeypatch, world.cache, number)

    assert world.run(top_k=1) == expected
    assert world.content() == before
    assert world.texts_sent() == sent  # the vectors were read
    assert len(caplog.messages) == 1
    assert "its results are reused, new ones last for this run only" in caplog.messages[0]
    assert list(temporary.iterdir()) == []


def test_damage_in_a_read_only_folder_is_made_again_elsewhere(
    world: World, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = world.run()
    for path in world.cache.rglob("*"):
        if path.is_file() and path.parent.parent.name in ("score", "chunk"):
            path.write_bytes(path.read_bytes()[:-1])
    (world.cache / "items" / "parse" / "items.sqlite").write_bytes(b"no database" * 100)
    before = world.content()
    refuse(monkeypatch, world.cache, errno.EROFS)

    assert world.run() == expected
    assert world.content() == before


def test_a_file_in_place_of_the_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(ConfigError, match=r"Cannot write to cache folder .*--cache-dir"),
        usable_cache(tmp_path / "file" / "cache"),
    ):
        pass


def test_without_a_temporary_folder_the_run_ends(
    world: World, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, world.folder, errno.EACCES)
    with pytest.raises(CacheRefusedError, match="Cannot write"), usable_cache(world.cache):
        pass


# ---------------------------------------------------------------- other versions


def test_a_folder_of_a_newer_version_is_neither_read_nor_written(
    world: World, temporary: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = world.run()
    (world.cache / "version").write_text(f"{FORMAT + 1}\n")
    before, sent = world.content(), world.texts_sent()

    assert world.run() == expected
    assert world.content() == before
    assert world.texts_sent() == 2 * sent  # nothing was read there
    assert len(caplog.messages) == 1
    assert "newer" in caplog.messages[0]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("mark", ["1\n", "", "three", None])
def test_an_older_or_unreadable_mark_is_replaced_silently(
    world: World, mark: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    expected, path = world.run(), world.cache / "version"
    path.unlink() if mark is None else path.write_text(mark)

    assert world.run() == expected
    assert path.read_text() == f"{FORMAT}\n"
    assert caplog.messages == []


# ---------------------------------------------------------------- a full disk


def on_other_disks(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(fallback, "_device", lambda folder: int(folder.is_relative_to(cache)))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_when_the_disk_fills_up_the_run_continues_on_another_disk(
    world: World, temporary: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    expected = world.run(cache=world.folder / "another")
    sent = world.texts_sent()
    on_other_disks(monkeypatch, world.cache)
    refuse(monkeypatch, world.cache, number, after=9)

    assert world.run() == expected
    assert world.texts_sent() == 2 * sent  # nothing twice
    assert [message for message in caplog.messages if "any more" in message] == caplog.messages != []
    assert len(caplog.messages) == 1
    assert sum(path.is_file() for path in (world.cache / "results").rglob("*")) == 9
    assert list(temporary.iterdir()) == []


def test_without_another_disk_a_full_one_ends_the_run_and_finished_results_are_safe(
    world: World, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, world.cache, errno.ENOSPC, after=9)
    with pytest.raises(ConfigError, match=r"\(No space left on device\)\. Finished results are safe"):
        world.run()
    kept = world.content()
    monkeypatch.undo()
    world.run()

    assert len(kept) > 9
    assert {name for name in kept if name.startswith("results")} <= world.content().keys()


def test_a_limit_on_the_size_of_files_counts_as_a_full_disk(world: World) -> None:
    """A real refusal: rows beyond the limit; the next run, without it, reuses what was finished."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (70_000, 70_000))\n"
        "from chunklab_core import errors, pipeline\n"
        "try: pipeline.evaluate(sys.argv[1], sys.argv[2], __import__('json').loads(sys.argv[3]), cache=sys.argv[4])\n"
        "except errors.ConfigError as error: print(error)"
    )
    (world.folder / "docs" / "long.txt").write_bytes(
        b"".join(b"Word %d %s. " % (n, os.urandom(9).hex().encode()) for n in range(1500))
    )
    arguments = (world.folder / "docs", world.folder / "questions.yaml", json.dumps(world.settings()), world.cache)
    ended = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=True
    )

    assert ended.stdout.startswith(f"Cannot write to cache folder {world.cache} (")
    assert ended.stdout.count("\n") == 1
    assert ended.stderr == ""
    assert world.run() == world.run(cache=world.folder / "another")


# ---------------------------------------------------------------- entries lost during the run


def test_what_another_process_removes_during_a_run_is_made_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, run_stage, removed = world.run(), pipeline.run_stage, []
    monkeypatch.setattr(
        pipeline, "run_stage", lambda stage, *more, **named: (remove(stage), run_stage(stage, *more, **named))[1]
    )

    def remove(stage: str) -> None:
        if stage == "retrieve" and not removed:
            removed.append(stage)
            other = Store(world.cache)
            for path in list((world.cache / "results").glob("*/*/*")):
                if path.parts[-3] in ("index", "embed", "chunk", "retrieve"):
                    other.discard_with_items(Ref(f"{path.parts[-3]}/{path.name}"))

    assert world.run() == expected
    assert removed


def test_a_folder_that_loses_every_result_ends_the_run_in_one_line(tmp_path: Path) -> None:
    tries = []

    def attempt(_: Store, again: bool) -> None:
        tries.append(again)
        raise MissingError("chunk/x is not in the cache")

    with pytest.raises(ConfigError, match=r"lost results of this run 5 times\. .*--no-cache"):
        run_patiently(tmp_path / "cache", attempt)
    assert tries == [False, True, True, True, True]
