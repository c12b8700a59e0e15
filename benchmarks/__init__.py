"""Measurements on public question sets."""
