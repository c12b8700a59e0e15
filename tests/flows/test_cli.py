"""The two entries of the command line, and how they report wrong options."""

import subprocess
import sys
from pathlib import Path

import pytest

from flows import cli

ROOT = Path(__file__).resolve().parents[2]


def test_the_module_refuses_without_loading_prefect() -> None:
    """`-X importtime` lists every module that is imported, on standard error."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "flows.evaluate", "--docs", "nowhere", "--questions", "nowhere"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = ended.stderr.splitlines()
    messages = [line for line in lines if not line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip() for line in lines}

    assert (ended.returncode, ended.stdout, len(messages)) == (2, "", 1)
    assert messages[0].startswith("chunklab: ")
    assert "flows.cli" in imported
    assert not imported & {"prefect", "torch", "sentence_transformers"}


def ended(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    """Status, standard output and standard error of `chunklab` with these arguments."""
    with pytest.raises(SystemExit) as end:
        cli.console_script(arguments)
    return end.value.code, *capsys.readouterr()


def test_without_a_command_the_help_is_printed_as_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    _, help_text, _ = ended(capsys, "--help")

    assert ended(capsys) == (2, "", help_text)
    assert all(f"  {name} " in help_text for name in cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_with_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, help_text, _ = ended(capsys, name, "--help")

    assert status == 0
    for part in ("examples:", f"chunklab {name}", "status:"):
        assert part in help_text


def test_a_misspelt_option_or_stage_is_answered_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, option = ended(capsys, "run", "--questoins", "x")
    _, _, stage = ended(capsys, "run", "--refresh", "chunks")

    assert status == 2
    assert option == "chunklab: unknown option --questoins; did you mean '--questions'? See: chunklab run --help\n"
    assert stage == "chunklab: --refresh: unknown stage 'chunks'; did you mean 'chunk'? See: chunklab run --help\n"
