"""What the user typed, checked before any work."""
