"""What a run needs, loaded: the server from which processes are forked imports this once, and they start at once."""

import tempfile
from pathlib import Path

from soak_world import World, small_state

with tempfile.TemporaryDirectory() as _folder:
    _world = World(Path(_folder), small_state())
    _world.write()
    _world.figures()
