"""Parallel runs share the texts that both need; a run waits for the claims of another, but not for ever."""

import subprocess
import sys
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
    """Another process, which claims the first ten texts and never embeds them."""
    path = tmp_path / "items" / f"{shelf_of(CARD.digest)}.claims"
    path.parent.mkdir(parents=True)
    keys = [key.hex() for key in text_keys(TEXTS[:10])]
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path), *keys], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "claimed\n"
    return process


def test_a_claim_belongs_to_its_process_until_that_ends(other: subprocess.Popen[str], tmp_path: Path) -> None:
    path = tmp_path / "items" / f"{shelf_of(CARD.digest)}.claims"
    with claims_of(path) as claims:
        assert claims.take(text_keys(TEXTS[8:12])) == text_keys(TEXTS[10:12])
        other.kill()
        other.wait()
        assert claims.take(text_keys(TEXTS[8:12])) == text_keys(TEXTS[8:12])


def test_the_texts_of_a_killed_process_are_embedded_last(other: subprocess.Popen[str], tmp_path: Path) -> None:
    model = Stub()

    def progress(done: int, total: int) -> None:
        if len(model.seen) == len(TEXTS) - 10:
            other.kill()

    embed_texts(TEXTS, model, Store(tmp_path), progress)

    assert sorted(model.seen) == TEXTS
    assert sorted(model.seen[-10:]) == TEXTS[:10]
    other.wait()


def test_a_run_waits_for_a_hanging_process_a_limited_number_of_times(
    other: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(embed, "_PAUSES", 3)
    monkeypatch.setattr(embed.time, "sleep", pauses.append)
    model = Stub()
    embed_texts(TEXTS, model, Store(tmp_path))

    assert sorted(model.seen) == TEXTS
    assert len(pauses) == 4  # three, and the one after which the run stops waiting
    other.kill()
    other.wait()


def test_without_a_claims_file_everything_is_embedded(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with claims_of(tmp_path / "file" / "x.claims") as claims:
        assert claims.take(text_keys(TEXTS)) == text_keys(TEXTS)
        claims.release(text_keys(TEXTS))
