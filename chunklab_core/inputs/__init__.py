"""The user's settings and questions, checked before any work."""
