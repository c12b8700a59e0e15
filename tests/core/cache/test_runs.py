"""Which runs are running, which were killed, and what they need."""

import logging
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chunklab_core.cache import runs
from chunklab_core.cache.overlay import lay_over, open_store
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.run_records import Effort, note_made, this_machine
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError

INPUTS, PARSED, CHUNKS = Ref("inputs/1"), Ref("parse/2"), Ref("chunk/3")

BEGIN_AND_WAIT = """
import sys
from chunklab_core.cache import runs
from chunklab_core.cache.overlay import lay_over, open_store
from chunklab_core.cache.store import Store
with runs.begin(Store(sys.argv[1]), "inputs/9", ["parse/8"]):
    print("begun", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@contextmanager
def another_process(store: Store) -> Iterator[subprocess.Popen[str]]:
    """A process with a run that is running until the process ends."""
    command = [sys.executable, "-c", BEGIN_AND_WAIT, str(store.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        try:
            yield process
        finally:
            process.kill()


def files(store: Store) -> set[str]:
    return {path.suffix for path in (store.root / "runs").iterdir() if path.is_file() and path.stem != "queue"}


def test_a_run_is_recorded_while_it_lasts_and_after(store: Store) -> None:
    before = datetime.now(UTC)
    with runs.begin(store, INPUTS, [PARSED, CHUNKS], {"stages": {}}) as run_id:
        (record,) = runs.records(store)
        assert (record.run_id, record.ended, record.how) == (run_id, None, None)
        assert (record.inputs, record.refs) == (INPUTS, (INPUTS, PARSED, CHUNKS))
        assert record.explained == {"stages": {}}
        assert record.machine == this_machine()
        assert [one.run_id for one in runs.living(store)] == [run_id]

    (record,) = runs.records(store)
    assert record.ended
    assert before <= record.started <= record.ended <= datetime.now(UTC)
    assert record.how == "done"
    assert runs.living(store) == []
    assert files(store) == {".json"}  # the lock is removed


@pytest.mark.parametrize(("error", "how"), [(ValueError, "failed"), (KeyboardInterrupt, "stopped")])
def test_the_record_of_an_interrupted_run_has_how_it_ended(store: Store, error: type[BaseException], how: str) -> None:
    with pytest.raises(error), runs.begin(store, INPUTS, []):
        raise error
    (record,) = runs.records(store)

    assert record.how == how
    assert record.ended


def test_records_are_newest_first_and_every_run_has_its_own_id(store: Store) -> None:
    begun = []
    for _ in range(5):
        with runs.begin(store, INPUTS, []) as run_id:
            begun.append(run_id)

    assert [record.run_id for record in runs.records(store)] == begun[::-1]
    assert sorted(set(begun)) == begun


def test_the_results_of_another_process_are_in_use_until_it_is_killed(store: Store) -> None:
    with runs.begin(store, INPUTS, [CHUNKS]):
        pass
    with another_process(store) as process:
        assert runs.refs_in_use(store) == {Ref("inputs/9"), Ref("parse/8")}
        assert [record.how for record in runs.records(store)] == [None, "done"]
        process.send_signal(signal.SIGKILL)
        process.wait()

        assert runs.refs_in_use(store) == set()
        assert [(record.how, record.ended is None) for record in runs.records(store)] == [
            ("killed", True),
            ("done", False),
        ]


def test_the_next_run_cleans_up_after_a_killed_one(store: Store) -> None:
    with another_process(store) as process:
        process.kill()
        process.wait()
    (store.root / "runs" / ".writing-abc").write_text("half")
    note_made(store, Effort(Ref("parse/8"), 2.0, {"parse": 3}, {"parse": 4}))
    note_made(store, Effort(Ref("parse/nobody"), 2.0, {}, {}))
    assert [one.seconds for record in runs.records(store) for one in record.made] == [2.0]

    with runs.begin(store, INPUTS, []) as run_id:
        names = {path.name for path in (store.root / "runs").glob("*.lock")}
        assert names == {f"{run_id}.lock"}
    assert files(store) == {".json"}
    assert list((store.root / "runs" / "made").iterdir()) == []
    assert [(record.how, [one.ref for one in record.made]) for record in runs.records(store)] == [
        ("done", []),
        ("killed", ["parse/8"]),
    ]


def test_the_record_of_a_run_has_what_was_made_for_it(store: Store) -> None:
    made = Effort(CHUNKS, 1.5, {"chunk": 2, "embed/abc": 40}, {"chunk": 3})
    with runs.begin(store, INPUTS, [PARSED, CHUNKS]):
        note_made(store, made)
        note_made(store, Effort(Ref("chunk/other"), 1.0, {}, {}))
    with runs.begin(store, INPUTS, [PARSED, CHUNKS]):
        pass

    assert [record.made for record in runs.records(store)] == [(), (made,)]


def test_the_last_use_of_a_result_is_by_the_newest_run_that_read_it(store: Store) -> None:
    with runs.begin(store, INPUTS, [PARSED]):
        pass
    with runs.begin(store, INPUTS, [CHUNKS]):
        pass
    newest, oldest = runs.records(store)

    assert runs.last_use(store) == {INPUTS: newest.ended, CHUNKS: newest.ended, PARSED: oldest.ended}


def test_an_overlay_has_the_runs_of_the_store_below_in_order(store: Store, tmp_path: Path) -> None:
    lay_over(tmp_path / "over", store.root)
    overlay, begun = open_store(tmp_path / "over"), []
    for opened in (store, overlay, store):
        with runs.begin(opened, INPUTS, [PARSED]) as run_id:
            begun.append(run_id)

    assert [record.run_id for record in runs.records(overlay)] == begun[::-1]
    assert [record.run_id for record in runs.records(store)] == [begun[2], begun[0]]


def test_the_oldest_records_of_ended_runs_are_removed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "KEPT", 2)
    with another_process(store):
        begun = []
        for _ in range(4):
            with runs.begin(store, INPUTS, []) as run_id:
                begun.append(run_id)
        records = list(runs.records(store))

        assert [record.run_id for record in records[:2]] == [begun[3], begun[2]]
        assert [record.how for record in records[2:]] == [None]


def test_a_damaged_record_is_left_out_unless_its_run_is_running(store: Store) -> None:
    with runs.begin(store, INPUTS, [PARSED]):
        pass
    (path,) = (store.root / "runs").glob("*.json")
    path.write_text(path.read_text()[:-10])
    assert list(runs.records(store)) == []

    with another_process(store):
        path = max((store.root / "runs").glob("*.json"))
        path.write_text(path.read_text()[:-1])
        with pytest.raises(ConfigError, match=r"Cannot read .* the record of a running run"):
            runs.refs_in_use(store)


def test_a_cache_that_accepts_no_record_stops_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "taken").write_text("")
    with (
        caplog.at_level(logging.WARNING),
        runs.begin(Store(tmp_path / "taken" / "below"), INPUTS, [], {"a": 1}) as run_id,
    ):
        assert run_id
    assert "this run is not recorded" in caplog.text


def test_no_run_begins_while_results_are_removed(store: Store) -> None:
    begun = threading.Event()

    def run() -> None:
        with runs.begin(store, INPUTS, []):
            begun.set()

    thread = threading.Thread(target=run)
    with runs.no_run_begins(store):
        thread.start()
        assert not begun.wait(0.3)
    assert begun.wait(10)
    thread.join()
