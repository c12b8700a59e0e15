"""The small world after one run."""

import shutil
from pathlib import Path

import pytest
from plan_world import World


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("plan")).write()
    world.run()
    return world


@pytest.fixture
def world(evaluated: World, tmp_path: Path) -> World:
    """The world after a run, to be changed."""
    shutil.copytree(evaluated.folder, tmp_path, dirs_exist_ok=True)
    return World(tmp_path)
