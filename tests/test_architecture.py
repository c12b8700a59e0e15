"""The tree is the pipeline: who may import whom."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"parse", "chunk", "embed", "index", "retrieve", "score", "select", "report"}
ABOVE = {"pipeline.py", "pipeline", "stages", "plan"}
HEAVY = {"torch", "sentence_transformers", "transformers", "pypdf", "docx", "scipy", "markdown_it", "joblib"}
MODULES = sorted(path for folder in ("chunklab_core", "tasks", "flows") for path in (ROOT / folder).rglob("*.py"))


def imported(path: Path, *, only_at_import: bool = False) -> set[str]:
    """Names of all modules that a file imports; with `only_at_import`, those imported before anything is called."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = _run_at_import(tree) if only_at_import else ast.walk(tree)
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names.add(node.module or "")
    return names


def _run_at_import(tree: ast.Module) -> list[ast.stmt]:
    typing_only = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    return [node for node in tree.body if node not in typing_only]


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "chunklab_core" and parts[1] in ROOMS else None


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_layers_import_downwards_only(path: Path) -> None:
    allowed = {
        "chunklab_core": {"chunklab_core"},
        "tasks": {"chunklab_core", "tasks"},
        "flows": {"chunklab_core", "tasks", "flows"},
    }[package_of(path)]
    ours = {name.split(".")[0] for name in imported(path)} & {"chunklab_core", "tasks", "flows"}
    assert ours <= allowed


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_core_knows_no_prefect_and_rooms_know_no_other_room(path: Path) -> None:
    if package_of(path) != "chunklab_core":
        return
    names = imported(path)
    assert not any(name.split(".")[0] == "prefect" for name in names)
    parts = path.relative_to(ROOT).parts
    own = parts[1] if parts[1] in ROOMS else None
    above = parts[1] in ABOVE
    rooms = {room_of(name) for name in names} - {None, own}
    assert above or not rooms
    assert above or not any(f"{name}.".startswith(tuple(f"chunklab_core.{one}." for one in ABOVE)) for name in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_heavy_is_imported_before_it_is_needed(path: Path) -> None:
    names = {name.split(".")[0] for name in imported(path, only_at_import=True)}
    assert not names & HEAVY


def test_flows_are_read_by_prefect_with_their_annotations() -> None:
    source = (ROOT / "flows" / "evaluation.py").read_text(encoding="utf-8")
    assert "\nfrom __future__ import annotations" not in source
