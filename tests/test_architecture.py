"""The tree is the pipeline: who may import whom."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"parse", "chunk", "embed", "index", "retrieve", "score", "select", "report"}
ABOVE = {"stages", "graph", "plan", "pipeline", "questions", "compare"}  # they may import rooms
BELOW = {"records", "inputs", "cache", "models", "errors", "text", "tokens", "plugins"}
HEAVY = {"torch", "sentence_transformers", "transformers", "pypdf", "docx", "scipy", "markdown_it", "joblib"}
DOORS = {"parse", "chunk", "retrieve"}  # packages whose own module is in no key: it names what the package holds


def paths(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def named(path: Path) -> str:
    """The module's name, that of the package for an `__init__`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


CORE = {named(path): path for path in paths("chunklab_core")}
MODULES = {**CORE, **{named(path): path for path in paths("tasks", "flows")}}


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
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {member if member in MODULES else node.module or "" for member in members}
    return names


def _run_at_import(tree: ast.Module) -> list[ast.stmt]:
    typing_only = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    return [node for node in tree.body if node not in typing_only]


def part_of(module: str) -> str:
    """The room, package or module of the core that a module belongs to; empty for the root."""
    return f"{module}..".split(".")[1]


def core_parts(path: Path) -> set[str]:
    """The parts of the core that a file imports."""
    return {part_of(name) for name in imported(path) if name.startswith("chunklab_core.")}


@pytest.mark.parametrize("module", MODULES)
def test_layers_import_downwards_only(module: str) -> None:
    layers = ["chunklab_core", "tasks", "flows"]
    own = layers.index(module.partition(".")[0])
    layers_used = {name.partition(".")[0] for name in imported(MODULES[module])} & set(layers)

    assert layers_used <= set(layers[: own + 1])


def test_every_part_of_the_core_has_its_level() -> None:
    assert {part_of(module) for module in CORE} - {""} <= ROOMS | ABOVE | BELOW


@pytest.mark.parametrize("module", CORE)
def test_the_core_knows_no_prefect(module: str) -> None:
    assert not any(name.partition(".")[0] == "prefect" for name in imported(CORE[module]))


@pytest.mark.parametrize("module", [module for module in CORE if part_of(module) in ROOMS])
def test_a_room_knows_no_other_room_and_nothing_above_it(module: str) -> None:
    assert not core_parts(CORE[module]) & ((ROOMS | ABOVE) - {part_of(module)})


@pytest.mark.parametrize("module", [module for module in CORE if part_of(module) in BELOW])
def test_what_is_below_the_rooms_knows_none_of_them(module: str) -> None:
    assert not core_parts(CORE[module]) & (ROOMS | ABOVE)


SEE_NO_STORE = [module for module in CORE if part_of(module) in ROOMS | {"stages"}]


@pytest.mark.parametrize(
    "module",
    [
        module
        for module in SEE_NO_STORE
        if module not in ("chunklab_core.stages.prepare", "chunklab_core.stages.report")
    ],
)
def test_rooms_and_stages_see_the_store_by_its_protocol(module: str) -> None:
    used = {name for name in imported(CORE[module]) if name.startswith("chunklab_core.cache.")}

    assert used <= {f"chunklab_core.cache.{name}" for name in ("protocol", "formats", "keys")}


def test_no_modules_import_each_other_in_a_circle() -> None:
    edges = {module: imported(path) & MODULES.keys() - {module} for module, path in MODULES.items()}
    free: set[str] = set()
    while ready := {module for module, used in edges.items() if module not in free and used <= free}:
        free |= ready

    assert not MODULES.keys() - free


@pytest.mark.parametrize("module", MODULES)
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    names = {name.split(".")[0] for name in imported(MODULES[module], only_at_import=True)}

    assert not names & HEAVY


def test_flows_are_read_by_prefect_with_their_annotations() -> None:
    flow = next(path for path in paths("flows") if "@flow(" in path.read_text(encoding="utf-8"))

    assert "\nfrom __future__ import annotations" not in flow.read_text(encoding="utf-8")
