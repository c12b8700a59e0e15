"""Runs at once share the texts that both want; what another process claims is waited for, and never for ever."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from worlds import CARD, TEXTS, Stub

from chunklab_core import embed
from chunklab_core.cache.store import Store
from chunklab_core.embed import embed_texts, shelf_of, text_keys
from chunklab_core.embed.claims import claims_of

pytest.importorskip("fcntl", reason="there are no such locks here")

HOLDS = """
import sys, time
from pathlib import Path
from chunklab_core.embed.claims import claims_of
with claims_of(Path(sys.argv[1])) as claims:
    claims.take([bytes.fromhex(key) for key in sys.argv[2:]])
    print("claimed", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path: Path) -> subprocess.Popen[str]:
    """Another process, which has claimed the first ten texts and does nothing about them."""
    path = tmp_path / "items" / f"{shelf_of(CARD.digest)}.claims"
    path.parent.mkdir(parents=True)
    keys = [key.hex() for key in text_keys(TEXTS[:10])]
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path), *keys], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "claimed\n"
    return process


def test_what_another_process_has_claimed_is_left_to_it(other: subprocess.Popen[str], tmp_path: Path) -> None:
    path = tmp_path / "items" / f"{shelf_of(CARD.digest)}.claims"
    with claims_of(path) as claims:
        assert claims.take(text_keys(TEXTS[8:12])) == text_keys(TEXTS[10:12])
        other.kill()
        other.wait()
        assert claims.take(text_keys(TEXTS[8:12])) == text_keys(TEXTS[8:12])


def test_texts_of_a_process_that_is_killed_are_embedded_last(other: subprocess.Popen[str], tmp_path: Path) -> None:
    model = Stub()

    def progress(done: int, total: int) -> None:
        if len(model.seen) == len(TEXTS) - 10:
            other.kill()

    embed_texts(TEXTS, model, Store(tmp_path), progress)

    assert sorted(model.seen) == TEXTS
    assert sorted(model.seen[-10:]) == TEXTS[:10]
    other.wait()


def test_a_process_that_stands_still_is_not_waited_for_for_ever(
    other: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "_PAUSES", 3)
    model, begun = Stub(), time.monotonic()
    embed_texts(TEXTS, model, Store(tmp_path))

    assert sorted(model.seen) == TEXTS
    assert time.monotonic() - begun > 3 * embed._PAUSE_SECONDS  # they were waited for
    other.kill()
    other.wait()


def test_where_no_file_can_be_made_everything_is_embedded(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with claims_of(tmp_path / "file" / "x.claims") as claims:
        assert claims.take(text_keys(TEXTS)) == text_keys(TEXTS)
        claims.release(text_keys(TEXTS))
