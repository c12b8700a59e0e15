"""A flow with a damaged, cleared, read-only or full cache has the figures of an undisturbed run."""

import builtins
import errno
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from worlds import Run, World

from chunklab_core import pipeline
from chunklab_core.cache import fallback, store
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.store import Store
from chunklab_core.stages import all_stages
from flows import cli

pytestmark = pytest.mark.prefect


def figures(run: Run) -> str:
    return json.dumps(run.figures)


def troubled(world: World, *more: str) -> Run:
    """A run in which some tasks fail and run again, so that two task runs have the same name."""
    (world.folder / "stub.seen").unlink(missing_ok=True)
    assert cli.run(["--quiet", *world.arguments(*more)]) == 0
    seen = world.folder / "stub.seen"
    texts = seen.read_text(encoding="utf-8").splitlines() if seen.exists() else []
    return Run(json.loads((world.folder / "out" / "report.json").read_text(encoding="utf-8")), {}, texts)


def names_another_result(path: Path) -> None:
    """One digit of the reference differs."""
    text = path.read_text()
    path.write_text(
        text.replace(path.name[-4:] + '\\"', ("0" if path.name[-4] != "0" else "1") + path.name[-3:] + '\\"')
    )


def is_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def is_text(path: Path) -> None:
    path.write_text("Dear diary,")


def is_another_record(path: Path) -> None:
    other = next(each for each in sorted(path.parent.iterdir()) if each.is_file() and each != path)
    path.write_bytes(other.read_bytes())


def is_json_of_another_kind(path: Path) -> None:
    path.write_text('["result"]')


def test_a_record_of_prefect_with_a_wrong_result_is_replaced(first: tuple[World, Run], world: World) -> None:
    damages = (names_another_result, is_a_folder, is_text, is_another_record, is_json_of_another_kind)
    records = sorted((world.cache / "prefect").iterdir())
    before = [path.read_text() if path.is_file() else "" for path in records]
    for number, path in enumerate(records):
        damages[number % len(damages)](path)
    assert all(not path.is_file() or path.read_text() != text for path, text in zip(records, before, strict=True))

    again, third = world.run(), world.run()

    assert figures(again) == figures(third) == figures(first[1])
    assert (again.seen, third.made) == ([], set())


def test_a_file_in_the_place_of_all_records_is_removed(first: tuple[World, Run], world: World) -> None:
    shutil.rmtree(world.cache / "prefect")
    (world.cache / "prefect").write_text("a file where a folder was")

    assert figures(world.run()) == figures(first[1])
    assert (world.cache / "prefect").is_dir()


def before_stage(monkeypatch: pytest.MonkeyPatch, stage: str, event: Callable[[], None]) -> None:
    """Once, when the first task of a stage begins."""
    run_stage, events = pipeline.run_stage, [event]

    def run(name: str, *arguments: Any, **named: Any) -> Ref:
        if name == stage and events:
            events.pop()()
        return run_stage(name, *arguments, **named)

    monkeypatch.setattr("tasks.stages.run_stage", run)


def test_what_another_process_removes_during_a_flow_is_made_again(
    first: tuple[World, Run], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refresh() -> None:
        other = Store(world.cache)
        for path in list((world.cache / "results").glob("*/*/*")):
            if path.parts[-3] in ("parse", "chunk"):
                other.discard_with_items(Ref(f"{path.parts[-3]}/{path.name}"))

    changed = ("--set", "eval.fuzzy_threshold=0.89")
    before_stage(monkeypatch, "score", refresh)
    again = troubled(world, *changed)
    monkeypatch.undo()
    shutil.rmtree(world.cache)
    expected = world.run(*changed)

    assert figures(again) == figures(expected)
    stages = again.report["provenance"]["run"]["stages"]
    assert {name: counts["run"] for name, counts in stages.items()} == {
        **dict.fromkeys(all_stages(), 0),
        "parse": 1,
        "chunk": 2,
        "locate": 1,
        "match": 2,
        "ceiling": 2,
        "score": 6,
        "select": 1,
        "survey": 1,
    }


def test_a_flow_over_a_read_only_cache_does_not_change_it(
    first: tuple[World, Run], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = tempfile.TemporaryFile

    def refused(*arguments: Any, **named: Any) -> Any:
        if Path(named.get("dir") or "/") == world.cache:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return trial(*arguments, **named)

    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in world.cache.rglob("*") if path.is_file()}

    before = content()
    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    again = world.run()

    assert figures(again) == figures(first[1])
    assert again.seen == []
    assert content() == before


def test_when_the_disk_fills_up_the_flow_continues_on_another_disk(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(world.cache)
    write, left = store.write_atomically, 12

    def refused(path: Path, parts: Any) -> None:
        nonlocal left
        if path.is_relative_to(world.cache):
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, parts)

    monkeypatch.setattr(store, "write_atomically", refused)
    monkeypatch.setattr(fallback, "_device", lambda folder: int(folder.is_relative_to(world.cache)))
    again = troubled(world)
    monkeypatch.undo()

    assert figures(again) == figures(world.run())
    assert len(again.seen) == len(set(again.seen))


def test_records_that_prefect_cannot_write_do_not_end_a_run(
    first: tuple[World, Run], world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Prefect logs its own failure and continues; the next run looks into the store, not into the records."""
    opened, refusals = io.open, []

    def refused(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
        if "w" in mode and str(file).startswith(str(world.cache / "prefect")):
            refusals.append(file)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        return opened(file, mode, *more, **named)

    shutil.rmtree(world.cache)
    monkeypatch.setattr(io, "open", refused)
    monkeypatch.setattr(builtins, "open", refused)
    run = troubled(world)
    monkeypatch.undo()

    assert refusals
    assert figures(run) == figures(first[1])
    assert "Traceback" not in capfd.readouterr().err
    assert world.run().seen == []
