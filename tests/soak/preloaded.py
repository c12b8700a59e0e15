"""Everything that a run needs: the server that forks the processes imports this once, so they start at once."""

import tempfile
from pathlib import Path

from random_changes import World, small_state

with tempfile.TemporaryDirectory() as _folder:
    _world = World(Path(_folder), small_state())
    _world.write()
    _world.figures()
