"""Everything that the pages name exists: files, headings, make targets, options, modules."""

import re
from pathlib import Path

import pytest
from pages import PAGES, ROOT, block, blocks, read

from flows.cli import console_script, run

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def heading_anchors(text: str) -> set[str]:
    without_code = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", without_code, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_relative_link_has_a_target(page: Path) -> None:
    broken = []
    for link in _LINK.findall(read(page)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in heading_anchors(read(file))):
            broken.append(link)
    assert broken == []


def test_every_target_of_make_that_a_page_names_is_in_the_makefile() -> None:
    makefile = read(ROOT / "Makefile")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    code = [found for page in PAGES for found in re.findall(r"`([^`\n]+)`", read(page))]
    code += [line for page in PAGES for body in blocks(page) for line in body.splitlines()]
    named = {found for text in code for found in re.findall(r"^make ([a-z-]+)", text)}

    assert {"evaluate", "test", "bench", "ui"} <= named
    assert named <= targets


def test_the_readme_begins_with_two_commands() -> None:
    first = blocks(ROOT / "README.md")[0].splitlines()

    assert [line.split("#")[0].strip() for line in first] == ["make evaluate", "make test"]


def test_every_option_that_a_page_names_is_known_to_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["--help"])
    for doing in ("info", "verify", "prune", "clear"):
        with pytest.raises(SystemExit):
            console_script(["cache", doing, "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    mine = ("README.md", "docs/configuration.md", "docs/questions.md", "docs/metrics.md", "docs/cache.md")
    code = [found for page in mine for found in re.findall(r"`([^`\n]+)`", read(ROOT / page))]
    code += [line for page in mine for body in blocks(ROOT / page) for line in body.splitlines()]
    ours = [text for text in code if not re.match(r"pip|\.venv/bin/(pip|prefect)|make", text)]
    named = {option for text in ours for option in re.findall(r"(?<!\S)--[a-z-]+", text)}

    assert {"--docs", "--questions", "--config", "--set", "--out", "--refresh"} <= named
    assert named <= known


def test_every_path_in_the_layout_table_exists() -> None:
    paths = re.findall(r"^\| `([^`]+)` \| ", read(ROOT / "README.md").split("## Repository layout")[1], re.MULTILINE)

    assert len(paths) > 10
    assert [path for path in paths if not list(ROOT.glob(path))] == []


def test_the_readme_starts_the_deployment_of_prefect_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    described = yaml.safe_load(read(ROOT / "prefect.yaml"))
    commands = block(ROOT / "README.md", "make ui")
    deployment = described["deployments"][0]

    assert f"deployment run evaluate/{deployment['name']} " in commands
    assert f"--pool {deployment['work_pool']['name']} " in commands
    for place in ("docs", "questions"):
        assert (ROOT / deployment["parameters"]["settings"][place]).exists()
