"""What looks across the rooms: reading the inputs of a run, and gathering what came of it."""
