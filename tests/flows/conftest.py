"""A throw-away Prefect server for all tests of the flow.

Prefect reads its settings when it is imported, so they are made here, before any test module is.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from worlds import Run, World, free_port

_HOME = tempfile.TemporaryDirectory(prefix="chunklab-tests-", ignore_cleanup_errors=True)
os.environ.update(
    PREFECT_HOME=f"{_HOME.name}/prefect",
    PREFECT_LOCAL_STORAGE_PATH=f"{_HOME.name}/results",
    CHUNKLAB_CACHE=f"{_HOME.name}/cache",
    PREFECT_SERVER_API_PORT=str(free_port()),  # where no server of the user's answers
)
os.environ.pop("PREFECT_API_URL", None)


@pytest.fixture(scope="session")
def prefect_backend() -> Iterator[str]:
    """A throw-away server for the session; gives its address."""
    from prefect.settings import PREFECT_API_URL, PREFECT_HOME, PREFECT_LOCAL_STORAGE_PATH
    from prefect.testing.utilities import prefect_test_harness

    import flows  # noqa: F401 - its settings come before Prefect is imported

    for setting in (PREFECT_HOME, PREFECT_LOCAL_STORAGE_PATH):
        assert str(setting.value()).startswith(_HOME.name), "Prefect was imported before its settings were made"
    with prefect_test_harness(server_startup_timeout=120):
        yield PREFECT_API_URL.value()


@pytest.fixture(scope="session")
def first(prefect_backend: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Run]:
    """A world and its first run; take a copy of the world before changing anything."""
    world = World(tmp_path_factory.mktemp("world")).write()
    return world, world.run()


@pytest.fixture
def world(first: tuple[World, Run], tmp_path: Path) -> World:
    """The world after its first run, to be changed."""
    return first[0].copy(tmp_path / "world")
