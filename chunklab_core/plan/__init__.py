"""What a run will do, and why."""
