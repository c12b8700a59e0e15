"""Results: how they are named, stored, shared and removed."""
