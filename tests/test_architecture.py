"""The tree is the pipeline: who may import whom."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("chunklab_core", "tasks", "flows")
ROOMS = {"parse", "chunk", "embed", "index", "retrieve", "score", "select", "report"}
ABOVE = {"pipeline", "graph", "stages", "plan"}
HEAVY = {"torch", "sentence_transformers", "transformers", "pypdf", "docx", "scipy", "markdown_it", "joblib"}


def module_of(path: Path) -> str:
    """The dotted name of a file of the project."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
CORE = [module for module in FILES if module.startswith("chunklab_core.")]


def place_of(module: str) -> str:
    """The room, package or module below `chunklab_core` to which a module belongs; "" for other modules."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "chunklab_core" else ""


@cache
def imported(module: str, *, only_at_import: bool = False) -> frozenset[str]:
    """All modules that a module imports; with `only_at_import`, those that it imports before anything is called."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    statements = run_at_import(tree) if only_at_import else list(ast.walk(tree))
    names: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.Import):
            names |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, f"{module} has a relative import"
            below = {f"{statement.module}.{alias.name}" for alias in statement.names}
            names |= (below & FILES.keys()) | ({statement.module or ""} if not below <= FILES.keys() else set())
    return frozenset(names)


def run_at_import(tree: ast.Module) -> list[ast.stmt]:
    typing_only = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    return [node for node in tree.body if node not in typing_only]


@pytest.mark.parametrize("module", FILES)
def test_packages_import_downwards_only(module: str) -> None:
    allowed = PACKAGES[: PACKAGES.index(module.partition(".")[0]) + 1]
    imports = {name.partition(".")[0] for name in imported(module)}

    assert imports & set(PACKAGES) <= set(allowed)


@pytest.mark.parametrize("module", CORE)
def test_the_core_knows_no_prefect(module: str) -> None:
    assert not any(name.partition(".")[0] == "prefect" for name in imported(module))


@pytest.mark.parametrize("module", [module for module in CORE if place_of(module) not in ABOVE])
def test_rooms_import_no_other_room_and_what_is_below_them_imports_no_room(module: str) -> None:
    places = {place_of(name) for name in imported(module)} - {place_of(module)}

    assert not places & (ROOMS | ABOVE)


@pytest.mark.parametrize("module", FILES)
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    names = {name.partition(".")[0] for name in imported(module, only_at_import=True)}

    assert not names & HEAVY


def test_there_is_no_import_circle() -> None:
    graph = {module: imported(module) & FILES.keys() - {module} for module in FILES}

    assert set(TopologicalSorter(graph).static_order()) == FILES.keys()  # a circle raises CycleError and names it


def test_prefect_can_read_the_annotations_of_the_flow() -> None:
    with_flow = [source for source in map(Path.read_text, FILES.values()) if "\n@flow" in source]

    assert with_flow
    assert not any("\nfrom __future__ import annotations" in source for source in with_flow)
